//! What one instruction does to the frame of its function.
//!
//! Places in a frame are counted from the return address down, so that the word below it is at -8.

use iced_x86::{
    FlowControl, Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use std::ops::Range;

/// What LLVM says of a frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Places whose addresses the function may take.
    pub variables: Vec<Range<i64>>,
    /// Below this there are only arguments for callees.
    pub lowest: i64,
}

impl Layout {
    /// Whether a pointer to a place is one to a variable, or right after it.
    fn is_variable(&self, place: i64) -> bool {
        self.variables.iter().any(|variable| variable.start <= place && place <= variable.end)
    }
}

/// What is known before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Before {
    /// Bytes from the stack pointer to the return address.
    pub depth: i64,
    /// The same for rbp, where it points to the frame.
    frame_pointer: Option<i64>,
    /// Registers that may hold a copy of the stack pointer, by which arguments are stored.
    copies: u16,
    /// `depth` where the copies were made.
    copied_at: i64,
}

impl Before {
    /// What is known where two ways meet; `None` if they do not fit.
    pub fn meet(self, other: Self) -> Option<Self> {
        let fits = (self.depth, self.frame_pointer) == (other.depth, other.frame_pointer)
            && (self.copies == 0 || other.copies == 0 || self.copied_at == other.copied_at);
        let copied_at = if self.copies == 0 { other.copied_at } else { self.copied_at };
        fits.then_some(Self { copies: self.copies | other.copies, copied_at, ..self })
    }

    fn is_copy(self, register: Register) -> bool {
        self.copies & bit(register) != 0
    }
}

/// An access to a place at a constant distance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Where.
    pub place: Range<i64>,
    /// What was there may matter.
    pub reads: bool,
    /// What was there is gone.
    pub overwrites: bool,
    /// It may store an argument for a callee.
    pub hands_over: bool,
    /// It saves a register for the caller, of which the unwinder knows.
    pub saves: bool,
}

/// Registers of 64 bits as bits; none for others.
fn bit(register: Register) -> u16 {
    let register = register.full_register();
    if register.is_gpr64() { 1 << register.number() } else { 0 }
}

/// Registers that callees keep.
const KEPT: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

fn bits(registers: &[Register]) -> u16 {
    registers.iter().fold(0, |all, register| all | bit(*register))
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

/// Looks at instructions.
pub struct Steps(InstructionInfoFactory);

impl Steps {
    pub fn new() -> Self {
        Self(InstructionInfoFactory::new())
    }

    /// What is known after an instruction, whose accesses are appended to `accesses`. `None` if
    /// the frame cannot be followed through it. `leaves`: behind it there are only pops and the
    /// return.
    pub fn take(
        &mut self,
        instruction: &Instruction,
        leaves: bool,
        layout: &Layout,
        before: Before,
        accesses: &mut Vec<Access>,
    ) -> Option<Before> {
        let info = self.0.info(instruction);
        let mut after = before;
        let (target, source) = (instruction.op0_register(), instruction.op1_register());
        match instruction.mnemonic() {
            Mnemonic::Sub | Mnemonic::Add if target == Register::RSP => {
                let is_constant = instruction.op1_kind() != OpKind::Register
                    && instruction.op1_kind() != OpKind::Memory;
                let by = is_constant.then(|| instruction.immediate(1).cast_signed())?;
                after.depth += if instruction.mnemonic() == Mnemonic::Sub { by } else { -by };
                return Some(after);
            }
            Mnemonic::Mov if source == Register::RSP && target == Register::RBP => {
                after.frame_pointer = Some(before.depth);
                after.copies &= !bit(target);
                return Some(after);
            }
            Mnemonic::Mov if source == Register::RSP && target.is_gpr64() => {
                if layout.is_variable(-before.depth) {
                    after.copies &= !bit(target);
                    return Some(after);
                }
                let copied = Before { copies: bit(target), copied_at: before.depth, ..before };
                after.copies &= !bit(target);
                return after.meet(copied);
            }
            Mnemonic::Lea => takes_variables_address(instruction, layout, before)?,
            _ => {}
        }
        if !registers_fit(instruction, info, before) {
            return None;
        }
        collect(instruction, info, leaves, layout, before, accesses)?;
        follow(instruction, info, &mut after)?;
        Some(after)
    }
}

/// The place that a base register points to; `None` if it is no place of the frame.
fn base(register: Register, before: Before) -> Option<i64> {
    match register {
        Register::RSP => Some(-before.depth),
        Register::RBP if before.frame_pointer.is_some() => before.frame_pointer.map(|at| -at),
        _ if before.is_copy(register) => Some(-before.copied_at),
        _ => None,
    }
}

/// `None` if an address in the frame is made that is no variable's.
fn takes_variables_address(
    instruction: &Instruction,
    layout: &Layout,
    before: Before,
) -> Option<()> {
    match base(instruction.memory_base(), before) {
        Some(place) => {
            let place = place + instruction.memory_displacement64().cast_signed();
            layout.is_variable(place).then_some(())
        }
        None => Some(()),
    }
}

/// Whether no register that points to the frame is used for anything but accesses to it.
fn registers_fit(instruction: &Instruction, info: &InstructionInfo, before: Before) -> bool {
    let points = |register: Register| {
        register == Register::RSP
            || register == Register::RBP && before.frame_pointer.is_some()
            || before.is_copy(register)
    };
    let index = instruction.memory_index();
    if index != Register::None && points(index.full_register()) {
        return false;
    }
    for (operand, kind) in instruction.op_kinds().enumerate() {
        let operand = operand as u32;
        let register = instruction.op_register(operand).full_register();
        let is_read = reads(info.op_access(operand));
        if kind == OpKind::Register && points(register) && (is_read || register == Register::RSP) {
            return false;
        }
    }
    // A copy is read implicitly, or by an instruction that is no plain store.
    let stores = matches!(
        instruction.mnemonic(),
        Mnemonic::Mov | Mnemonic::Movaps | Mnemonic::Movups | Mnemonic::Movdqa | Mnemonic::Movdqu
    ) || matches!(
        instruction.mnemonic(),
        Mnemonic::Movss | Mnemonic::Movsd | Mnemonic::Movq
    );
    let is_based = |register| stores && instruction.memory_base() == register;
    let misused = info.used_registers().iter().any(|used| {
        let register = used.register().full_register();
        reads(used.access()) && before.is_copy(register) && !is_based(register)
    });
    let calls = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
    !(misused || calls && before.copies & bits(&ARGUMENTS) != 0)
}

/// Collects the accesses to the frame; `None` if there is one that is not understood.
fn collect(
    instruction: &Instruction,
    info: &InstructionInfo,
    leaves: bool,
    layout: &Layout,
    before: Before,
    accesses: &mut Vec<Access>,
) -> Option<()> {
    let flow = instruction.flow_control();
    if flow == FlowControl::Return {
        return Some(());
    }
    let calls = matches!(flow, FlowControl::Call | FlowControl::IndirectCall);
    let (pushes, pops) =
        (instruction.mnemonic() == Mnemonic::Push, instruction.mnemonic() == Mnemonic::Pop);
    let register = instruction.op0_register();
    for memory in info.used_memory() {
        let Some(place) = base(memory.base(), before) else { continue };
        if calls && writes(memory.access()) {
            // The return address, below the frame.
            continue;
        }
        let start = place + memory.displacement().cast_signed();
        if memory.index() != Register::None {
            layout.is_variable(start).then_some(())?;
            continue;
        }
        let size = i64::try_from(memory.memory_size().size()).ok().filter(|size| *size > 0)?;
        let place = start.min(0)..(start + size).min(0);
        if place.is_empty() {
            continue;
        }
        let through_copy = before.is_copy(memory.base());
        // At its end a function pops what is nothing to it into a register that is nothing to it,
        // instead of adding to the stack pointer.
        let drops = pops && leaves && !KEPT.contains(&register);
        accesses.push(Access {
            reads: reads(memory.access()) && !drops,
            overwrites: memory.access() == OpAccess::Write && !through_copy,
            hands_over: writes(memory.access()) && (through_copy || place.start < layout.lowest),
            saves: pushes && KEPT.contains(&register),
            place,
        });
    }
    Some(())
}

/// What registers hold after an instruction; `None` if the stack pointer is moved in a way that is
/// not understood.
fn follow(instruction: &Instruction, info: &InstructionInfo, after: &mut Before) -> Option<()> {
    let calls = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
    if calls {
        after.copies &= bits(&KEPT);
        return Some(());
    }
    for used in info.used_registers().iter().filter(|used| writes(used.access())) {
        let register = used.register();
        match register.full_register() {
            Register::RSP => {
                let is_known = matches!(
                    instruction.mnemonic(),
                    Mnemonic::Push | Mnemonic::Pop | Mnemonic::Ret
                );
                is_known.then_some(())?;
                after.depth -= i64::from(instruction.stack_pointer_increment());
            }
            Register::RBP => after.frame_pointer = None,
            _ => {}
        }
        // Writing half of a register clears the other half; writing less does not.
        if used.access() == OpAccess::Write && register.size() >= 4 {
            after.copies &= !bit(register);
        }
    }
    Some(())
}
