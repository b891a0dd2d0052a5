//! Who can run: what stopped threads wait for.

use crate::loops::{read_only_spin, writing_spin};
use crate::machine::channels;
use crate::machine::config::Mode;
use crate::machine::footprints;
use crate::machine::operation::{ChannelOperation, Pending};
use crate::machine::state::State;
use crate::machine::thread::Thread;
use crate::scheduler::timely::{self, may_give_up};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Status, ThreadId};
use lockred_search::transactional::Awaited;

/// How often threads other than this one have done something ([`crate::loops::writing_spin`]).
fn others(state: &State, number: usize) -> u64 {
    state.execution.progress - state.execution.threads[number].progress
}

/// Whether a thread could run whatever the others do, timeouts and turns of loops aside.
pub fn ready(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    match thread.pending {
        Pending::Start
        | Pending::Spawn
        | Pending::FutexWait { .. }
        | Pending::FutexWake { .. }
        | Pending::Choosing => true,
        Pending::Join { target } => state.execution.threads[target as usize].has_ended(),
        Pending::Atomic(operation) => {
            operation.can_proceed() && !crate::monitor::transactions::waits(state, &operation)
        }
        Pending::FutexQueued { .. } => thread.woken,
        Pending::Channel(operation) => channels::can_proceed(state, &operation),
        Pending::Offering { .. } => {
            thread.channel.answered.is_some() || state.knowledge.channels_step_by_step
        }
        Pending::Spinning => thread.loops.read_only_spin.changed(),
        Pending::Stuttering => thread.loops.writing_spin.changed(others(state, number)),
        Pending::Sleeping { .. } | Pending::Never | Pending::Ended => false,
    }
}

/// Whether a thread sleeps, or waits with a timeout, which may end although others could run.
pub fn may_time_out(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    let sleeps = matches!(thread.pending, Pending::Sleeping { .. });
    sleeps
        || may_give_up(&thread.pending)
            && (!thread.loops.writing_spin.is_stuttering()
                || thread.loops.writing_spin.changed(others(state, number)))
}

/// Turns that a thread which goes round a loop has had, if it waits for another one.
pub fn turns(thread: &Thread) -> Option<u32> {
    match thread.pending {
        Pending::Spinning => Some(thread.loops.read_only_spin.turns()),
        Pending::Stuttering => Some(thread.loops.writing_spin.turns()),
        pending if may_give_up(&pending) => Some(thread.loops.writing_spin.turns()),
        _ => None,
    }
}

/// Whether a thread goes round a loop, and waits there for another one.
pub fn goes_round(thread: &Thread) -> bool {
    let recognised = matches!(thread.pending, Pending::Atomic(operation) if operation.goes_round());
    recognised || turns(thread).is_some()
}

/// The thread whose turn it is when nobody can run: of those that go round loops, the one that had
/// the fewest turns.
fn next_turn(state: &State) -> Option<usize> {
    let threads = &state.execution.threads;
    let idle = |number: &usize| !ready(state, *number) && !may_time_out(state, *number);
    if state.execution.exit.is_some() || !(0..threads.len()).all(|number| idle(&number)) {
        return None;
    }
    let limit = |thread: &Thread| match (state.config.mode, thread.pending) {
        (Mode::Free, _) => u32::MAX,
        (_, Pending::Spinning) => read_only_spin::FAIRNESS_TURNS,
        _ => writing_spin::FAIRNESS_TURNS,
    };
    let candidates = threads.iter().enumerate().filter_map(|(number, thread)| {
        turns(thread).filter(|turns| *turns < limit(thread)).map(|turns| (turns, number))
    });
    candidates.min().map(|(_, number)| number)
}

/// Status of a thread; see [`crate::loops::read_only_spin`] and [`crate::loops::writing_spin`] for
/// what loops wait for.
pub fn status(state: &State, number: usize) -> Status {
    let thread = &state.execution.threads[number];
    if thread.has_ended() || state.execution.cut {
        return Status::Ended;
    }
    if ready(state, number) {
        return Status::Enabled;
    }
    let gives_up = may_time_out(state, number) && timely::comes_next(state, number);
    if gives_up || (turns(thread).is_some() && next_turn(state) == Some(number)) {
        return Status::LowPriority;
    }
    Status::Blocked { on: waits_for(state, thread.pending) }
}

/// The object that a blocked thread waits for.
fn waits_for(state: &State, pending: Pending) -> ObjectId {
    match pending {
        Pending::Atomic(operation) => footprints::word(operation.address),
        Pending::FutexQueued { address, .. } => footprints::queue(address),
        Pending::Channel(ChannelOperation { channel, .. }) | Pending::Offering { channel } => {
            channels::object(state, channel)
        }
        Pending::Join { target } => ObjectId(1 << 62 | u64::from(target)),
        _ => ObjectId(0),
    }
}

/// What makes a thread go on that is blocked, and waits for no lock.
pub fn awaited(state: &State, number: usize) -> Awaited {
    if may_time_out(state, number) {
        // Whatever others do may let its time come.
        return Awaited::Unknown;
    }
    match state.execution.threads[number].pending {
        Pending::Join { target } => Awaited::End(ThreadId(target)),
        Pending::Atomic(_)
        | Pending::FutexQueued { .. }
        | Pending::Channel(_)
        | Pending::Offering { .. }
        | Pending::Spinning => Awaited::Act,
        Pending::Start
        | Pending::Spawn
        | Pending::FutexWait { .. }
        | Pending::FutexWake { .. }
        | Pending::Choosing
        | Pending::Stuttering
        | Pending::Sleeping { .. }
        | Pending::Never
        | Pending::Ended => Awaited::Unknown,
    }
}
