//! The ranges of memory that an instruction accesses plainly: loads and stores, memory intrinsics,
//! structures passed by hidden copy.

use crate::llvm::{Attribute, Instruction, Module, Opcode, Value};

/// What a plain access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// How many bytes are accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// So many.
    Known(u64),
    /// As many as this value says.
    Value(Value),
}

/// One range of memory that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The instruction.
    pub at: Instruction,
    /// What it does there.
    pub direction: Direction,
    /// Address of the first byte.
    pub start: Value,
    /// Bytes.
    pub length: Length,
}

/// The plain accesses of an instruction, in the order in which it makes them; none of an atomic
/// one.
#[must_use]
pub fn accesses(module: &Module, at: Instruction) -> Vec<Access> {
    let access = |direction, start, length| Access { at, direction, start, length };
    match at.opcode() {
        Opcode::Load | Opcode::Store if !at.is_atomic() => {
            let write = at.opcode() == Opcode::Store;
            let direction = if write { Direction::Write } else { Direction::Read };
            vec![access(direction, at.address(), Length::Known(at.access_size(module)))]
        }
        Opcode::Call => {
            let callee = at.callee().and_then(|callee| callee.as_function());
            let name = match callee.filter(|f| f.intrinsic_id() != 0) {
                Some(intrinsic) => intrinsic.name(),
                None => return by_value_arguments(module, at),
            };
            let length = || match at.operand(2).as_integer() {
                Some(bytes) => Length::Known(bytes),
                None => Length::Value(at.operand(2)),
            };
            if name.starts_with("llvm.memcpy.p") || name.starts_with("llvm.memmove.p") {
                let source = access(Direction::Read, at.operand(1), length());
                vec![source, access(Direction::Write, at.operand(0), length())]
            } else if name.starts_with("llvm.memset.p") {
                vec![access(Direction::Write, at.operand(0), length())]
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

/// A structure passed by hidden copy is read at the call.
fn by_value_arguments(module: &Module, at: Instruction) -> Vec<Access> {
    let Some(byval) = Attribute::named("byval") else { return Vec::new() };
    let arguments = at.arguments().into_iter().enumerate();
    let read = |(index, start): (usize, Value)| {
        let copied = at.by_value_argument(index as u32, byval)?;
        let length = Length::Known(module.store_size(copied));
        Some(Access { at, direction: Direction::Read, start, length })
    };
    arguments.filter_map(read).collect()
}
