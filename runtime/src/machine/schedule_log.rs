//! The schedule of the execution under way, where the session finds it if the process dies.

use crate::machine::hook;
use crate::machine::state::State;
use lockred_protocol::schedule::{self, Schedule};
use lockred_protocol::session::{SCHEDULE_CAPACITY, decode_choice};
use lockred_search::{Choice, machine::ThreadId};

/// A choice as the formats have it.
pub fn to_wire(choice: Choice) -> schedule::Choice {
    match choice {
        Choice::Thread(thread) => schedule::Choice::Thread(thread.0),
        Choice::Value { picked, of } => schedule::Choice::Value { picked, of },
    }
}

/// What schedules begin with.
pub fn beginning(state: &State) -> impl Iterator<Item = schedule::Choice> + use<> {
    state.knowledge.channels_step_by_step.then_some(Schedule::STEP_BY_STEP).into_iter()
}

/// Leaves a choice where the session finds it if the process dies.
pub fn log_choice(depth: usize, choice: Choice) {
    let state = &mut *hook::enter();
    if let Some(status) = state.config.status {
        let mut depth = depth;
        for first in beginning(state) {
            status.log(0, crate::session::files::schedule_word(first));
            depth += 1;
        }
        status.log(depth, crate::session::files::schedule_word(to_wire(choice)));
        if depth < SCHEDULE_CAPACITY {
            state.knowledge.deaths.on_choice(depth + 1, |index| status.schedule_word(index));
        }
    }
}

/// The choices of the execution under way, if they are all kept.
pub fn schedule_so_far(state: &State) -> Option<Schedule> {
    let status = state.config.status?;
    let length = status.schedule_length();
    let choices = (0..length).map(|index| decode_choice(status.schedule_word(index)));
    (length < SCHEDULE_CAPACITY).then(|| Schedule(choices.collect()))
}

/// A choice as the search has it.
pub fn from_wire(choice: schedule::Choice) -> Choice {
    match choice {
        schedule::Choice::Thread(thread) => Choice::Thread(ThreadId(thread)),
        schedule::Choice::Value { picked, of } => Choice::Value { picked, of },
    }
}
