//! File descriptors: what is opened below the root is closed at a restore, and positions go back.

use std::sync::Mutex;

/// Descriptors that were open at the root, with the positions of those that have one.
struct Descriptors {
    at_root: Vec<(i32, Option<i64>)>,
    opened: Vec<i32>,
}

static DESCRIPTORS: Mutex<Descriptors> =
    Mutex::new(Descriptors { at_root: Vec::new(), opened: Vec::new() });

/// So many descriptors are asked for one by one where the system has no list of them.
const WITHOUT_LIST: i32 = 1024;

fn descriptors() -> std::sync::MutexGuard<'static, Descriptors> {
    DESCRIPTORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Position of a descriptor, if it has one.
fn position(fd: i32) -> Option<i64> {
    // SAFETY: only looks.
    let position = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
    (position >= 0).then_some(position)
}

/// Descriptors that are open, however they came to be.
fn all_open() -> Vec<i32> {
    // SAFETY: only looks.
    let is_open = |fd: &i32| unsafe { libc::fcntl(*fd, libc::F_GETFD) } >= 0;
    let listed = std::fs::read_dir("/proc/self/fd").map(|entries| {
        let name = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        entries.flatten().filter_map(name).collect::<Vec<i32>>()
    });
    let all = listed.unwrap_or_else(|_| (0..WITHOUT_LIST).collect());
    // The list was itself open while it was read.
    all.into_iter().filter(is_open).collect()
}

/// Notes the descriptors that are open at the program's root.
pub fn at_root() {
    let open = all_open();
    let mut all = descriptors();
    all.opened.clear();
    all.at_root =
        open.into_iter().map(|fd| (fd, (fd > 2).then(|| position(fd)).flatten())).collect();
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

/// A descriptor was opened below the root.
pub fn opened(fd: i32) {
    descriptors().opened.push(fd);
}

/// One was closed there.
pub fn closed(fd: i32) {
    descriptors().opened.retain(|&open| open != fd);
}

/// Whether a descriptor has to be open at the root.
pub fn is_of_root(fd: i32) -> bool {
    fd <= 2 || descriptors().at_root.iter().any(|&(open, _)| open == fd)
}
