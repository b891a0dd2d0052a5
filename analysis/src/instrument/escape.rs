//! Which plain accesses can be left alone: memory that no other thread can reach, and memory that is never written.
//!
//! A stack variable is private while its address is only used to access it, is compared, or is passed to a call that
//! promises to keep no copy of it. The walk over the uses is flow-insensitive; an address that is stored, returned, turned into a
//! number or passed on otherwise makes the variable shared.

use crate::llvm::{Attribute, Instruction, Opcode, Value};
use std::collections::{HashMap, HashSet};

/// Answers for one function.
#[derive(Debug)]
pub struct Accesses {
    captures: Option<Attribute>,
    private: HashMap<Instruction, bool>,
}

/// Bits of LLVM's `captures` attribute that say that a pointer itself (not only its bits for comparison) may survive
/// the call, elsewhere or as its result.
const PROVENANCE: u64 = 0xcc;

/// Uses that are followed before a variable is called shared: keeps the walk linear in practice.
const LIMIT: usize = 2000;

impl Accesses {
    pub fn new() -> Self {
        Self { captures: Attribute::named("captures"), private: HashMap::new() }
    }

    /// Whether an access through this pointer may touch memory that another thread can reach and somebody can write.
    pub fn may_be_shared(&mut self, pointer: Value) -> bool {
        let base = base_of(pointer);
        if let Some(global) = base.as_global() {
            return !global.is_constant();
        }
        match base.as_instruction() {
            Some(alloca) if alloca.opcode() == Opcode::Alloca => !self.is_private(alloca),
            _ => true,
        }
    }

    fn is_private(&mut self, alloca: Instruction) -> bool {
        if let Some(&known) = self.private.get(&alloca) {
            return known;
        }
        let private = self.walk(alloca);
        self.private.insert(alloca, private);
        private
    }

    fn walk(&self, alloca: Instruction) -> bool {
        let mut seen: HashSet<Value> = HashSet::new();
        let mut open = vec![alloca.value()];
        while let Some(pointer) = open.pop() {
            if !seen.insert(pointer) {
                continue;
            }
            if seen.len() > LIMIT {
                return false;
            }
            for user in pointer.users() {
                let Some(user) = user.as_instruction() else { return false };
                match user.opcode() {
                    Opcode::Load | Opcode::Compare => {}
                    Opcode::Store if user.operand(0) != pointer => {}
                    Opcode::AtomicRmw if user.operand(1) != pointer => {}
                    Opcode::Address | Opcode::Merge => open.push(user.value()),
                    Opcode::Call if self.keeps_no_copy(user, pointer) => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Whether a call keeps no copy of a pointer that it gets.
    fn keeps_no_copy(&self, call: Instruction, pointer: Value) -> bool {
        if let Some(intrinsic) = call.callee().and_then(|c| c.as_function())
            && intrinsic.intrinsic_id() != 0
        {
            return intrinsic.function_type().return_type().is_void();
        }
        let Some(captures) = self.captures else { return false };
        if call.callee() == Some(pointer) {
            return false;
        }
        call.arguments().into_iter().enumerate().all(|(index, argument)| {
            argument != pointer
                || call
                    .argument_attribute(index as u32, captures)
                    .is_some_and(|kept| kept & PROVENANCE == 0)
        })
    }
}

/// The variable or value that an address is computed from.
fn base_of(pointer: Value) -> Value {
    let mut base = pointer;
    loop {
        let step = match base.as_instruction() {
            Some(i) => i.opcode() == Opcode::Address,
            None => base.is_constant_expression(),
        };
        match base.operands().first() {
            Some(&next) if step => base = next,
            _ => return base,
        }
    }
}
