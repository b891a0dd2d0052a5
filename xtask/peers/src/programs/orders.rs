//! Memory orders: too weak ones show as races of plain memory, or as values that no interleaving gives.

use super::{Plain, beside, check, two};
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU32, fence};

/// Data behind a flag.
pub fn publication<const RIGHT: bool>() {
    let (mine, theirs) = two((Plain::new(0), AtomicBool::new(false)));
    beside(
        move || {
            theirs.0.set(7);
            if RIGHT {
                theirs.1.store(true, Release);
            } else {
                theirs.1.store(true, Relaxed);
            }
        },
        || {
            if mine.1.load(Acquire) {
                check!(mine.0.get() == 7);
            }
        },
    );
}

/// Data behind a relaxed flag, and fences.
pub fn fences<const RIGHT: bool>() {
    let (mine, theirs) = two((Plain::new(0), AtomicBool::new(false)));
    beside(
        move || {
            theirs.0.set(7);
            fence(Release);
            theirs.1.store(true, Relaxed);
        },
        || {
            if mine.1.load(Relaxed) {
                if RIGHT {
                    fence(Acquire);
                }
                check!(mine.0.get() == 7);
            }
        },
    );
}

/// Data that goes through a third thread.
pub fn passed_on<const RIGHT: bool>() {
    let (mine, theirs) = two((Plain::new(0), AtomicU32::new(0)));
    let middle = theirs.clone();
    let thread = crate::sync::thread::spawn(move || {
        if RIGHT {
            let _ = middle.1.compare_exchange(1, 2, Relaxed, Relaxed);
        } else if middle.1.load(Relaxed) == 1 {
            // Not part of the release sequence.
            middle.1.store(2, Relaxed);
        }
    });
    beside(
        move || {
            theirs.0.set(7);
            theirs.1.store(1, Release);
        },
        || {
            if mine.1.load(Acquire) == 2 {
                check!(mine.0.get() == 7);
            }
        },
    );
    thread.join().unwrap();
}

/// Two threads announce themselves and look for the other; with weak orders neither may see the other, in no interleaving.
pub fn store_buffering<const RIGHT: bool>() {
    let (mine, theirs) = two([(); 4].map(|()| AtomicU32::new(0)));
    let announce = |flags: &[AtomicU32; 4], own: usize| {
        let seen = if RIGHT {
            flags[own].store(1, SeqCst);
            flags[1 - own].load(SeqCst)
        } else {
            flags[own].store(1, Relaxed);
            flags[1 - own].load(Relaxed)
        };
        flags[2 + own].store(seen, Relaxed);
    };
    beside(move || announce(&theirs, 0), || announce(&mine, 1));
    check!(mine[2].load(Relaxed) + mine[3].load(Relaxed) > 0);
}
