//! What the kernel says of a process: what it has computed, whether it sleeps, in which call, and
//! for whom.

use std::fmt;
use std::fs;
use std::time::Duration;

/// One look at a process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sight {
    /// The processor time that it has used.
    pub cpu: Duration,
    /// Whether it sleeps until something happens. Who waits for a processor, or for a disk, or was
    /// stopped does not.
    pub asleep: bool,
    /// The system call that it is in, and the first argument of that.
    pub call: Option<(u64, u64)>,
    /// The names of the processes that it has started and that still run.
    pub children: Vec<String>,
}

/// What a process waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    looks: u32,
    call: Option<(u64, u64)>,
    children: Vec<String>,
}

impl Sight {
    /// Looks at a process of ours that was not waited for yet.
    pub fn of(process: u32) -> Self {
        let asleep = state(process) == Some('S');
        let reported = asleep.then(|| fs::read_to_string(format!("/proc/{process}/syscall")).ok());
        Self {
            cpu: cpu(process).unwrap_or_default(),
            asleep,
            call: reported.flatten().as_deref().and_then(call),
            children: if asleep { children(process) } else { Vec::new() },
        }
    }

    /// What it waits for, after so many looks that found it asleep.
    pub fn wait(&self, looks: u32) -> Wait {
        Wait { looks, call: self.call, children: self.children.clone() }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.looks / 10;
        let call = match self.call {
            Some((number, first)) => match named(number) {
                Some((name, true)) => format!("the system call `{name}` (descriptor {first})"),
                Some((name, false)) => format!("the system call `{name}`"),
                None => format!("system call {number}"),
            },
            None => "a system call".to_owned(),
        };
        write!(f, "the test waits in {call}, which has not come back for {seconds} s")?;
        match self.children.as_slice() {
            [] => Ok(()),
            [child] => write!(f, "; it has started `{child}`, which still runs"),
            [first, others @ ..] => {
                write!(f, "; it has started `{first}` and {} more, which still run", others.len())
            }
        }
    }
}

/// The processor time that a process has used.
fn cpu(process: u32) -> Option<Duration> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: places for the results.
    let reported = unsafe {
        libc::clock_getcpuclockid(process.cast_signed(), &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    reported.then(|| Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32))
}

/// The letter of a process's state.
fn state(process: u32) -> Option<char> {
    state_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The same in the line that the kernel gives; the program's name comes before it, and may hold
/// anything.
fn state_in(line: &str) -> Option<char> {
    line.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Number and first argument of the call, in the line of the kernel that has them; `None` where it
/// is in none.
fn call(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let first = words.next()?.strip_prefix("0x")?;
    Some((number, u64::from_str_radix(first, 16).ok()?))
}

/// The names of the processes that a process has started and that still run.
fn children(process: u32) -> Vec<String> {
    let list = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let numbers = list.unwrap_or_default();
    let numbers = numbers.split_whitespace().filter_map(|number| number.parse().ok());
    let running = numbers.filter(|&number: &u32| state(number).is_some_and(|state| state != 'Z'));
    let name = |number| fs::read_to_string(format!("/proc/{number}/comm")).ok();
    running.filter_map(name).map(|name| name.trim_end().to_owned()).collect()
}

/// The name of a system call in which processes wait, and whether its first argument is a
/// descriptor.
const fn named(number: u64) -> Option<(&'static str, bool)> {
    Some(match number.cast_signed() {
        libc::SYS_read => ("read", true),
        libc::SYS_readv => ("readv", true),
        libc::SYS_write => ("write", true),
        libc::SYS_writev => ("writev", true),
        libc::SYS_recvfrom => ("recvfrom", true),
        libc::SYS_recvmsg => ("recvmsg", true),
        libc::SYS_sendto => ("sendto", true),
        libc::SYS_sendmsg => ("sendmsg", true),
        libc::SYS_accept => ("accept", true),
        libc::SYS_accept4 => ("accept4", true),
        libc::SYS_connect => ("connect", true),
        libc::SYS_epoll_wait => ("epoll_wait", true),
        libc::SYS_epoll_pwait => ("epoll_pwait", true),
        libc::SYS_epoll_pwait2 => ("epoll_pwait2", true),
        libc::SYS_flock => ("flock", true),
        libc::SYS_fcntl => ("fcntl", true),
        libc::SYS_fsync => ("fsync", true),
        libc::SYS_poll => ("poll", false),
        libc::SYS_ppoll => ("ppoll", false),
        libc::SYS_select => ("select", false),
        libc::SYS_pselect6 => ("pselect6", false),
        libc::SYS_open => ("open", false),
        libc::SYS_openat => ("openat", false),
        libc::SYS_futex => ("futex", false),
        libc::SYS_wait4 => ("wait4", false),
        libc::SYS_waitid => ("waitid", false),
        libc::SYS_pause => ("pause", false),
        libc::SYS_nanosleep => ("nanosleep", false),
        libc::SYS_clock_nanosleep => ("clock_nanosleep", false),
        libc::SYS_rt_sigsuspend => ("rt_sigsuspend", false),
        libc::SYS_rt_sigtimedwait => ("rt_sigtimedwait", false),
        libc::SYS_msgrcv => ("msgrcv", false),
        libc::SYS_msgsnd => ("msgsnd", false),
        libc::SYS_semop => ("semop", false),
        libc::SYS_semtimedop => ("semtimedop", false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_lines_are_taken_apart() {
        assert_eq!(state_in("12 (a) R (b) S 1 2 3"), Some('S'));
        assert_eq!(state_in("12 (a)"), None);
        let line = "61 0xffffffff 0x7ffd 0x0 0x0 0x8 0x7ffe 0x7ffc8 0x7f31";
        assert_eq!(call(line), Some((61, 0xffff_ffff)));
        assert_eq!(call("running"), None);
    }

    #[test]
    fn a_wait_is_reported_in_words() {
        let reported = |call, children: &[&str]| {
            let children = children.iter().map(ToString::to_string).collect();
            Wait { looks: 100, call, children }.to_string()
        };
        let behind = ", which has not come back for 10 s";
        let read = format!("the test waits in the system call `read` (descriptor 3){behind}");
        assert_eq!(reported(Some((0, 3)), &[]), read);
        assert_eq!(
            reported(Some((9999, 3)), &[]),
            format!("the test waits in system call 9999{behind}")
        );
        assert_eq!(
            reported(None, &["sleep"]),
            format!(
                "the test waits in a system call{behind}; it has started `sleep`, which still runs"
            )
        );
        let three = reported(Some((61, 3)), &["a", "b", "c"]);
        assert!(three.contains("`wait4`,") && three.ends_with("`a` and 2 more, which still run"));
    }

    #[test]
    fn who_computes_is_not_asleep() {
        let before = Sight::of(std::process::id());
        while Sight::of(std::process::id()).cpu <= before.cpu {}
        assert!(!before.cpu.is_zero());
    }

    #[test]
    fn who_waits_is_asleep_in_a_call_for_what_it_has_started() {
        // The shell waits for the second one, which waits for its input.
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", "cat; true"]).stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let seen = loop {
            let seen = Sight::of(child.id());
            if seen.asleep && seen.children == ["cat"] {
                break seen;
            }
            std::thread::yield_now();
        };
        // A sandbox may keep the number of the call to itself.
        if let Some((number, _)) = seen.call {
            assert_eq!(named(number), Some(("wait4", false)));
        }
        drop(child.stdin.take());
        let _ = child.wait().unwrap();
    }
}
