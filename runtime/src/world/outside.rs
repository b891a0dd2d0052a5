//! Signals from outside (of a child, of a file that the program asked to be signalled for, of a
//! limit): the model runs the program's handlers, so the kernel is given one of ours in the place
//! of each, which ends the test. What is ignored the kernel ignores, too.

use super::signal_names::{FAULTS, LAST};
use super::signals::{Disposition, Signals};
use lockred_protocol::session::STOP_SIGNAL;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the kernel does at each signal, as far as it was reported here: a [`Disposition`].
static KNOWN: [AtomicU8; LAST as usize + 1] =
    [const { AtomicU8::new(Disposition::Default as u8) }; LAST as usize + 1];
/// The kernel was informed of something below the root, which may have to be put back.
static CHANGED: AtomicBool = AtomicBool::new(false);
/// Has the kernel call our handler at a signal; nobody does without a session, or in a child.
static HANDLE: Mutex<Option<fn(i32)>> = Mutex::new(None);

fn handle() -> MutexGuard<'static, Option<fn(i32)>> {
    HANDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the kernel is informed, of handlers by `handle`.
pub fn begin(by: fn(i32)) {
    *handle() = Some(by);
}

/// The kernel is informed of nothing any more.
pub fn end() {
    *handle() = None;
}

/// The program is at its root.
pub fn at_root() {
    CHANGED.store(false, Ordering::Relaxed);
}

/// Signals whose handlers in the kernel are ours, or which have none.
fn is_ours(signal: i32) -> bool {
    // The model sends the program SIGPIPE itself. The C library keeps two.
    let others = [STOP_SIGNAL, libc::SIGPIPE, libc::SIGKILL, libc::SIGSTOP, 32, 33];
    FAULTS.contains(&signal) || others.contains(&signal)
}

/// The program wants something else to happen at a signal: the kernel is informed.
pub fn mirror(all: &Signals, signal: i32) {
    let by = *handle();
    if let Some(by) = by.filter(|_| !is_ours(signal)) {
        set_disposition(signal, all.disposition(signal), by);
    }
}

/// Signals are as they were once.
pub fn mirror_all(all: &Signals) {
    if CHANGED.load(Ordering::Relaxed) {
        (1..=LAST).for_each(|signal| mirror(all, signal));
    }
}

fn set_disposition(signal: i32, wanted: Disposition, handle: fn(i32)) {
    if KNOWN[signal as usize].swap(wanted as u8, Ordering::Relaxed) == wanted as u8 {
        return;
    }
    CHANGED.store(true, Ordering::Relaxed);
    match wanted {
        Disposition::Handle => handle(signal),
        Disposition::Ignore => set(signal, libc::SIG_IGN),
        Disposition::Default => set(signal, libc::SIG_DFL),
    }
}

fn set(signal: i32, action: usize) {
    // SAFETY: neither of the two actions needs a handler.
    unsafe { libc::signal(signal, action) };
}
