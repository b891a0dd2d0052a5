//! What the program uses that other processes may change: a process that does something else than
//! the one before may do so because of that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// It has changed a file.
static CHANGED: AtomicBool = AtomicBool::new(false);
/// The first of it, in words.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

fn first_used() -> MutexGuard<'static, Option<String>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program uses something that others may change.
pub fn uses(what: impl FnOnce() -> String) {
    first_used().get_or_insert_with(what);
}

/// The program changes a file, which bears the real clock's time then.
pub fn changes_a_file() {
    CHANGED.store(true, Ordering::Relaxed);
}

/// Whether it has changed one.
pub fn has_changed_a_file() -> bool {
    CHANGED.load(Ordering::Relaxed)
}

/// What the program used first; `None` where nothing that it used is shared.
pub fn first() -> Option<String> {
    first_used().clone()
}
