//! Pauses and waits of the running thread that no primitive asks for: spin hints, yields, loops that go round in vain.

use crate::operation::Pending;
use crate::rounds::{self, End, others};
use crate::spin::Advice;
use crate::state::{NOTHING, Passed, state, stop};
use lockred_trace::codes::AssumptionKind;
use lockred_trace::sites::SiteId;

/// The running thread pauses: a hint that it goes round a loop that waits. No scheduling point by itself.
pub fn pause(site: SiteId) {
    if crate::channels::pauses() || crate::region::goes_on() {
        return;
    }
    if state().thread().spin.pause() == Advice::Wait {
        return wait_for_change(NOTHING, site);
    }
    // Without hooks of plain accesses, what a round does is not known.
    if !crate::plain::watching() {
        return;
    }
    let others = others();
    let end = state().thread().rounds.pause(others);
    rounds::catch_up();
    match end {
        End::On => {}
        End::GaveUp => gave_up(site),
        End::Idle => {
            state().thread().in_region = false;
            stop(Pending::Idling, NOTHING, site);
            crate::gate::went_on();
            state().thread().rounds.release(rounds::others());
        }
    }
}

/// The running thread waits until a word that it keeps reading changes, or nobody else can run. `passed`: what it does then.
pub fn wait_for_change(passed: Passed, site: SiteId) {
    state().thread().in_region = false;
    stop(Pending::Spinning, passed, site);
    crate::gate::waited_for_change();
    state().thread().spin.release();
}

/// The running thread is about to do something else than read: it may have given up a loop that only reads.
pub fn leave_reads(site: SiteId) {
    if state().below_root && state().thread().spin.acts() {
        gave_up(site);
    }
}

/// The running thread is about to do something that no loop that waits does: it may have given up waiting.
pub fn leave_loop(site: SiteId) {
    if !state().below_root {
        return;
    }
    let others = others();
    let thread = state().thread();
    let given_up = thread.spin.acts() | thread.rounds.leave(others);
    rounds::catch_up();
    if given_up {
        gave_up(site);
    }
}

/// The running thread begins a wait that may time out: a round of a loop ends here.
pub fn begin_timed() {
    leave_reads(SiteId(0));
    let others = others();
    let end = state().thread().rounds.end_round(others);
    rounds::catch_up();
    if end == End::GaveUp {
        gave_up(SiteId(0));
    }
}

/// A loop that waits has given up by itself. (A thread that is alone, and has been since the loop began, gives up at the same
/// iteration in every interleaving.)
pub fn gave_up(site: SiteId) {
    if crate::plain::watching() {
        crate::host::assume_at(AssumptionKind::BoundedSpin, "", site);
    }
}
