//! Waits that return, and weak compare-exchanges that fail, for no reason (`--spurious`).
//!
//! A wait that returns so does so where it begins: nobody sees whether its thread was in a queue
//! meanwhile, and how late it goes on is the scheduler's matter. So that searches end, at most
//! [`MOST`] do in a row at one word, without any for a reason.
//!
//! Nothing is lost if the thread was twice in the same state before one of them (its stack and
//! registers are the same, and it has done nothing to other memory in between): then it has gone
//! round a loop in vain, and there is another execution that is the same but for that round.
//! Otherwise it is reported as an assumption. (The state decides nothing else: stacks hold
//! leftovers of the runtime, which are not the same when an execution is run again.)
//!
//! The same holds for exchanges that fail. Those of std's own loops are no choice (the shim does
//! not mark them), and neither are `try_lock` and its like: std's locks fail only if they are
//! locked.

use crate::loops::spurious::MOST;
use crate::machine::hook::Entered;
use crate::machine::state::State;
use crate::scheduler::choice::choose;
use lockred_protocol::codes::AssumptionKind;

/// Whether the running thread's wait at, or exchange of, a word is to end for no reason. `hook`:
/// the function of the runtime that the program called for it.
pub fn happens(entered: &mut Entered, address: usize, hook: usize) -> bool {
    if !entered.below_root || !entered.config.spurious() {
        return false;
    }
    let now = local_state(entered, hook);
    let row = entered.thread().loops.spurious.before(address);
    if row.len() == MOST {
        let repeats = |(index, before): (usize, &Option<u64>)| {
            before.is_some() && (*before == now || row[..index].contains(before))
        };
        if !row.iter().enumerate().any(repeats) {
            crate::machine::limits::assume(entered, AssumptionKind::BoundedSpurious, "");
        }
        return false;
    }
    if choose(entered, 2) == 0 {
        return false;
    }
    entered.thread().loops.spurious.happens(address, now);
    true
}

/// A wait at, or exchange of, a word has ended for a reason.
pub fn ended(state: &mut State, address: usize) {
    state.thread().loops.spurious.ends(address);
}

/// A hash of what the running thread is: where it called the hook, its stack from there on, the
/// registers that it keeps across calls, and how often it has done something to other memory.
/// `None` where that is not known.
fn local_state(state: &mut State, hook: usize) -> Option<u64> {
    // Unwatched accesses are not counted.
    if !crate::machine::watch::watching() {
        return None;
    }
    let caller = crate::coroutine::unwind::caller_of(hook)?;
    let thread = state.thread();
    let stack = caller.stack_pointer..thread.region.end();
    if !thread.region.is_stack(stack.start) || stack.start % 8 != 0 {
        return None;
    }
    // SAFETY: the live part of the running thread's stack, which nothing writes meanwhile.
    let words = unsafe { std::slice::from_raw_parts(stack.start as *const u64, stack.len() / 8) };
    let place = [caller.instruction as u64, stack.start as u64];
    let done = [thread.progress, thread.loops.writing_spin.held_back()];
    let parts = words.iter().copied().chain(caller.registers).chain(place).chain(done);
    Some(parts.fold(0, |hash: u64, word| {
        (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
    }))
}
