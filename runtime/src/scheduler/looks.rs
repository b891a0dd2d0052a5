//! Looks at clocks below the root: a choice of how much time has passed.
//!
//! Nothing promises how long it takes from one look at a clock to the next. So a look is a choice
//! of the search: next to nothing has passed, or a day ([`LATE`]), which is more than a program
//! plausibly compares with. Whatever branches by amounts in between is not explored, so that such a
//! program is never `verified` ([`AssumptionKind::VirtualTime`]).
//!
//! An execution has one late look at most, among the first [`OFFERED`] that could be one: a path
//! with n looks becomes n + 1 paths, and no more than [`OFFERED`] + 1. The first look of a program
//! cannot be late, as there is nothing to compare it with.
//!
//! Some looks are neither: those in regions of waits and in acts on channels, which only make
//! deadlines of timeouts that may fire at any time, and those of libtest, which only measure.

use crate::machine::channels;
use crate::machine::config::Mode;
use crate::machine::event::Event;
use crate::machine::hook::Entered;
use crate::machine::state::State;
use crate::scheduler::choice::choose;
use crate::scheduler::event;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::session::Task;

/// What a look at a clock takes, in nanoseconds.
const LOOK: u64 = 1_000;
/// What it takes a thread that nobody can help: its loop may be one that ends at a deadline.
const IDLE_LOOK: u64 = 1_000_000;
/// What has passed at a late look.
pub const LATE: u64 = 24 * 3600 * 1_000_000_000;
/// Looks of one execution that may be late.
const OFFERED: u32 = 4;

/// The running thread looks at a clock. How much time has passed by that, in nanoseconds.
pub fn passes(entered: &mut Entered) -> u64 {
    let state = &mut **entered;
    let thread = state.thread();
    let idle = thread.loops.read_only_spin.in_turn() || thread.loops.writing_spin.in_turn();
    let soon = if idle { IDLE_LOOK } else { LOOK };
    if !decides(state) {
        return soon;
    }
    let first = !std::mem::replace(&mut state.execution.looks.any, true);
    if !state.below_root {
        return soon;
    }
    if state.execution.threads.len() > 1 {
        crate::machine::limits::assume(state, AssumptionKind::VirtualTime, "");
    }
    crate::scheduler::timely::bounds(state);
    if first || idle || !is_late(entered) {
        return soon;
    }
    LATE
}

/// Whether what the program does next may depend on this look.
fn decides(state: &mut State) -> bool {
    let thread = state.thread();
    // Other regions, as that of a `Once`, may be those of a call that is over.
    let waits = thread.atomic.open && thread.atomic.deadline;
    let makes_deadline =
        waits || thread.atomic.functions > 0 || channels::is_inside_modelled_call(state);
    !makes_deadline && !crate::machine::libtest::is_running(state)
}

/// Lets the search choose whether a look that could be late is.
fn is_late(entered: &mut Entered) -> bool {
    let looks = &entered.execution.looks;
    if looks.late || looks.offered == OFFERED || !explores(entered) {
        return false;
    }
    entered.execution.looks.offered += 1;
    let late = choose(entered, 2) == 1;
    entered.execution.looks.late = late;
    if late {
        crate::scheduler::timely::late(entered, LATE);
    }
    event::notify(entered, &Event::Looked { late });
    late
}

/// Whether looks are choices: where it is only seen what is usual they are not.
fn explores(state: &State) -> bool {
    let task = state.config.task();
    !state.config.orders_time
        && state.config.mode != Mode::Free
        && !matches!(task, Some(Task::Observe { .. }))
}
