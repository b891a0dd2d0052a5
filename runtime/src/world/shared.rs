//! What the program uses that other processes may change: a process that does something else than
//! the one before may do so because of that.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first of it, in words.
static FIRST: Mutex<Option<String>> = Mutex::new(None);
/// What the system says of itself, and devices: others change no file there.
const OF_THE_SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

fn first_used() -> MutexGuard<'static, Option<String>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program makes a call of the kernel's in which others may have a part.
pub fn calls(name: &str) {
    first_used().get_or_insert_with(|| format!("`{name}`"));
}

/// The program uses a file.
pub fn uses_file(path: &Path) {
    let first = &mut *first_used();
    if first.is_none() && may_change(path, temporary_directory().as_deref()) {
        *first = Some(format!("the file {}", path.display()));
    }
}

/// Whether others may change a file. Those in the program's own temporary directory are no other
/// process's.
fn may_change(path: &Path, temporary: Option<&Path>) -> bool {
    let is_system_s = OF_THE_SYSTEM.iter().any(|start| path.starts_with(start));
    !is_system_s && temporary.is_none_or(|directory| !path.starts_with(directory))
}

/// What the program used first; `None` where nothing that it used is shared.
pub fn first() -> Option<String> {
    first_used().clone()
}

/// A path as people read it: what is in the test's own temporary directory, which is gone after the
/// check, by the variable that names this.
pub fn shown(path: &Path) -> Cow<'_, Path> {
    shown_from(path, temporary_directory().as_deref())
}

fn shown_from<'p>(path: &'p Path, temporary: Option<&Path>) -> Cow<'p, Path> {
    match temporary.and_then(|directory| path.strip_prefix(directory).ok()) {
        Some(inside) => Path::new("$TMPDIR").join(inside).into(),
        None => path.into(),
    }
}

/// The test's own temporary directory, if it has one.
fn temporary_directory() -> Option<PathBuf> {
    std::env::var_os("TMPDIR").filter(|directory| !directory.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_change_files_but_for_those_of_the_system_and_of_the_test() {
        let own = Some(Path::new("/tmp/own"));
        let may = |path: &str| may_change(Path::new(path), own);
        assert!(may("/tmp/other/file") && may("/home/file") && may("/process/file"));
        assert!(!may("/tmp/own/file") && !may("/proc/self/maps") && !may("/dev/null"));
        assert!(may_change(Path::new("/tmp/own/file"), None));
    }

    #[test]
    fn files_of_the_test_are_shown_by_the_variable() {
        let own = Some(Path::new("/tmp/own"));
        let shown = |path: &'static str| shown_from(Path::new(path), own);
        assert_eq!(shown("/tmp/own/a/b"), Path::new("$TMPDIR/a/b"));
        assert_eq!(shown("/tmp/other"), Path::new("/tmp/other"));
    }
}
