//! Values that a program asks the search for: `lockred::choose`, and randomness from the system
//! where that is explored.
//!
//! A thread stops before it chooses, so that a loop of choices is as long as its operations, and a
//! first choice of main, before there are other threads, is the root. Choices of different threads
//! are independent of each other and of everything else.

use crate::machine::event::Event;
use crate::machine::hook::{self, Entered};
use crate::machine::operation::Pending;
use crate::machine::state::Passed;
use crate::scheduler::choice::choose;
use crate::scheduler::event;
use crate::scheduler::stops::stop;
use lockred_protocol::sites::SiteId;

/// Most values that one choice may have (what a word of the schedule log holds).
const MOST: u64 = 1 << 31;

/// One of `0..of`, for the running thread. `what`: how reports call the choice. `passed`: what its
/// caller needs after it.
pub fn value(entered: &mut Entered, of: u32, passed: Passed, what: &str) -> u32 {
    if of < 2 || entered.running.is_none() {
        return 0;
    }
    crate::machine::loops::leave_loop(entered, SiteId(0));
    entered.thread().atomic.open = false;
    stop(entered, Pending::Choosing, passed, SiteId(0));
    event::notify(entered, &Event::WentOn);
    let picked = choose(entered, of as usize);
    event::notify(entered, &Event::Chose { what, picked, of });
    picked as u32
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_choose(of: u64) -> u64 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if of > MOST {
        crate::machine::limits::unsupported(entered, &format!("a choice of {of} values"));
    }
    u64::from(value(entered, of as u32, [of, 0, 0, 0], "chooses"))
}
