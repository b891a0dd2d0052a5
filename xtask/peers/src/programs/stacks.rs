//! Treiber's stack, its nodes named by number: orders of a push, and a head that comes back.

use super::{Plain, beside, check, two};
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const NONE: usize = 0xff;
/// What a change of the head adds to it where heads are told apart.
const VERSION: usize = 0x100;

struct Stack {
    /// The number of the first node, and above it how often it has changed, if that is counted.
    head: AtomicUsize,
    below: [AtomicUsize; 3],
    values: [Plain<usize>; 3],
}

fn stack() -> Stack {
    Stack {
        head: AtomicUsize::new(NONE),
        below: [(); 3].map(|()| AtomicUsize::new(NONE)),
        values: [(); 3].map(|()| Plain::new(0)),
    }
}

impl Stack {
    fn push<const ORDERED: bool, const COUNTED: bool>(&self, node: usize) {
        let mut head = self.head.load(Relaxed);
        loop {
            self.below[node].store(head % VERSION, Relaxed);
            let new = node + if COUNTED { head - head % VERSION + VERSION } else { 0 };
            let exchanged = if ORDERED {
                self.head.compare_exchange(head, new, Release, Relaxed)
            } else {
                self.head.compare_exchange(head, new, Relaxed, Relaxed)
            };
            match exchanged {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
    }

    fn pop<const COUNTED: bool>(&self) -> Option<usize> {
        let mut head = self.head.load(Acquire);
        loop {
            let node = head % VERSION;
            if node == NONE {
                return None;
            }
            let below = self.below[node].load(Relaxed);
            let new = below + if COUNTED { head - node + VERSION } else { 0 };
            match self.head.compare_exchange(head, new, AcqRel, Acquire) {
                Ok(_) => return Some(node),
                Err(now) => head = now,
            }
        }
    }
}

/// One pushes, one pops and reads.
pub fn relaxed_push<const RIGHT: bool>() {
    let (mine, theirs) = two(stack());
    beside(
        move || {
            theirs.values[0].set(7);
            theirs.push::<RIGHT, false>(0);
        },
        || {
            if let Some(node) = mine.pop::<false>() {
                check!(mine.values[node].get() == 7);
            }
        },
    );
}

/// One pops, the other pops twice and pushes the first back: the head is the same, what is below it is not.
pub fn head_that_comes_back<const RIGHT: bool>() {
    let (mine, theirs) = two((stack(), [(); 3].map(|()| AtomicUsize::new(0))));
    mine.0.push::<true, RIGHT>(1);
    mine.0.push::<true, RIGHT>(0);
    beside(
        move || {
            let first = theirs.0.pop::<RIGHT>();
            if let Some(second) = theirs.0.pop::<RIGHT>() {
                theirs.1[second].fetch_add(1, Relaxed);
            }
            if let Some(first) = first {
                theirs.0.push::<true, RIGHT>(first);
            }
        },
        || {
            if let Some(node) = mine.0.pop::<RIGHT>() {
                mine.1[node].fetch_add(1, Relaxed);
            }
        },
    );
    while let Some(node) = mine.0.pop::<RIGHT>() {
        mine.1[node].fetch_add(1, Relaxed);
        check!(mine.1[node].load(Relaxed) < 3);
    }
    let taken = [0, 1].map(|node| mine.1[node].load(Relaxed));
    check!(taken == [1, 1]);
}
