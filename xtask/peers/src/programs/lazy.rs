//! Initialisation on first use.

use super::{Plain, beside, check, two};
use crate::sync::Mutex;
use crate::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

/// Looked at twice: before the lock and under it.
pub fn double_checked<const RIGHT: bool>() {
    let (mine, theirs) = two((AtomicBool::new(false), Mutex::new(()), Plain::new(0)));
    let get = |cell: &(AtomicBool, Mutex<()>, Plain<u32>)| {
        let ready = if RIGHT { cell.0.load(Acquire) } else { cell.0.load(Relaxed) };
        if !ready {
            let _held = cell.1.lock().unwrap();
            if !cell.0.load(Relaxed) {
                cell.2.set(7);
                cell.0.store(true, Release);
            }
        }
        check!(cell.2.get() == 7);
    };
    beside(move || get(&theirs), || get(&mine));
}

/// Who comes first initialises: by compare-exchange, or by a look and a store.
pub fn initialised_twice<const RIGHT: bool>() {
    let (mine, theirs) = two((AtomicBool::new(false), AtomicU32::new(0)));
    let initialise = |cell: &(AtomicBool, AtomicU32)| {
        let first = if RIGHT {
            cell.0.compare_exchange(false, true, SeqCst, SeqCst).is_ok()
        } else {
            !cell.0.load(SeqCst) && {
                cell.0.store(true, SeqCst);
                true
            }
        };
        if first {
            cell.1.fetch_add(1, SeqCst);
        }
    };
    beside(move || initialise(&theirs), || initialise(&mine));
    let times = mine.1.load(SeqCst);
    check!(times == 1);
}

/// Initialised by `Once`, and read without asking it.
#[cfg(feature = "once")]
pub fn once<const RIGHT: bool>() {
    use crate::sync::Once;
    let (mine, theirs) = two((Once::new(), Plain::new(0)));
    beside(
        move || theirs.0.call_once(|| theirs.1.set(7)),
        || {
            if RIGHT {
                mine.0.call_once(|| mine.1.set(7));
            }
            let value = mine.1.get();
            check!(value == 7);
        },
    );
}
