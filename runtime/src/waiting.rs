//! Pauses and waits of the running thread that no primitive asks for: spin hints, yields, loops that only read.

use crate::operation::Pending;
use crate::spin::Advice;
use crate::state::{Mode, state, stop};
use lockred_trace::codes::AssumptionKind;
use lockred_trace::sites::SiteId;

/// The running thread pauses: a hint that it goes round a loop that waits. No scheduling point by itself.
pub fn pause(site: SiteId) {
    let state = state();
    let exploring = state.mode != Mode::Free;
    match state.thread().spin.pause() {
        Advice::Wait => wait_for_change(site),
        Advice::Livelock if exploring => crate::judge::livelock(site),
        Advice::Stop | Advice::Skip | Advice::Livelock => {}
    }
}

/// The running thread is about to do something that no loop that waits does: it may have given up waiting.
pub fn leave_loop(site: SiteId) {
    let state = state();
    if state.below_root && state.thread().spin.acted() {
        crate::host::assume_at(AssumptionKind::BoundedSpin, "", site);
    }
}

/// The running thread waits until a word that it keeps reading changes, or nobody else can run.
pub fn wait_for_change(site: SiteId) {
    state().thread().in_region = false;
    stop(Pending::Spinning, site);
    state().thread().spin.release();
}
