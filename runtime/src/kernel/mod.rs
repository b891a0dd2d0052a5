//! The real kernel: it answers while the program has one thread and nothing was chosen (above the
//! root), and nobody else does.
//!
//! Above the root there is nothing to explore, and nothing is put back. Below it the kernel's state
//! would have to be, and a call that blocks would stop all threads: there such a call ends the test
//! as unsupported, by its name.
//!
//! Time is virtual above the root, too. Waiting takes no real time where nobody outside of the
//! process can end it ([`agents`]); else the process really waits, and the virtual clock goes on by
//! what that took.

pub mod auxiliary;
pub mod fork;
mod hosts;
mod real;
mod sent;
pub mod timers;
pub mod waits;

use crate::faults::leaving;
use crate::host;
use crate::host::numbers;
use crate::machine::hook;
use crate::machine::state::keep_errno;
use crate::world::{agents, shared};
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use sent::refuse_handler;
pub use timers::{closed, duplicated, is_timer};
pub use waits::readable;

/// When the call under way began, in nanoseconds of the real clock.
static SINCE: AtomicU64 = AtomicU64::new(0);

/// The process is set up. As Rust programs do, and before any of theirs runs.
pub fn set_up() {
    // SAFETY: ignoring a signal needs no handler. Where nobody reads, writing fails instead of
    // ending the process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    agents::set_up();
}

/// Nanoseconds of the real clock.
fn real_nanoseconds() -> u64 {
    // SAFETY: all-zero bytes are a valid time, and the call fills it.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The program calls what only the real kernel can answer.
///
/// # Safety
/// `name` is a C string.
unsafe extern "C" fn begins(name: *const c_char) {
    // SAFETY: by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    if host::below_root() {
        host::unsupported(&name);
    }
    sent::refuse(&name);
    numbers::called(&name);
    asked(&name);
    SINCE.store(real_nanoseconds(), Ordering::Relaxed);
}

/// By this call, others may have a part in what happens from now on.
pub fn asked(name: &str) {
    shared::calls(name);
    agents::asked();
    keep_earlier_errno();
}

/// What earlier calls left in `errno` is not what the next one leaves.
pub fn keep_earlier_errno() {
    hook::with(|state| {
        if !state.execution.threads.is_empty() {
            keep_errno(state);
        }
    });
}

/// The call is over. `waits`: it may have waited; then time went on.
extern "C" fn ends(waits: u32) {
    if waits != 0 {
        let took = real_nanoseconds().saturating_sub(SINCE.load(Ordering::Relaxed));
        passed(Duration::from_nanos(took));
    }
    leaving::after_call();
}

/// Virtual time.
fn now() -> u64 {
    hook::with(|state| state.execution.clock)
}

/// Real time that passed while the program waited.
fn passed(took: Duration) {
    hook::with(|state| {
        let clock = state.execution.clock;
        crate::scheduler::timely::advance_to(state, clock.saturating_add(took.as_nanos() as u64));
    });
}

/// Makes a call that really waits, if it does; the virtual clock goes on by that. Nothing else
/// happens below the root.
pub fn waiting<T>(call: impl FnOnce() -> T) -> T {
    if host::below_root() || !agents::were_asked() {
        return call();
    }
    let since = Instant::now();
    let result = call();
    let took = since.elapsed();
    let errno = errno();
    passed(took);
    leaving::after_call();
    crate::machine::state::set_errno(errno);
    result
}

/// What the last call of libc left in the OS thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: the pointer is valid for the OS thread's life.
    unsafe { *libc::__errno_location() }
}

/// Makes a call that others may have a part in (a lock of a file), and that may wait. Above the
/// root.
pub fn waits_or_not<T>(name: &str, call: impl FnOnce() -> T) -> T {
    asked(name);
    waiting(call)
}
