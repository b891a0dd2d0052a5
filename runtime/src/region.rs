//! Functions that are atomic regions: what a thread does inside of one belongs to one step, except where it has to wait.
//!
//! The first operation in the function is a scheduling point as ever; the others are executed in its step. An operation that cannot be
//! executed yet ends the step, and begins the next one. A region ends when the function returns, and when a panic starts unwinding.

use crate::state::{installed, state};

/// Pauses in a region that are passed over: a loop that tries a few times before it waits sees the same every time, as nobody else
/// runs. One that goes on pausing waits for somebody, in the ordinary way.
const PASSED: u32 = 1 << 10;

fn runs() -> bool {
    installed().is_some_and(|state| state.running.is_some())
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_region_enter() {
    if runs() {
        let thread = state().thread();
        thread.regions += 1;
        thread.pauses = 0;
    }
}

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_region_leave() {
    if runs() {
        let thread = state().thread();
        // A panic that was caught inside has ended the region already.
        thread.regions = thread.regions.saturating_sub(1);
        if thread.regions == 0 {
            thread.in_region = false;
        }
    }
}

/// A panic of the running thread starts unwinding.
pub fn unwinds() {
    let thread = state().thread();
    thread.regions = 0;
    thread.in_region = false;
}

/// Whether a pause of the running thread is passed over.
pub fn passes_pause() -> bool {
    let thread = state().thread();
    if !thread.in_region || thread.regions == 0 {
        return false;
    }
    thread.pauses += 1;
    thread.pauses < PASSED
}
