//! What the program uses that other processes may change: a process that does something else than
//! the one before may do so because of that.

use std::borrow::Cow;
use std::path::Path;
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

/// The program uses a file. Those in its own temporary directory are no other process's.
pub fn uses_file(path: &Path) {
    let first = &mut *first_used();
    let is_system_s = OF_THE_SYSTEM.iter().any(|start| path.starts_with(start));
    if first.is_none() && !is_system_s && temporary(path).is_none() {
        *first = Some(format!("the file {}", path.display()));
    }
}

/// What the program used first; `None` where nothing that it used is shared.
pub fn first() -> Option<String> {
    first_used().clone()
}

/// A path as people read it: what is in the test's own temporary directory, which is gone after the
/// check, by the variable that names this.
pub fn shown(path: &Path) -> Cow<'_, Path> {
    match temporary(path) {
        Some(inside) => Path::new("$TMPDIR").join(inside).into(),
        None => path.into(),
    }
}

/// Where a file is in the test's own temporary directory, if it is there.
fn temporary(path: &Path) -> Option<&Path> {
    let directory = std::env::var_os("TMPDIR").filter(|directory| !directory.is_empty())?;
    path.strip_prefix(directory).ok()
}
