//! Which numbers of processes a program learns: made-up ones, so that every process of a check
//! learns the same, until it asks the kernel for something in which the kernel's own show (a child,
//! `/proc`, a call that takes a number).
//!
//! From then on they are the kernel's. A process that has given made-up ones before ends, and the
//! session starts it again with the kernel's from the start: nothing else agrees with what other
//! programs are given. So that such a process leaves nothing behind, above the root what
//! outlives a process (a file that it makes) is one of these calls, too.

use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::state::State;
use crate::session::files as session;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A made-up number was given.
static GIVEN: AtomicBool = AtomicBool::new(false);
/// The kernel's numbers have shown.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Calls in whose arguments or results the kernel's numbers show, or which make what outlives the
/// process.
const SHOWING: &[&str] = &[
    "bind",
    "clock_getcpuclockid",
    "creat",
    "fopen",
    "fopen64",
    "fork",
    "getpgid",
    "getpgrp",
    "getpriority",
    "getsid",
    "getsockopt",
    "ioprio_get",
    "ioprio_set",
    "kcmp",
    "mkdtemp",
    "mkfifo",
    "mknod",
    "mkostemp",
    "mkstemp",
    "mq_open",
    "msgctl",
    "msgget",
    "pidfd_getfd",
    "pidfd_getpid",
    "pidfd_open",
    "posix_spawn",
    "posix_spawnp",
    "prlimit",
    "prlimit64",
    "process_vm_readv",
    "recvmmsg",
    "recvmsg",
    "renameat2",
    "sched_getattr",
    "sched_getparam",
    "sched_getscheduler",
    "sched_rr_get_interval",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "sem_open",
    "semctl",
    "semget",
    "sendmmsg",
    "sendmsg",
    "setpgid",
    "setpgrp",
    "setpriority",
    "setsid",
    "tcgetpgrp",
    "tcgetsid",
    "tcsetpgrp",
];

/// Whether programs learn the kernel's numbers.
pub fn are_kernels() -> bool {
    hook::enter_if_ready().is_none_or(|state| are_kernels_in(&state))
}

/// The same.
pub fn are_kernels_in(state: &State) -> bool {
    let asked = || state.config.request.as_ref().is_some_and(|request| request.environment.numbers);
    SHOWN.load(Ordering::Relaxed) || state.config.mode == Mode::Free || asked()
}

/// The program learns a number: this one, unless it learns the kernel's.
pub fn shown(made_up: i32) -> Option<i32> {
    if are_kernels() {
        return None;
    }
    GIVEN.store(true, Ordering::Relaxed);
    Some(made_up)
}

/// The program asks for something in which the kernel's numbers show.
pub fn show() {
    if are_kernels() {
        return;
    }
    if GIVEN.load(Ordering::Relaxed) {
        session::start_again();
    }
    SHOWN.store(true, Ordering::Relaxed);
}

/// The program makes or changes a file.
pub fn leaves_something() {
    if !super::below_root() {
        show();
    }
}

/// The program makes a call.
pub fn called(name: &str) {
    if SHOWING.contains(&name) {
        show();
    }
}

/// The program calls an external function, by its number.
pub fn called_native(index: u32) {
    static KNOWN: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
    let bit = 1 << (index % 64);
    let word = KNOWN.get(index as usize / 64);
    let is_known = word.is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0);
    if is_known || are_kernels() {
        return;
    }
    if let Some(word) = word {
        word.fetch_or(bit, Ordering::Relaxed);
    }
    called(&session::external(index));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_listed_in_order_and_once() {
        assert!(SHOWING.is_sorted_by(|a, b| a < b));
    }
}
