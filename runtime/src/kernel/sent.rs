//! Signals that the real kernel would send to the program. Programs' handlers are the model's: the
//! kernel runs none of them.
//!
//! Where the model cannot know when such a signal comes, the test ends as unsupported: at the call
//! that leads to it, where that is known. (The handler of ours in the kernel, see
//! [`outside`](crate::world::outside), would end it at a place that depends on the machine, or not
//! at all.)

use crate::host;
use crate::machine::hook;
use crate::world::children;
use crate::world::signal_names::name as signal_name;

/// Whether a handler of the program's takes a signal.
fn has_handler(signal: i32) -> bool {
    hook::with(|state| state.execution.signals.has_handler(signal))
}

/// Refuses a call that leads to a signal with a handler.
pub fn refuse(call: &str) {
    let signal = match call {
        "fork" | "posix_spawn" | "posix_spawnp" => libc::SIGCHLD,
        // Only `write` says in time that nobody reads, see `nobody_reads`.
        "send" | "sendto" | "sendmsg" | "sendmmsg" | "splice" | "tee" | "vmsplice" => libc::SIGPIPE,
        _ => return,
    };
    if has_handler(signal) {
        host::unsupported(&format!("{call} with a handler of {}", signal_name(signal)));
    }
}

/// Refuses a handler of a signal that may come at any time from now on.
pub fn refuse_handler(signal: i32) {
    if signal == libc::SIGCHLD && children::has_any() {
        host::unsupported("a handler of SIGCHLD while child processes run");
    }
}
