//! How the running thread goes round loops that wait ([`crate::loops`]), and what others see of
//! that.

use crate::loops::writing_spin::End;
use crate::machine::limits;
use crate::machine::state::State;
use crate::machine::watch::watching;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::sites::SiteId;

/// What threads other than the running one have done so far.
pub fn others(state: &State) -> u64 {
    let all = state.execution.progress;
    all - state.running_thread().progress
}

/// The running thread has done something that others may wait for.
pub fn progress(state: &mut State) {
    let thread = state.thread();
    if !thread.loops.writing_spin.holds_back() {
        thread.progress += 1;
        state.execution.progress += 1;
    }
}

/// Reports what the running thread did while it was stuttering, if it has turned out not to be.
pub fn catch_up(state: &mut State) {
    let thread = state.thread();
    let done = thread.loops.writing_spin.take_held_back();
    thread.progress += done;
    state.execution.progress += done;
}

/// The running thread's wait has timed out.
pub fn timed_out(state: &mut State) {
    let others = others(state);
    let spin = &mut state.thread().loops.writing_spin;
    if spin.is_stuttering() {
        spin.release(others);
    }
}

/// The running thread is about to do something else than read: it may have given up a loop that
/// only reads.
pub fn leave_reads(state: &mut State, site: SiteId) {
    if state.below_root && state.thread().loops.read_only_spin.acts() {
        gave_up(state, site);
    }
}

/// The running thread is about to do something that no loop that waits does: it may have given up
/// waiting.
pub fn leave_loop(state: &mut State, site: SiteId) {
    if !state.below_root {
        return;
    }
    let others = others(state);
    let thread = state.thread();
    let given_up = thread.loops.read_only_spin.acts() | thread.loops.writing_spin.leave(others);
    catch_up(state);
    if given_up {
        gave_up(state, site);
    }
}

/// The running thread begins a wait that may time out: a round of a loop ends here.
pub fn begin_timed(state: &mut State) {
    leave_reads(state, SiteId(0));
    let others = others(state);
    let end = state.thread().loops.writing_spin.end_round(others);
    catch_up(state);
    if end == End::GaveUp {
        gave_up(state, SiteId(0));
    }
}

/// A loop that waits has given up by itself. (A thread that is alone, and has been since the loop
/// began, gives up at the same iteration in every interleaving.)
pub fn gave_up(state: &mut State, site: SiteId) {
    if watching() {
        limits::assume_at(state, AssumptionKind::BoundedSpin, "", site);
    }
}
