//! File descriptors: what is opened below the root is closed at a restore, positions go back, what
//! would block there is refused.

use crate::host;
use crate::world::descriptors as world;
use libc::c_int;

/// The program opened a descriptor.
pub fn opened(fd: i32) -> i32 {
    if fd >= 0 && host::below_root() {
        host::outside();
        world::opened(fd);
    }
    fd
}

/// Whether a descriptor has to be open again at the root.
fn is_of_root(fd: i32) -> bool {
    host::below_root() && world::is_of_root(fd)
}

/// Whether a descriptor is to be closed in earnest: not if it has to be open again at the root.
pub fn closes(fd: i32) -> bool {
    if !host::below_root() {
        return true;
    }
    host::outside();
    world::closed(fd);
    !is_of_root(fd)
}

/// Whether a descriptor gives random bytes: /dev/random and /dev/urandom (devices 1:8 and 1:9).
pub fn is_random(fd: i32) -> bool {
    // SAFETY: all-zero bytes are a valid `stat`, which the call fills.
    let status = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &raw mut status) != 0 {
            return false;
        }
        status
    };
    let random = [libc::makedev(1, 8), libc::makedev(1, 9)];
    status.st_mode & libc::S_IFMT == libc::S_IFCHR && random.contains(&status.st_rdev)
}

/// A use of this descriptor must not block, nor change what no restore puts back: below the root,
/// pipes, sockets and the like are refused.
pub fn must_not_block(fd: i32, call: &str) {
    if !host::below_root() {
        return;
    }
    host::outside();
    // SAFETY: all-zero bytes are a valid `stat`, which the call fills.
    let kind = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &raw mut status) != 0 {
            return;
        }
        status.st_mode & libc::S_IFMT
    };
    match kind {
        libc::S_IFIFO => host::unsupported(&format!("{call} on a pipe")),
        libc::S_IFSOCK => host::unsupported(&format!("{call} on a socket")),
        // Those that have no kind are the kernel's own objects.
        0 => host::unsupported(&format!("{call} on {}", object(fd))),
        _ => {}
    }
}

/// What kind of object of the kernel's a descriptor is.
fn object(fd: i32) -> &'static str {
    if crate::kernel::is_timer(fd) {
        return "a timer (timerfd)";
    }
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
    let link = link.to_string_lossy();
    let is = |kind: &str| link.contains(kind);
    match () {
        () if is("eventfd") => "an eventfd",
        () if is("eventpoll") => "an epoll descriptor",
        () if is("signalfd") => "a signalfd",
        () if is("inotify") => "an inotify descriptor",
        () if is("pidfd") => "a pidfd",
        () => "an object of the kernel",
    }
}

/// Commands of `fcntl` whose arguments or results are numbers of processes: who has a lock, and
/// whom a file signals (`F_SETOWN_EX` and `F_GETOWN_EX` have no names here).
const NAMING_PROCESSES: [c_int; 6] =
    [libc::F_GETLK, libc::F_OFD_GETLK, libc::F_SETOWN, libc::F_GETOWN, 15, 16];

/// fcntl: a duplicate is a new descriptor. What only looks is asked at any time; what locks files
/// or changes what is open is not put back.
///
/// # Safety
/// As for the C function, with an argument of pointer size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the program's own call, passed on.
    let call = || unsafe { libc::fcntl(fd, command, argument) };
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicated(fd, call()),
        libc::F_GETFD | libc::F_GETFL | libc::F_SETFD => call(),
        // What was opened below the root is closed again.
        libc::F_SETFL if !is_of_root(fd) => call(),
        _ if host::below_root() => host::unsupported("fcntl"),
        _ if NAMING_PROCESSES.contains(&command) => {
            crate::host::numbers::show();
            crate::kernel::waits_or_not("fcntl", call)
        }
        _ => crate::kernel::waits_or_not("fcntl", call),
    }
}

/// fcntl64.
///
/// # Safety
/// As for the C function, with an argument of pointer size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the same function on 64-bit machines.
    unsafe { __lr_libc_fcntl(fd, command, argument) }
}

/// dup.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_dup(fd: c_int) -> c_int {
    // SAFETY: the program's own call, passed on.
    duplicated(fd, unsafe { libc::dup(fd) })
}

/// dup2: what is open at the root is not replaced below it.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_dup2(fd: c_int, to: c_int) -> c_int {
    replaces(to, "dup2");
    // SAFETY: the program's own call, passed on.
    duplicated(fd, unsafe { libc::dup2(fd, to) })
}

/// dup3: what is open at the root is not replaced below it.
///
/// # Safety
/// As for the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_libc_dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
    replaces(to, "dup3");
    // SAFETY: the program's own call, passed on.
    duplicated(fd, unsafe { libc::dup3(fd, to, flags) })
}

/// A descriptor is closed, if it is open, and opened again.
fn replaces(fd: c_int, call: &str) {
    if is_of_root(fd) {
        host::unsupported(call);
    }
    if host::below_root() {
        world::closed(fd);
    }
}

/// A descriptor is what another one is.
fn duplicated(fd: c_int, new: c_int) -> c_int {
    if !host::below_root() {
        crate::kernel::duplicated(fd, new);
    }
    opened(new)
}
