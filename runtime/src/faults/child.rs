//! Signals of a child that the program forked: the kernel has the program's own handlers and mask, and acts on them.

use crate::world::signal_names::{LAST, is_valid};
use crate::world::signals::{Action, Set, Signals};

/// Blocks all signals until the value goes: none comes between the child's birth and its handlers.
pub struct Blocked(libc::sigset_t);

impl Blocked {
    /// Blocks them.
    pub fn all() -> Self {
        // SAFETY: all-zero bytes are a valid set, and the calls fill the sets.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: a set that the kernel gave.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

/// The process is a child that was just forked, with all signals blocked: the kernel takes over what its one thread and its
/// parent wanted. Nobody has the state: handlers may run at once.
pub fn begin(blocked: Blocked, signals: &Signals, thread: u32) {
    std::mem::forget(blocked);
    for signal in (1..=LAST).filter(|&signal| is_valid(signal)) {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    signals.actions().for_each(|(signal, action)| set_action(signal, action));
    set_mask(signals.mask(thread));
}

/// What the kernel is to do at a signal.
pub fn set_action(signal: i32, wanted: Action) {
    // SAFETY: all-zero bytes are a valid action; the handler is the program's own, and a set of signals begins with the kernel's.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = wanted.handler;
        action.sa_flags = wanted.flags;
        (&raw mut action.sa_mask).cast::<Set>().write(wanted.mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// What the kernel is to block.
pub fn set_mask(mask: Set) {
    // SAFETY: all-zero bytes are a valid set, which begins with the kernel's.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        (&raw mut set).cast::<Set>().write(mask);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}
