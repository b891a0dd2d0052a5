//! What signals are called, and what they do to a process that has said nothing about them.

/// What a signal does by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefaultAction {
    /// The process dies.
    Terminate,
    /// Nothing.
    Ignore,
    /// The process stops, until it is asked to go on.
    Stop,
}

/// The standard signals of Linux on x86-64, by number from 1.
const STANDARD: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The first of the real-time signals that glibc leaves to programs.
const FIRST_REAL_TIME: i32 = 34;
/// The last signal.
pub const LAST: i32 = 64;

/// Signals of what the program does.
pub const FAULTS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGTRAP];

/// Whether a program may name this signal. (glibc keeps 32 and 33 for itself.)
pub const fn is_valid(signal: i32) -> bool {
    matches!(signal, 1..=31 | FIRST_REAL_TIME..=LAST)
}

/// Whether several of one signal wait one after the other.
pub const fn queues(signal: i32) -> bool {
    signal >= FIRST_REAL_TIME
}

/// The name of a signal.
pub fn name(signal: i32) -> String {
    match signal {
        1..=31 => STANDARD[signal as usize - 1].to_owned(),
        FIRST_REAL_TIME => "SIGRTMIN".to_owned(),
        LAST => "SIGRTMAX".to_owned(),
        35..LAST => format!("SIGRTMIN+{}", signal - FIRST_REAL_TIME),
        _ => format!("signal {signal}"),
    }
}

/// What a signal does by default (signal(7)).
pub const fn default_action(signal: i32) -> DefaultAction {
    match signal {
        libc::SIGCHLD | libc::SIGCONT | libc::SIGURG | libc::SIGWINCH => DefaultAction::Ignore,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => DefaultAction::Stop,
        _ => DefaultAction::Terminate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_called_by_their_names() {
        for (signal, expected) in [
            (libc::SIGUSR1, "SIGUSR1"),
            (libc::SIGUSR2, "SIGUSR2"),
            (libc::SIGSEGV, "SIGSEGV"),
            (libc::SIGSYS, "SIGSYS"),
            (libc::SIGIO, "SIGIO"),
            (34, "SIGRTMIN"),
            (40, "SIGRTMIN+6"),
            (64, "SIGRTMAX"),
            (32, "signal 32"),
        ] {
            assert_eq!(name(signal), expected);
        }
    }

    #[test]
    fn programs_may_not_name_the_signals_of_glibc() {
        let refused: Vec<i32> = (-1..=65).filter(|&signal| !is_valid(signal)).collect();
        assert_eq!(refused, [-1, 0, 32, 33, 65]);
    }
}
