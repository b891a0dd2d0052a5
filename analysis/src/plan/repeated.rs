//! Accesses that report nothing new: their bytes were reported right before, in the same stretch of
//! code.
//!
//! A *stretch* is a way through a function on which each block is entered from the one before only,
//! and on which nothing synchronises, frees, or calls anything but intrinsics that compute. Let a
//! hook on it have reported bytes, by the address that the access computes in the same way from the
//! same values. Then the access needs none:
//! - **Footprints.** The whole stretch runs in one transaction, as threads are switched at
//!   operations alone. Both accesses are to the same object, and what conflicts with a read
//!   conflicts with a write.
//! - **Race detectors.** Clocks change at operations only, so both accesses have the same clock.
//!   Whatever is unordered with the second is unordered with the first. A read does not stand for a
//!   write; a write does for a read.
//! - **Memory checks.** What may be accessed changes where memory is allocated, freed, or a
//!   function returns. Nothing of that is on the stretch, so that the second check would say what
//!   the first has said.
//! - **Progress** (`rounds.rs` of the runtime) looks at what is written where at the end of a
//!   round, which is an operation.
//!
//! If the first hook ends the execution, the second access is not made. Reports and replays name
//! the first access of the two.

use crate::facts::access::{Direction, Length, accesses};
use crate::llvm::{Block, Function, Instruction, Module, Opcode, Shape, Value};
use lockred_protocol::plan::{Decision, Reason};
use std::collections::HashMap;

/// Intrinsics that compute, or tell the compiler something, and access no memory but what
/// [`accesses`] lists.
const HARMLESS: &[&str] = &[
    "llvm.abs.",
    "llvm.assume",
    "llvm.bswap.",
    "llvm.ctlz.",
    "llvm.ctpop.",
    "llvm.cttz.",
    "llvm.dbg.",
    "llvm.expect.",
    "llvm.experimental.noalias.scope.decl",
    "llvm.fshl.",
    "llvm.fshr.",
    "llvm.lifetime.",
    "llvm.memcpy.p",
    "llvm.memmove.p",
    "llvm.memset.p",
    "llvm.sadd.",
    "llvm.scmp.",
    "llvm.smax.",
    "llvm.smin.",
    "llvm.smul.",
    "llvm.ssub.",
    "llvm.threadlocal.address.",
    "llvm.uadd.",
    "llvm.ucmp.",
    "llvm.umax.",
    "llvm.umin.",
    "llvm.umul.",
    "llvm.usub.",
];

/// Operands of operands that are compared.
const DEEPEST: usize = 8;
/// Accesses of a stretch that are remembered: keeps the work linear.
const LIMIT: usize = 32;

/// Bytes that a hook has reported.
#[derive(Clone, Copy)]
struct Reported {
    start: Value,
    bytes: u64,
    direction: Direction,
    /// By a whole hook, or one that only asks whether the memory is there.
    decision: Decision,
}

/// Gives those accesses of a function that need a hook, and repeat what another one reports, the
/// reason for needing none.
pub fn mark(
    module: &Module,
    function: Function,
    decisions: &mut HashMap<Instruction, Vec<Reason>>,
) {
    let blocks = function.blocks();
    let mut entries: HashMap<Block, Vec<Block>> = HashMap::new();
    for &block in &blocks {
        for next in block.terminator().into_iter().flat_map(Instruction::successors) {
            entries.entry(next).or_default().push(block);
        }
    }
    let before = |block: Block| match entries.get(&block).map(Vec::as_slice) {
        Some(&[only]) => Some(only),
        _ => None,
    };
    let mut after: HashMap<Block, Vec<Reported>> = HashMap::new();
    for &block in &blocks {
        // Blocks in front that have not been looked at; a cycle of blocks with one entry each is
        // never reached.
        let mut chain = vec![block];
        while let Some(front) = before(chain[chain.len() - 1]) {
            if after.contains_key(&front) || chain.contains(&front) {
                break;
            }
            chain.push(front);
        }
        for block in chain.into_iter().rev() {
            if !after.contains_key(&block) {
                let mut reported =
                    before(block).and_then(|front| after.get(&front)).cloned().unwrap_or_default();
                for at in block.instructions() {
                    step(module, at, &mut reported, decisions);
                }
                after.insert(block, reported);
            }
        }
    }
}

/// Goes past one instruction.
fn step(
    module: &Module,
    at: Instruction,
    reported: &mut Vec<Reported>,
    decisions: &mut HashMap<Instruction, Vec<Reason>>,
) {
    if ends_stretch(at) {
        reported.clear();
        return;
    }
    let Some(reasons) = decisions.get_mut(&at) else { return };
    for (access, reason) in accesses(module, at).into_iter().zip(reasons) {
        let decision = reason.decision();
        let Length::Known(bytes) = access.length else { continue };
        if decision == Decision::Skip {
            continue;
        }
        let (start, direction) = (access.start, access.direction);
        let covers = |reported: &Reported| {
            reported.bytes >= bytes
                && reported.decision >= decision
                && (reported.direction == Direction::Write || direction == Direction::Read)
                && is_same(reported.start, start, 0)
        };
        if reported.iter().any(covers) {
            *reason = Reason::Repeated;
        } else {
            if reported.len() == LIMIT {
                reported.remove(0);
            }
            reported.push(Reported { start, bytes, direction, decision });
        }
    }
}

/// Whether after an instruction, clocks, footprints or what memory is there may be others.
fn ends_stretch(at: Instruction) -> bool {
    match at.opcode() {
        Opcode::Load | Opcode::Store => at.is_atomic(),
        Opcode::Call => {
            let callee = at.callee().and_then(|callee| callee.as_function());
            let Some(intrinsic) = callee.filter(|f| f.intrinsic_id() != 0) else { return true };
            let name = intrinsic.name();
            !HARMLESS.iter().any(|prefix| name.starts_with(prefix))
        }
        Opcode::Address
        | Opcode::Merge
        | Opcode::Compare
        | Opcode::Number
        | Opcode::Branch
        | Opcode::Alloca => false,
        Opcode::Other => !at.is_pure(),
        _ => true,
    }
}

/// Whether two values are the same whenever control has come from the one to the other on a
/// stretch.
fn is_same(one: Value, other: Value, depth: usize) -> bool {
    if one == other {
        return true;
    }
    let (Some(a), Some(b)) = (one.as_instruction(), other.as_instruction()) else { return false };
    if depth == DEEPEST || a.shape() != Shape::Arithmetic || !a.computes_like(b) {
        return false;
    }
    let (a, b) = (a.value().operands(), b.value().operands());
    a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| is_same(a, b, depth + 1))
}
