//! Files that are answers of the system: what it says of itself, and of processes.

use crate::host;
use crate::host::numbers;
use crate::world::shared;
use lockred_protocol::codes::AssumptionKind;
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the system says of itself: files that change although nobody writes them.
const OF_THE_SYSTEM: [&str; 2] = ["/proc/", "/sys/"];
/// Those of them that do not, as long as the process lives: std looks there for how many threads it
/// may start.
const LASTING: [&str; 4] =
    ["/proc/self/cgroup", "/proc/self/mountinfo", "/proc/self/exe", "/sys/fs/cgroup/"];
/// Files of the process's own in which no process has a number.
const WITHOUT_NUMBERS: [&str; 17] = [
    "auxv",
    "cgroup",
    "cmdline",
    "comm",
    "cwd",
    "environ",
    "exe",
    "fd",
    "fdinfo",
    "io",
    "limits",
    "maps",
    "mountinfo",
    "mounts",
    "root",
    "smaps",
    "statm",
];

/// The program opens the file at a path, reads a link, or asks what is there.
pub fn looks_at(path: *const c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: the program passes a C string.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    let begins = |starts: &[&str]| starts.iter().any(|start| path.starts_with(start));
    if begins(&["/proc"]) && shows_numbers(&path) {
        numbers::show();
    }
    shared::uses_file(Path::new(&*path));
    if host::below_root() && begins(&OF_THE_SYSTEM) && !begins(&LASTING) {
        host::assume(AssumptionKind::SystemFiles, &path);
    }
}

/// The program makes or changes the file at a path. (To a device, nothing changes.)
pub fn changes(path: *const c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: the program passes a C string.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    if !path.starts_with("/dev") {
        shared::uses_file(path);
        numbers::leaves_something();
    }
}

/// Whether numbers of processes are in a path, or in what is there.
fn shows_numbers(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    if parts.next() != Some("proc") {
        return false;
    }
    match (parts.next(), parts.next()) {
        (None | Some("thread-self" | "loadavg"), _) => true,
        (Some("self"), file) => file.is_none_or(|file| !WITHOUT_NUMBERS.contains(&file)),
        (Some(directory), _) => directory.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_processes_show_where_they_are() {
        for path in
            ["/proc", "/proc/", "/proc/17/fd", "/proc/self", "/proc/self/stat", "/proc/loadavg"]
        {
            assert!(shows_numbers(path), "{path}");
        }
        for path in
            ["/proc/self/exe", "/proc/self/fd/3", "/proc/cpuinfo", "/process", "/sys/kernel"]
        {
            assert!(!shows_numbers(path), "{path}");
        }
    }
}
