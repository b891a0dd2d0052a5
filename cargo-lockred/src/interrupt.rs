//! Ctrl-C (and SIGTERM): noted, and passed on to the cargo that is running; the second one ends us
//! at once.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The process to pass the signal on to; 0 for none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Exit status of the second Ctrl-C.
const STATUS: i32 = 130;

/// Starts to note interruptions.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask, SIG_DFL as the
        // handler.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
        // SAFETY: the handler only touches atomics and calls `kill` and `_exit`, which are
        // async-signal-safe; `action` lives over the call. It fails for invalid signal numbers
        // only.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

extern "C" fn on_signal(_: libc::c_int) {
    if REQUESTED.swap(true, Ordering::SeqCst) {
        // SAFETY: `_exit` is async-signal-safe and does not return.
        unsafe { libc::_exit(STATUS) };
    }
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // SAFETY: `kill` is async-signal-safe. The process is a child of ours that was not waited
        // for yet, so that the number cannot belong to another one.
        unsafe { libc::kill(child, libc::SIGINT) };
    }
}

/// Whether there was one.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// While it lives, interruptions are passed on to a child process. It must go before the child is
/// waited for.
pub struct PassedOn(());

impl PassedOn {
    /// Passes interruptions on to the process with this number.
    pub fn to(process: u32) -> Self {
        CHILD.store(process.cast_signed(), Ordering::SeqCst);
        Self(())
    }
}

impl Drop for PassedOn {
    fn drop(&mut self) {
        CHILD.store(0, Ordering::SeqCst);
    }
}
