//! File descriptors below the root: what was opened is closed at a restore, positions go back, what would block is refused.

use crate::host;
use std::sync::Mutex;

/// Descriptors that were open at the root, with the positions of those that have one.
struct Descriptors {
    at_root: Vec<(i32, Option<i64>)>,
    opened: Vec<i32>,
}

static DESCRIPTORS: Mutex<Descriptors> =
    Mutex::new(Descriptors { at_root: Vec::new(), opened: Vec::new() });

fn descriptors() -> std::sync::MutexGuard<'static, Descriptors> {
    DESCRIPTORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Position of a descriptor, if it has one.
fn position(fd: i32) -> Option<i64> {
    // SAFETY: only looks.
    let position = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    (position >= 0).then_some(position)
}

/// Notes the descriptors that the program opened before its root.
pub fn at_root() {
    let mut all = descriptors();
    let opened = std::mem::take(&mut all.opened);
    all.at_root = opened.into_iter().map(|fd| (fd, position(fd))).collect();
}

/// Closes what was opened below the root, and puts positions back.
pub fn restore() {
    let mut all = descriptors();
    for fd in std::mem::take(&mut all.opened) {
        // SAFETY: opened by the program in an execution that is over.
        unsafe { libc::close(fd) };
    }
    for &(fd, position) in &all.at_root {
        if let Some(position) = position {
            // SAFETY: moves the position of the program's own file.
            unsafe { libc::lseek(fd, position, libc::SEEK_SET) };
        }
    }
}

/// The program opened a descriptor.
pub fn opened(fd: i32) -> i32 {
    if fd >= 0 {
        host::outside();
        descriptors().opened.push(fd);
    }
    fd
}

/// Whether a descriptor is to be closed in earnest: not if it has to be open again at the root.
pub fn closes(fd: i32) -> bool {
    host::outside();
    let mut all = descriptors();
    all.opened.retain(|&open| open != fd);
    !(host::below_root() && (fd <= 2 || all.at_root.iter().any(|&(open, _)| open == fd)))
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

/// A read or write of this descriptor must not block: below the root that would stop all threads.
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
        _ => {}
    }
}
