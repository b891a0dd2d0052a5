//! Where a pointer goes inside one function: whether it is only used to access memory, and which
//! functions it is passed to.

use crate::assembly::fence;
use crate::llvm::{Attribute, Function, Instruction, Opcode, Value};
use lockred_protocol::plan::Flaw;
use std::collections::HashSet;

/// Follows the uses of pointers.
#[derive(Debug)]
pub(super) struct Uses {
    captures: Option<Attribute>,
    /// Functions that take blocks of the heap back: they keep no copy that anybody may use.
    freeing: HashSet<Function>,
    flaw: Option<Flaw>,
}

/// Bits of LLVM's `captures` attribute that say that a pointer itself (not only its bits for
/// comparison) may survive the call, elsewhere or as its result.
const PROVENANCE: u64 = 0xcc;

/// Uses that are followed before a pointer counts as kept: keeps the walk linear in practice.
const LIMIT: usize = 2000;

impl Uses {
    pub(super) fn new(freeing: HashSet<Function>, flaw: Option<Flaw>) -> Self {
        Self { captures: Attribute::named("captures"), freeing, flaw }
    }

    /// The parameters that a pointer, or one computed from it, is passed as; `None` if a copy of it
    /// is kept.
    pub(super) fn of(&self, pointer: Value) -> Option<Vec<Value>> {
        let mut seen: HashSet<Value> = HashSet::new();
        let mut open = vec![pointer];
        let mut passed = Vec::new();
        while let Some(pointer) = open.pop() {
            if !seen.insert(pointer) {
                continue;
            }
            if seen.len() > LIMIT {
                return None;
            }
            for user in pointer.users() {
                let user = user.as_instruction()?;
                match user.opcode() {
                    Opcode::Load | Opcode::Compare | Opcode::Branch => {}
                    Opcode::Store
                        if user.operand(0) != pointer
                            || self.flaw == Some(Flaw::StoresKeepNothing) => {}
                    Opcode::AtomicRmw if user.operand(1) != pointer => {}
                    // A number made of an address is followed as the address is: it may be made a
                    // pointer again.
                    Opcode::Address | Opcode::Merge | Opcode::Number => open.push(user.value()),
                    Opcode::Call if is_thread_local_address(user) => open.push(user.value()),
                    Opcode::Call => self.passed(user, pointer, &mut passed)?,
                    _ => return None,
                }
            }
        }
        Some(passed)
    }

    /// Adds the parameters as which a call gets a pointer; `None` if the call may keep a copy of
    /// it.
    fn passed(&self, call: Instruction, pointer: Value, passed: &mut Vec<Value>) -> Option<()> {
        let callee = call.callee()?;
        if callee.is_inline_asm() {
            // A fence keeps nothing of what it updates.
            return fence(&callee.inline_asm_text()).map(|_| ());
        }
        let function = callee.as_function();
        if let Some(intrinsic) = function.filter(|f| f.intrinsic_id() != 0) {
            return intrinsic.function_type().return_type().is_void().then_some(());
        }
        if function.is_some_and(|f| self.freeing.contains(&f)) {
            return (call.arguments().first() == Some(&pointer)).then_some(());
        }
        if self.flaw == Some(Flaw::ParametersKeepNothing) {
            return Some(());
        }
        let parameters = function.filter(|f| !f.is_declaration()).map(|f| f.parameters());
        for (index, argument) in call.arguments().into_iter().enumerate() {
            if argument != pointer {
                continue;
            }
            match parameters.as_ref().and_then(|all| all.get(index)) {
                // A number is not followed into the function.
                Some(&parameter) if parameter.value_type().is_pointer() => passed.push(parameter),
                _ => {
                    let kept = call.argument_attribute(index as u32, self.captures?)?;
                    if kept & PROVENANCE != 0 {
                        return None;
                    }
                }
            }
        }
        Some(())
    }
}

/// Whether an instruction computes the running thread's address of a thread-local variable, which
/// is its argument.
pub(super) fn is_thread_local_address(instruction: Instruction) -> bool {
    instruction.opcode() == Opcode::Call
        && instruction
            .callee()
            .and_then(|callee| callee.as_function())
            .is_some_and(|f| f.name().starts_with("llvm.threadlocal.address"))
}
