//! Statics: what there is before any thread is.

use super::{beside, check};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};

static COUNT: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());

/// A static counter, increased under a static lock, or without it.
pub fn counter<const RIGHT: bool>() {
    COUNT.store(0, SeqCst);
    let add = || {
        let held = RIGHT.then(|| LOCK.lock().unwrap());
        COUNT.store(COUNT.load(SeqCst) + 1, SeqCst);
        drop(held);
    };
    beside(add, add);
    let count = COUNT.load(SeqCst);
    check!(count == 2);
}
