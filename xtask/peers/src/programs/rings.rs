//! Rings of two places: for one producer, and for many.

use super::{Plain, beside, check, two};
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// One produces and one consumes; what is consumed gives its place back in order, or without.
pub fn one_producer<const RIGHT: bool>() {
    struct Ring {
        items: [Plain<usize>; 1],
        head: AtomicUsize,
        tail: AtomicUsize,
    }
    let ring =
        Ring { items: [Plain::new(0)], head: AtomicUsize::new(0), tail: AtomicUsize::new(0) };
    let (mine, theirs) = two(ring);
    beside(
        move || {
            for item in 0..2 {
                let tail = theirs.tail.load(Relaxed);
                if tail - theirs.head.load(Acquire) < 1 {
                    theirs.items[0].set(item);
                    theirs.tail.store(tail + 1, Release);
                }
            }
        },
        || {
            let head = mine.head.load(Relaxed);
            if head < mine.tail.load(Acquire) {
                check!(mine.items[0].get() == 0);
                if RIGHT {
                    mine.head.store(head + 1, Release);
                } else {
                    mine.head.store(head + 1, Relaxed);
                }
            }
        },
    );
}

/// Two producers take a place each, by fetch-add or by a load and a store, and publish it.
pub fn two_producers<const RIGHT: bool>() {
    struct Ring {
        places: AtomicUsize,
        full: [AtomicUsize; 2],
    }
    let full = [(); 2].map(|()| AtomicUsize::new(0));
    let (mine, theirs) = two(Ring { places: AtomicUsize::new(0), full });
    let put = |ring: &Ring, item: usize| {
        let place = if RIGHT {
            ring.places.fetch_add(1, SeqCst)
        } else {
            let place = ring.places.load(SeqCst);
            ring.places.store(place + 1, SeqCst);
            place
        };
        ring.full[place].store(item, Release);
    };
    beside(move || put(&theirs, 1), || put(&mine, 2));
    let items = mine.full[0].load(Acquire) + mine.full[1].load(Acquire);
    check!(items == 3);
}
