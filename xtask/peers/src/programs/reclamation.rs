//! When memory that others read is used again: hazard pointers, and readers on the left and on the right.

use super::{Plain, beside, check, two};
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::SeqCst;

/// A reader announces which node it reads, and looks again whether it is still the current one, or does not.
pub fn hazard<const RIGHT: bool>() {
    const NONE: usize = usize::MAX;
    struct Shared {
        current: AtomicUsize,
        announced: AtomicUsize,
        nodes: [Plain<u32>; 2],
    }
    let shared = Shared {
        current: AtomicUsize::new(0),
        announced: AtomicUsize::new(NONE),
        nodes: [Plain::new(7), Plain::new(7)],
    };
    let (mine, theirs) = two(shared);
    beside(
        move || {
            theirs.current.swap(1, SeqCst);
            // A read that is a write, so that it also counts for who announces later.
            if theirs.announced.fetch_add(0, SeqCst) != 0 {
                theirs.nodes[0].set(0);
            }
        },
        || {
            let node = mine.current.load(SeqCst);
            mine.announced.swap(node, SeqCst);
            if !RIGHT || mine.current.load(SeqCst) == node {
                check!(mine.nodes[node].get() == 7);
            }
            mine.announced.store(NONE, SeqCst);
        },
    );
}

/// A writer shows the other side and waits for the reader of this one, or does not.
pub fn left_right<const RIGHT: bool>() {
    struct Shared {
        side: AtomicUsize,
        reading: [AtomicUsize; 2],
        sides: [Plain<u32>; 2],
    }
    let shared = Shared {
        side: AtomicUsize::new(0),
        reading: [AtomicUsize::new(0), AtomicUsize::new(0)],
        sides: [Plain::new(7), Plain::new(7)],
    };
    let (mine, theirs) = two(shared);
    beside(
        move || {
            theirs.side.swap(1, SeqCst);
            if !RIGHT || theirs.reading[0].fetch_add(0, SeqCst) == 0 {
                theirs.sides[0].set(8);
            }
        },
        || {
            let side = mine.side.load(SeqCst);
            mine.reading[side].fetch_add(1, SeqCst);
            if mine.side.load(SeqCst) == side {
                check!(mine.sides[side].get() == 7);
            }
            mine.reading[side].fetch_sub(1, SeqCst);
        },
    );
}
