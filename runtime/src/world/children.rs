//! Child processes of the process, and whether it is one itself.

use std::sync::atomic::{AtomicBool, Ordering};

/// This process is a child of an exploration process.
static CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a child that the program forked: the kernel, not the model, ends it.
pub fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// This process is one from now on.
pub fn become_child() {
    CHILD.store(true, Ordering::Relaxed);
}

/// Whether the process has children that it has not waited for.
pub fn has_any() -> bool {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: all-zero bytes are a valid place for what is found; nothing is taken away (WNOWAIT).
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut info, options) == 0
    }
}

/// Whether a child of the process still runs.
pub fn one_runs() -> bool {
    if !has_any() {
        return false;
    }
    // SAFETY: only asks. The process has one OS thread, whose number is its own.
    let own = unsafe { libc::getpid() };
    match std::fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(children) => children.split_ascii_whitespace().any(runs),
        // Where the system does not list them, those that have ended count, too.
        Err(_) => true,
    }
}

/// Whether a process has not ended yet.
fn runs(number: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    // After its name, which may be anything, is its state.
    let state = status.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X' | 'x'))
}
