//! Pauses and waits of the running thread that no primitive asks for: spin hints, yields, loops
//! that go round in vain.

use crate::loops::read_only_spin::Advice;
use crate::loops::writing_spin::{self, End, others};
use crate::machine::event::{self, Event};
use crate::machine::hook::Entered;
use crate::machine::operation::Pending;
use crate::machine::state::{NOTHING, Passed, State, stop};
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::sites::SiteId;

/// The running thread pauses: a hint that it goes round a loop that waits. No scheduling point by
/// itself.
pub fn pause(entered: &mut Entered, site: SiteId) {
    if crate::machine::channels::pauses(entered) || crate::loops::region::goes_on(entered) {
        return;
    }
    if entered.thread().loops.read_only_spin.pause() == Advice::Wait {
        return wait_for_change(entered, NOTHING, site);
    }
    // Without hooks of plain accesses, what a round does is not known.
    if !crate::monitor::races::watching() {
        return;
    }
    let others = others(entered);
    let end = entered.thread().loops.writing_spin.pause(others);
    writing_spin::catch_up(entered);
    match end {
        End::On => {}
        End::GaveUp => gave_up(entered, site),
        End::Stutters => {
            entered.thread().atomic.open = false;
            stop(entered, Pending::Stuttering, NOTHING, site);
            event::notify(entered, &Event::WentOn);
            let others = writing_spin::others(entered);
            entered.thread().loops.writing_spin.release(others);
        }
    }
}

/// The running thread waits until a word that it keeps reading changes, or nobody else can run.
/// `passed`: what it does then.
pub fn wait_for_change(entered: &mut Entered, passed: Passed, site: SiteId) {
    entered.thread().atomic.open = false;
    stop(entered, Pending::Spinning, passed, site);
    event::notify(entered, &Event::Changed);
    entered.thread().loops.read_only_spin.release();
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
    writing_spin::catch_up(state);
    if given_up {
        gave_up(state, site);
    }
}

/// The running thread begins a wait that may time out: a round of a loop ends here.
pub fn begin_timed(state: &mut State) {
    leave_reads(state, SiteId(0));
    let others = others(state);
    let end = state.thread().loops.writing_spin.end_round(others);
    writing_spin::catch_up(state);
    if end == End::GaveUp {
        gave_up(state, SiteId(0));
    }
}

/// A loop that waits has given up by itself. (A thread that is alone, and has been since the loop
/// began, gives up at the same iteration in every interleaving.)
pub fn gave_up(state: &mut State, site: SiteId) {
    if crate::monitor::races::watching() {
        crate::machine::limits::assume_at(state, AssumptionKind::BoundedSpin, "", site);
    }
}
