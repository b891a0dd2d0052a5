//! Pauses and waits of the running thread that no primitive asks for: spin hints, yields, loops
//! that go round in vain.

use crate::loops::read_only_spin::Advice;
use crate::loops::writing_spin::End;
use crate::machine::event::Event;
use crate::machine::hook::Entered;
use crate::machine::loops;
use crate::machine::loops::others;
use crate::machine::operation::Pending;
use crate::machine::state::NOTHING;
use crate::machine::state::Passed;
use crate::scheduler::event;
use crate::scheduler::stops::stop;
use lockred_protocol::sites::SiteId;

/// The running thread pauses: a hint that it goes round a loop that waits. No scheduling point by
/// itself.
pub fn pause(entered: &mut Entered, site: SiteId) {
    if crate::scheduler::acts::pauses(entered) || crate::machine::region::goes_on(entered) {
        return;
    }
    if entered.thread().loops.read_only_spin.pause() == Advice::Wait {
        return wait_for_change(entered, NOTHING, site);
    }
    // Without hooks of plain accesses, what a round does is not known.
    if !crate::machine::watch::watching() {
        return;
    }
    let others = others(entered);
    let end = entered.thread().loops.writing_spin.pause(others);
    loops::catch_up(entered);
    match end {
        End::On => {}
        End::GaveUp => loops::gave_up(entered, site),
        End::Stutters => {
            entered.thread().atomic.open = false;
            stop(entered, Pending::Stuttering, NOTHING, site);
            event::notify(entered, &Event::WentOn);
            let others = loops::others(entered);
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
