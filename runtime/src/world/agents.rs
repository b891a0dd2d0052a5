//! Whether somebody outside of the program's one thread can change what it waits for: another
//! process, another machine.

use super::children;
use std::mem::{size_of_val, zeroed};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Devices that always answer alike: memory, null, zero, random.
const MEMORY_DEVICES: u32 = 1;

/// The kernel was asked for something that others may have a part in.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Descriptors that whoever started the process left open, by what they are: the program does not
/// know of them.
static INHERITED: OnceLock<Vec<(i32, libc::dev_t, libc::ino_t)>> = OnceLock::new();

/// Notes what is open before the program runs.
pub fn set_up() {
    let known = |fd: i32| status(fd).map(|status| (fd, status.st_dev, status.st_ino));
    let _ =
        INHERITED.set(descriptors().unwrap_or_default().into_iter().filter_map(known).collect());
}

/// The kernel is asked for something that others may have a part in.
pub fn asked() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Whether it was.
pub fn were_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether anybody can. `true` costs real time only.
pub fn may_act() -> bool {
    // A child has the ends of its parent's pipes, and its parent the others.
    were_asked() && (children::is_child() || children::has_any() || has_open_ends())
}

/// Descriptors that are open; `None` where the system has no list of them.
fn descriptors() -> Option<Vec<i32>> {
    let entries = std::fs::read_dir("/proc/self/fd").ok()?;
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Some(entries.flatten().filter_map(number).collect())
}

/// What a descriptor is, if it is open.
fn status(fd: i32) -> Option<libc::stat> {
    // SAFETY: all-zero bytes are a valid `stat`, which the call fills.
    unsafe {
        let mut status: libc::stat = zeroed();
        (libc::fstat(fd, &raw mut status) == 0).then_some(status)
    }
}

/// Whether a descriptor is open whose other end others may have.
fn has_open_ends() -> bool {
    descriptors().is_none_or(|all| all.into_iter().any(is_open_end))
}

/// Whether others may have the other end of a descriptor.
fn is_open_end(fd: i32) -> bool {
    // The list itself was open while it was read.
    let Some(status) = status(fd) else { return false };
    let inherited = INHERITED.get();
    if inherited.is_some_and(|all| all.contains(&(fd, status.st_dev, status.st_ino))) {
        return false;
    }
    match status.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => false,
        libc::S_IFCHR => libc::major(status.st_rdev) != MEMORY_DEVICES,
        libc::S_IFIFO => !target(fd).starts_with(b"pipe:"),
        libc::S_IFSOCK => is_open_socket(fd),
        // What has no name in the file system: of these, the process alone has the first two.
        _ => {
            let target = target(fd);
            let is = |kind: &[u8]| target.ends_with(kind);
            !is(b"[eventfd]") && !is(b"[eventpoll]") && !is(b"[timerfd]") && !is(b"[pidfd]")
        }
    }
}

/// What a descriptor's link says.
fn target(fd: i32) -> Vec<u8> {
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}"));
    link.map(|path| path.as_os_str().as_bytes().to_vec()).unwrap_or_default()
}

/// Whether a socket is more than one of a pair without names.
fn is_open_socket(fd: i32) -> bool {
    /// `getsockname` or `getpeername`.
    type Ask = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;
    let is_nameless = |ask: Ask| {
        // SAFETY: a place for any address, of this size; the call only looks.
        unsafe {
            let mut address: libc::sockaddr_storage = zeroed();
            let mut length = size_of_val(&address) as libc::socklen_t;
            let asked = ask(fd, (&raw mut address).cast(), &raw mut length);
            let family = i32::from(address.ss_family);
            // A pair whose other end is closed has none.
            asked != 0
                || family == libc::AF_UNIX && length as usize <= size_of::<libc::sa_family_t>()
        }
    };
    let own: Ask = libc::getsockname;
    !(is_nameless(own) && is_nameless(libc::getpeername))
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
