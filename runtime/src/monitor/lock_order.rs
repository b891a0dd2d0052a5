//! The order in which threads acquire locks under each other ([`crate::locks::order`]).

use crate::claims::nested;
use crate::locks::order::{Taken, nest};
use crate::machine::execution::Execution;
use crate::machine::schedule_log::schedule_so_far;
use crate::machine::state::State;
use lockred_protocol::sites::SiteId;

/// The running thread acquires a lock; `waits`: it would have waited for it.
/// `stack`: there, while recording.
pub fn acquires(
    state: &mut State,
    address: usize,
    site: SiteId,
    shared: bool,
    waits: bool,
    stack: &[u64],
) {
    let thread = state.thread_number();
    let Execution { held, events, claims, .. } = &mut state.execution;
    let mine = held.iter().filter(|held| held.thread == thread);
    if !waits || mine.clone().any(|held| held.address == address) {
        return;
    }
    let acquires = Taken { address, site, shared };
    if let Some(claims) = claims {
        mine.clone().for_each(|held| nested::compare(claims, thread, Taken::of(held), acquires));
    }
    if state.below_root {
        nest(events, thread, &mine, acquires, stack);
    }
}

/// The execution is over: looks for cycles.
pub fn judge(state: &mut State) {
    let found = state.monitors.lock_order.look(&state.execution.events);
    if !found.is_empty()
        && let Some(schedule) = schedule_so_far(state)
    {
        state.monitors.lock_order.keep(found, &schedule);
    }
}
