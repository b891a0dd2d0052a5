//! Loops that wait, recognised in the code: an atomic operation that would only go round its loop
//! waits until it would not.
//!
//! `while lock.swap(true, Acquire) { spin_loop() }` goes round as long as the word is 1, and such a
//! round does nothing. So the swap is reported to the runtime with an await, as a sync model would:
//! it is executed only when the word is not 1. What others see, and what the thread does in the
//! end, is then the same as in the execution in which it was not scheduled until it had its way.
//!
//! For each atomic operation X that no sync model knows, the conditions are looked at that the code
//! after X asks of the word that X found. Say that one of them holds (*the word is bad*); [`walk`]
//! follows control from X under this assumption. X waits until the word is good if
//! 1. X itself changes nothing when the word is bad: it is a load, a compare-exchange that then
//!    fails, an exchange or a bitwise update that then leaves the word as it is (the word of an
//!    `AtomicBool` is 0 or 1);
//! 2. every way leads back to X, and does nothing: no store, no other update, no fence, no call but
//!    pauses and functions that only compute and read, no round and round but through another look
//!    at the same word (see below);
//! 3. [`same`] shows that X is then in the same state as before: it has the same address and
//!    operands, the awaited value is the same, and what changes from round to round (a count of
//!    them, say) is used for nothing but the choice between ways that all lead back.
//!
//! Then leaving out the rounds in which the word is bad misses nothing:
//! - *Values.* A round reads, and leaves behind the state in which it began. Deleting it from an
//!   execution gives an execution, whose thread was merely not scheduled; and a thread that waits
//!   for ever is one that goes round for ever (a livelock, reported as such). What a round reads of
//!   *other* words may change, but is forgotten at its end; the last round, which is kept, reads it
//!   anew. On its way back a thread may look at the same word in an inner loop, and go on when it
//!   is good: then it comes to X, so that it waits there for ever exactly if it waits for ever in
//!   the inner loop.
//! - *Synchronisation.* A round that is left out may acquire, or (an exchange) release. Such an
//!   edge can only hide races, never make them: in the execution without the round, whatever it
//!   ordered is unordered.
//! - *Races of a round.* Every plain read of a round is also made, of the same memory, before X is
//!   reached for the first time (rule 3 asks for that), and from then on the thread releases
//!   nothing: whoever writes that memory while the thread waits races with that first read. So the
//!   memory is the same in all rounds, too. X's own look at the word, which may race with a plain
//!   write or with the deallocation, is reported to the race detector when the thread comes to X
//!   (`looks` in the runtime), as an atomic read that orders nothing; of an exchange or a bitwise
//!   update, as a write.
//! - *Weak memory.* A stale bad value makes another round; a stale good value is a good one of an
//!   earlier time, when X was not held back.

mod calls;
mod condition;
mod fact;
mod inlining;
mod same;
mod steps;
mod walk;

use crate::llvm::{Block, Context, Function, Instruction, Module, Opcode, TypeKind};
use crate::recognise::{demangle, path_of};
pub use calls::Calls;
pub use condition::{Condition, Operand};
pub use inlining::inline_into_loops;
use lockred_protocol::hooks::{RmwOp, Test};
use same::Rounds;
use std::collections::{HashMap, HashSet};
use walk::Walk;

/// What an atomic operation is because of the loop that it is in.
#[derive(Clone, Default, Debug)]
pub struct Wait {
    /// What it awaits.
    pub awaits: Option<Condition>,
    /// How it is cut into steps.
    pub step: Step,
}

/// How an atomic operation belongs together with others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Step {
    /// Not at all.
    #[default]
    Own,
    /// It begins a step: a look at a word.
    Begins,
    /// It ends that step: a compare-exchange of the word.
    Ends,
}

/// Conditions of one operation that are tried.
const MOST_CONDITIONS: usize = 16;

/// The operations of a function that wait, or belong together because they do. Asked before the
/// function is changed; values are given as operands of instructions that stay.
pub fn of(
    context: Context,
    module: &Module,
    function: Function,
    calls: &mut Calls,
) -> HashMap<Instruction, Wait> {
    let blocks = function.blocks();
    let all = blocks.iter().flat_map(|block| block.instructions());
    let atomics: Vec<_> = all
        .filter(|&at| is_candidate(module, at) && comes_back(at))
        .map(|at| (at, bits(context, module, at)))
        .collect();
    let mut waits = HashMap::new();
    for &(at, bits) in &atomics {
        if let Some(awaits) = awaited(at, bits, calls) {
            waits.insert(at, Wait { awaits: Some(awaits), step: Step::Own });
        }
    }
    steps::find(&atomics, &mut waits, calls);
    waits
}

/// Whether control can come back to an instruction.
fn comes_back(at: Instruction) -> bool {
    let onwards = |block: Block| block.terminator().into_iter().flat_map(Instruction::successors);
    let mut open: Vec<Block> = onwards(at.block()).collect();
    let mut seen = HashSet::new();
    while let Some(block) = open.pop() {
        if block == at.block() {
            return true;
        }
        if seen.insert(block) {
            open.extend(onwards(block));
        }
    }
    false
}

/// Whether an instruction is an atomic operation that may turn out to wait.
fn is_candidate(module: &Module, at: Instruction) -> bool {
    match at.opcode() {
        Opcode::Load if at.is_atomic() => {}
        Opcode::AtomicRmw | Opcode::CompareExchange => {}
        _ => return false,
    }
    let kind = at.accessed_type().kind();
    !at.is_single_thread()
        && matches!(kind, TypeKind::Integer(_) | TypeKind::Pointer)
        && matches!(at.access_size(module), 1 | 2 | 4 | 8)
}

/// What an atomic operation waits for, if it does.
fn awaited(at: Instruction, bits: u64, calls: &mut Calls) -> Option<Condition> {
    let bad = suspicions(at, bits, calls);
    bad.into_iter().take(MOST_CONDITIONS).find_map(|bad| {
        if !is_idle(at, bits, &bad) {
            return None;
        }
        let round = Walk::round(at, bits, bad.clone(), calls)?;
        Rounds::new(at, round, calls).are_idle(&bad).then(|| bad.negated())
    })
}

/// All bits that the word of an atomic operation may have: those of its type, or one, if it is a
/// `bool`.
fn bits(context: Context, module: &Module, at: Instruction) -> u64 {
    match at.access_size(module) {
        1 if is_bool(context, at) => 1,
        8.. => u64::MAX,
        size => (1 << (size * 8)) - 1,
    }
}

/// Whether an atomic operation is one of an `AtomicBool`, as the functions tell from which it was
/// inlined.
fn is_bool(context: Context, at: Instruction) -> bool {
    let mut location = at.location();
    while let Some(inlined) = location {
        let symbol = inlined.subprogram(context).map(|function| function.symbol(context));
        let name = demangle(&symbol.unwrap_or_default());
        if !path_of(&name).starts_with("core::sync::atomic::") {
            return false;
        }
        if ["AtomicBool", "Atomic<bool>"].iter().any(|of_bool| name.contains(of_bool)) {
            return true;
        }
        location = inlined.inlined_at();
    }
    false
}

/// Conditions of the word under which an operation may only go round.
fn suspicions(at: Instruction, bits: u64, calls: &mut Calls) -> Vec<Condition> {
    let operand = || Operand::of(at, 1);
    match at.opcode() {
        Opcode::CompareExchange => {
            let fails = Condition { mask: bits, value: operand(), test: Test::NotEqual };
            let mut all = vec![fails];
            all.extend(Walk::asked(at, bits, calls));
            all
        }
        Opcode::AtomicRmw => {
            let number = operand().number().map(|number| number & bits);
            let stays = match (at.rmw_op(), number) {
                (Some(RmwOp::Xchg), _) => (bits, operand()),
                (Some(RmwOp::Or), Some(set)) => (set, Operand::Number(set)),
                (Some(RmwOp::And), Some(kept)) => (bits & !kept, Operand::Number(0)),
                _ => return Vec::new(),
            };
            vec![Condition { mask: stays.0, value: stays.1, test: Test::Equal }]
        }
        _ => Walk::asked(at, bits, calls),
    }
}

/// Whether an operation changes nothing when the word is bad.
fn is_idle(at: Instruction, bits: u64, bad: &Condition) -> bool {
    match at.opcode() {
        Opcode::CompareExchange => {
            let succeeds = Condition { mask: bits, value: Operand::of(at, 1), test: Test::Equal };
            bad.implies(&succeeds) == Some(false)
        }
        // The suspicion is that the word stays as it is.
        _ => true,
    }
}
