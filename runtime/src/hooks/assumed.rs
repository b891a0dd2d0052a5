//! `lockred::assume!`: executions in which a condition is false are left out.
//!
//! The thread that finds it false goes no further, and the others go on until they end or wait for
//! good: so the search learns of all that could have come before, and have made it true. What shows
//! by then (a data race, an abort) comes from what the others do in any case, and counts; how the
//! execution ends does not.

use crate::machine::config::Mode;
use crate::machine::event::Event;
use crate::machine::hook;
use crate::machine::operation::Pending;
use crate::scheduler::event;
use crate::scheduler::stops::stop;
use lockred_protocol::sites::SiteId;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_assumed_not(text: usize, length: usize) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    let state = &mut **entered;
    if state.running.is_none() || state.config.mode == Mode::Free {
        return;
    }
    crate::machine::loops::leave_loop(state, SiteId(0));
    state.thread().atomic.open = false;
    event::notify(entered, &Event::WaitsForGood);
    loop {
        stop(entered, Pending::Never, [text as u64, length as u64, 0, 0], SiteId(0));
    }
}
