//! Atomic regions; above all those that are functions: what a thread does inside of one belongs to
//! one step, except where it has to wait.
//!
//! The first operation in the function is a scheduling point as ever; the others are executed in
//! its step. An operation that cannot be executed yet ends the step, and begins the next one; one
//! that belongs to no recognised primitive (of an allocator of the program's own, say) is a step of
//! its own. A region ends when the function returns, and when a panic starts unwinding.

use crate::machine::hook;
use crate::machine::state::State;
use crate::machine::thread::Thread;

/// Operations and pauses of a region. A loop in it that tries a few times before it waits sees the
/// same every time, as nobody else runs, so its pauses are passed over; one that goes on waits for
/// somebody, and the region ends, so that this can be seen.
const LONGEST: u32 = 1 << 10;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_region_enter() {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let state = &mut *hook::enter();
    if state.running.is_some() {
        enter(state.thread());
    }
}

/// A thread enters a region.
pub fn enter(thread: &mut Thread) {
    thread.atomic.functions += 1;
    thread.atomic.passed = 0;
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_region_leave() {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let state = &mut *hook::enter();
    if state.running.is_some() {
        leave(state.thread());
    }
}

/// A thread leaves a region.
pub fn leave(thread: &mut Thread) {
    // A panic that was caught inside has ended the region already.
    thread.atomic.functions = thread.atomic.functions.saturating_sub(1);
    if thread.atomic.functions == 0 {
        thread.atomic.open = false;
    }
}

/// A panic of the running thread starts unwinding.
pub fn unwinds(state: &mut State) {
    let thread = state.thread();
    thread.atomic.functions = 0;
    thread.atomic.open = false;
    thread.channel.inside.clear();
}

/// Whether the running thread is in such a region, after its first operation, and what it does now
/// belongs to the step.
pub fn goes_on(state: &mut State) -> bool {
    let thread = state.thread();
    if !thread.atomic.open || thread.atomic.functions == 0 {
        return false;
    }
    thread.atomic.passed += 1;
    if thread.atomic.passed < LONGEST {
        return true;
    }
    thread.atomic.functions = 0;
    thread.atomic.open = false;
    false
}

/// Whether a futex call of the running thread belongs to the region that it is in; the region ends
/// with it.
pub fn takes_futex(state: &mut State, address: usize) -> bool {
    if crate::machine::channels::is_inside_modelled_call(state) {
        return true;
    }
    let thread = state.thread();
    let inside =
        thread.atomic.open && (thread.atomic.functions > 0 || thread.is_in_region_of(address));
    thread.atomic.open = false;
    inside
}
