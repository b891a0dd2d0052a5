//! Calls of `syscall`, which the row of that name does not tell apart: those that keep no address
//! and give none.

/// The number of the system call that waits for a word, and wakes.
pub const FUTEX: u64 = if cfg!(target_arch = "x86_64") { 202 } else { 98 };

/// The others that std and what programs are made of make: numbers of x86-64.
const OTHERS: &[(u64, &str)] = &[
    (0, "read"),
    (1, "write"),
    (3, "close"),
    (24, "sched_yield"),
    (35, "nanosleep"),
    (39, "getpid"),
    (74, "fsync"),
    (96, "gettimeofday"),
    (186, "gettid"),
    (203, "sched_setaffinity"),
    (204, "sched_getaffinity"),
    (228, "clock_gettime"),
    (230, "clock_nanosleep"),
    (231, "exit_group"),
    (234, "tgkill"),
    (257, "openat"),
    (262, "newfstatat"),
    (290, "eventfd2"),
    (309, "getcpu"),
    (318, "getrandom"),
    (326, "copy_file_range"),
    (332, "statx"),
    (439, "faccessat2"),
];

/// Whether the system call of this number keeps no address of the program's, and gives none.
/// `None`: the number is not known.
///
/// What is not listed is taken to keep all that it is given, and to give anything: `mmap` gives
/// memory, `epoll_ctl` keeps 8 bytes.
#[must_use]
pub fn keeps_nothing(number: Option<u64>) -> bool {
    let Some(number) = number else { return false };
    let is_here = cfg!(target_arch = "x86_64");
    number == FUTEX || is_here && OTHERS.iter().any(|other| other.0 == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_or_keeps_an_address_is_not_listed() {
        for (number, name) in
            [(9, "mmap"), (25, "mremap"), (233, "epoll_ctl"), (131, "sigaltstack")]
        {
            assert!(!keeps_nothing(Some(number)), "{name}");
        }
        assert!(!keeps_nothing(None));
        assert!(keeps_nothing(Some(FUTEX)));
    }
}
