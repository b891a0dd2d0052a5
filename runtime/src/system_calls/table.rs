//! What answers each system call: a model of the libc function of the same meaning, or the real
//! kernel. Calls that ask for the process or for processors, and those about signals, never come
//! here ([`crate::models::system_call`]).

use super::fill::{Arguments, Fill};
use crate::hooks::blocks as memory;
use crate::hooks::futex;
use crate::hooks::process;
use crate::hooks::pthread;
use crate::hooks::randomness;
use crate::hooks::time;
use crate::kernel::{auxiliary, fork, timers, waits};
use crate::machine::hook;
use crate::models::{descriptors, file_times, files, paths, usage};
use libc::{MAP_FAILED, c_long};
use std::ptr::with_exposed_provenance as from;
use std::ptr::with_exposed_provenance_mut as to;

/// What answers a system call.
#[derive(Clone, Copy)]
pub enum Answer {
    /// A model; -1 stands for the error in `errno`.
    Model(unsafe fn(Arguments) -> i64),
    /// The kernel, at any time: it looks, and fills these places.
    Looks(&'static [Fill]),
    /// The kernel, at any time, which is reported as an assumption below the root.
    Assumed,
    /// The kernel above the root, and nobody below it.
    Real,
}

/// A model that is safe to call.
macro_rules! safe {
    (|$arguments:ident| $call:expr) => {
        Some(Answer::Model(|$arguments: Arguments| i64::from($call)))
    };
}

/// A model that trusts its arguments.
macro_rules! model {
    (|$arguments:ident| $call:expr) => {
        // SAFETY: the program makes the call with these arguments.
        Some(Answer::Model(|$arguments: Arguments| unsafe { $call as i64 }))
    };
}

/// What answers the system call of this number; `None`: nothing does, at any time.
pub fn answer(number: c_long) -> Option<Answer> {
    files_and_memory(number)
        .or_else(|| threads_and_time(number))
        .or_else(|| waiting(number))
        .or_else(|| the_kernels(number))
}

#[rustfmt::skip]
fn files_and_memory(number: c_long) -> Option<Answer> {
    match number {
        libc::SYS_read => model!(|a| files::__lr_libc_read(a[0] as i32, to(a[1]), a[2])),
        libc::SYS_readv => model!(|a| files::__lr_libc_readv(a[0] as i32, from(a[1]), a[2] as i32)),
        libc::SYS_pread64 => model!(|a| files::__lr_libc_pread(a[0] as i32, to(a[1]), a[2], a[3] as i64)),
        libc::SYS_write => model!(|a| files::__lr_libc_write(a[0] as i32, from(a[1]), a[2])),
        libc::SYS_writev => model!(|a| files::__lr_libc_writev(a[0] as i32, from(a[1]), a[2] as i32)),
        libc::SYS_pwrite64 => model!(|a| files::__lr_libc_pwrite(a[0] as i32, from(a[1]), a[2], a[3] as i64)),
        libc::SYS_open => model!(|a| paths::__lr_libc_open(from(a[0]), a[1] as i32, a[2] as u32)),
        libc::SYS_openat => model!(|a| paths::__lr_libc_openat(a[0] as i32, from(a[1]), a[2] as i32, a[3] as u32)),
        libc::SYS_close => model!(|a| files::__lr_libc_close(a[0] as i32)),
        libc::SYS_lseek => model!(|a| files::__lr_libc_lseek(a[0] as i32, a[1] as i64, a[2] as i32)),
        libc::SYS_fsync => model!(|a| files::__lr_libc_fsync(a[0] as i32)),
        libc::SYS_fdatasync => model!(|a| files::__lr_libc_fdatasync(a[0] as i32)),
        libc::SYS_ftruncate => model!(|a| files::__lr_libc_ftruncate(a[0] as i32, a[1] as i64)),
        libc::SYS_fcntl => model!(|a| descriptors::__lr_libc_fcntl(a[0] as i32, a[1] as i32, a[2])),
        libc::SYS_ioctl => model!(|a| files::__lr_libc_ioctl(a[0] as i32, a[1] as u64, a[2])),
        libc::SYS_dup => model!(|a| descriptors::__lr_libc_dup(a[0] as i32)),
        libc::SYS_dup2 => model!(|a| descriptors::__lr_libc_dup2(a[0] as i32, a[1] as i32)),
        libc::SYS_dup3 => model!(|a| descriptors::__lr_libc_dup3(a[0] as i32, a[1] as i32, a[2] as i32)),
        libc::SYS_mkdir => model!(|a| paths::__lr_libc_mkdir(from(a[0]), a[1] as u32)),
        libc::SYS_rmdir => model!(|a| paths::__lr_libc_rmdir(from(a[0]))),
        libc::SYS_unlink => model!(|a| paths::__lr_libc_unlink(from(a[0]))),
        libc::SYS_unlinkat => model!(|a| paths::__lr_libc_unlinkat(a[0] as i32, from(a[1]), a[2] as i32)),
        libc::SYS_rename => model!(|a| paths::__lr_libc_rename(from(a[0]), from(a[1]))),
        libc::SYS_mkdirat => model!(|a| paths::__lr_libc_mkdirat(a[0] as i32, from(a[1]), a[2] as u32)),
        libc::SYS_renameat => model!(|a| paths::__lr_libc_renameat(a[0] as i32, from(a[1]), a[2] as i32, from(a[3]))),
        libc::SYS_link => model!(|a| paths::__lr_libc_link(from(a[0]), from(a[1]))),
        libc::SYS_linkat => model!(|a| paths::__lr_libc_linkat(a[0] as i32, from(a[1]), a[2] as i32, from(a[3]), a[4] as i32)),
        libc::SYS_symlink => model!(|a| paths::__lr_libc_symlink(from(a[0]), from(a[1]))),
        libc::SYS_symlinkat => model!(|a| paths::__lr_libc_symlinkat(from(a[0]), a[1] as i32, from(a[2]))),
        libc::SYS_readlink => model!(|a| paths::__lr_libc_readlink(from(a[0]), to(a[1]), a[2])),
        libc::SYS_newfstatat => model!(|a| paths::__lr_libc_fstatat(a[0] as i32, from(a[1]), to(a[2]), a[3] as i32)),
        libc::SYS_utimensat => model!(|a| file_times::__lr_libc_utimensat(a[0] as i32, from(a[1]), from(a[2]), a[3] as i32)),
        libc::SYS_statx => model!(|a| paths::__lr_libc_statx(a[0] as i32, from(a[1]), a[2] as i32, a[3] as u32, to(a[4]))),
        libc::SYS_stat => model!(|a| paths::__lr_libc_stat(from(a[0]), to(a[1]))),
        libc::SYS_lstat => model!(|a| paths::__lr_libc_lstat(from(a[0]), to(a[1]))),
        libc::SYS_fstat => model!(|a| paths::__lr_libc_fstat(a[0] as i32, to(a[1]))),
        libc::SYS_mmap => safe!(|a| mapped(memory::__lr_libc_mmap(to(a[0]), a[1], a[2] as i32, a[3] as i32, a[4] as i32, a[5] as i64))),
        libc::SYS_munmap => safe!(|a| memory::__lr_libc_munmap(to(a[0]), a[1])),
        libc::SYS_mprotect => safe!(|a| memory::__lr_libc_mprotect(to(a[0]), a[1], a[2] as i32)),
        libc::SYS_madvise => safe!(|a| memory::__lr_libc_madvise(to(a[0]), a[1], a[2] as i32)),
        _ => None,
    }
}

/// What `mmap` gives, as the system call does.
fn mapped(address: *mut u8) -> i64 {
    if address == MAP_FAILED.cast() { -1 } else { address as i64 }
}

#[rustfmt::skip]
fn threads_and_time(number: c_long) -> Option<Answer> {
    match number {
        libc::SYS_futex => safe!(|a| futex::futex(&mut hook::enter(), a[0], a[1] as i32, a[2] as u32, a[3], a[5] as u32, own())),
        libc::SYS_sched_yield => safe!(|_a| pthread::__lr_libc_sched_yield()),
        libc::SYS_exit_group => safe!(|a| ends(a[0] as i32)),
        libc::SYS_fork | libc::SYS_vfork => safe!(|_a| fork::__lr_libc_fork()),
        libc::SYS_execve => model!(|a| fork::__lr_libc_execve(from(a[0]), from(a[1]), from(a[2]))),
        libc::SYS_getrandom => safe!(|a| randomness::__lr_libc_getrandom(to(a[0]), a[1], a[2] as u32) as i64),
        libc::SYS_clock_gettime => safe!(|a| time::__lr_libc_clock_gettime(a[0] as i32, to(a[1]))),
        libc::SYS_gettimeofday => safe!(|a| time::__lr_libc_gettimeofday(to(a[0]), to(a[1]))),
        libc::SYS_time => safe!(|a| time::__lr_libc_time(to(a[0]))),
        libc::SYS_times => model!(|a| usage::__lr_libc_times(to(a[0]))),
        libc::SYS_sysinfo => model!(|a| usage::__lr_libc_sysinfo(to(a[0]))),
        libc::SYS_getrusage => model!(|a| usage::__lr_libc_getrusage(a[0] as i32, to(a[1]))),
        libc::SYS_nanosleep => safe!(|a| time::__lr_libc_nanosleep(from(a[0]), to(a[1]))),
        libc::SYS_clock_nanosleep => {
            safe!(|a| -time::__lr_libc_clock_nanosleep(a[0] as i32, a[1] as i32, from(a[2]), to(a[3])))
        }
        libc::SYS_prctl => model!(|a| auxiliary::prctl(a)),
        _ => None,
    }
}

/// The function that the program calls for a system call.
fn own() -> usize {
    super::__lr_libc_syscall as *const () as usize
}

/// The process ends by `exit_group`.
fn ends(status: i32) -> i64 {
    process::__lr_libc__exit(status)
}

#[rustfmt::skip]
fn waiting(number: c_long) -> Option<Answer> {
    match number {
        libc::SYS_poll => model!(|a| waits::__lr_libc_poll(to(a[0]), a[1] as u64, a[2] as i32)),
        libc::SYS_ppoll => model!(|a| waits::__lr_libc_ppoll(to(a[0]), a[1] as u64, from(a[2]), from(a[3]))),
        libc::SYS_select => model!(|a| waits::__lr_libc_select(a[0] as i32, to(a[1]), to(a[2]), to(a[3]), to(a[4]))),
        libc::SYS_pselect6 => {
            model!(|a| waits::__lr_libc_pselect(a[0] as i32, to(a[1]), to(a[2]), to(a[3]), from(a[4]), from(0)))
        }
        libc::SYS_epoll_wait => model!(|a| waits::__lr_libc_epoll_wait(a[0] as i32, to(a[1]), a[2] as i32, a[3] as i32)),
        libc::SYS_epoll_pwait => {
            model!(|a| waits::__lr_libc_epoll_pwait(a[0] as i32, to(a[1]), a[2] as i32, a[3] as i32, from(a[4])))
        }
        libc::SYS_epoll_pwait2 => {
            model!(|a| waits::__lr_libc_epoll_pwait2(a[0] as i32, to(a[1]), a[2] as i32, from(a[3]), from(a[4])))
        }
        libc::SYS_timerfd_create => safe!(|a| timers::__lr_libc_timerfd_create(a[0] as i32, a[1] as i32)),
        libc::SYS_timerfd_settime => {
            model!(|a| timers::__lr_libc_timerfd_settime(a[0] as i32, a[1] as i32, from(a[2]), to(a[3])))
        }
        libc::SYS_timerfd_gettime => model!(|a| timers::__lr_libc_timerfd_gettime(a[0] as i32, to(a[1]))),
        _ => None,
    }
}

/// Bytes of a `utsname`.
const NAMES: usize = size_of::<libc::utsname>();

/// What the kernel itself answers.
fn the_kernels(number: c_long) -> Option<Answer> {
    Some(match number {
        libc::SYS_getuid
        | libc::SYS_geteuid
        | libc::SYS_getgid
        | libc::SYS_getegid
        | libc::SYS_getpgid
        | libc::SYS_getsid
        | libc::SYS_membarrier
        | libc::SYS_access
        | libc::SYS_faccessat
        | libc::SYS_faccessat2 => Answer::Looks(&[]),
        libc::SYS_readlinkat => Answer::Looks(&[Fill::Result(2)]),
        libc::SYS_getdents64 => Answer::Looks(&[Fill::Result(1)]),
        libc::SYS_getcwd => Answer::Looks(&[Fill::Result(0)]),
        libc::SYS_uname => Answer::Looks(&[Fill::Bytes(0, NAMES)]),
        libc::SYS_clock_getres => Answer::Looks(&[Fill::Bytes(1, 16)]),
        libc::SYS_getrlimit => Answer::Looks(&[Fill::Bytes(1, 16)]),
        libc::SYS_renameat2
        | libc::SYS_chmod
        | libc::SYS_fchmod
        | libc::SYS_fchmodat
        | libc::SYS_chown
        | libc::SYS_fchown
        | libc::SYS_fallocate
        | libc::SYS_fadvise64
        | libc::SYS_copy_file_range
        | libc::SYS_sendfile
        | libc::SYS_msync
        | libc::SYS_umask
        | libc::SYS_chdir
        | libc::SYS_fchdir => Answer::Assumed,
        // What makes threads, ends them, changes how signals or memory are handled, or has the
        // kernel write to memory later.
        libc::SYS_clone
        | libc::SYS_clone3
        | libc::SYS_exit
        | libc::SYS_execveat
        | libc::SYS_brk
        | libc::SYS_mremap
        | libc::SYS_remap_file_pages
        | libc::SYS_pkey_mprotect
        | libc::SYS_shmat
        | libc::SYS_shmdt
        | libc::SYS_rt_sigaction
        | libc::SYS_rt_sigprocmask
        | libc::SYS_rt_sigreturn
        | libc::SYS_rt_sigsuspend
        | libc::SYS_rt_sigtimedwait
        | libc::SYS_rt_sigqueueinfo
        | libc::SYS_rt_tgsigqueueinfo
        | libc::SYS_sigaltstack
        | libc::SYS_signalfd
        | libc::SYS_signalfd4
        | libc::SYS_kill
        | libc::SYS_tkill
        | libc::SYS_tgkill
        | libc::SYS_pidfd_send_signal
        | libc::SYS_pause
        | libc::SYS_alarm
        | libc::SYS_setitimer
        | libc::SYS_timer_create
        | libc::SYS_timer_settime
        | libc::SYS_arch_prctl
        | libc::SYS_set_tid_address
        | libc::SYS_set_robust_list
        | libc::SYS_rseq
        | libc::SYS_futex_waitv
        | libc::SYS_io_setup
        | libc::SYS_io_submit
        | libc::SYS_io_uring_setup
        | libc::SYS_io_uring_enter
        | libc::SYS_io_uring_register
        | libc::SYS_userfaultfd
        | libc::SYS_ptrace
        | libc::SYS_process_vm_writev
        | libc::SYS_process_madvise
        | libc::SYS_seccomp
        | libc::SYS_personality
        | libc::SYS_modify_ldt
        | libc::SYS_close_range
        | libc::SYS_mseal => return None,
        _ => Answer::Real,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_go_past_the_runtime_has_no_answer() {
        for number in [
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_exit,
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_arch_prctl,
            libc::SYS_io_uring_setup,
            libc::SYS_brk,
            libc::SYS_mremap,
            libc::SYS_ptrace,
        ] {
            assert!(answer(number).is_none(), "{number}");
        }
    }

    #[test]
    fn what_nobody_has_thought_of_is_the_kernels_above_the_root_alone() {
        for number in [libc::SYS_splice, libc::SYS_mlock, libc::SYS_landlock_create_ruleset, -1] {
            assert!(matches!(answer(number), Some(Answer::Real)), "{number}");
        }
    }
}
