//! Atomic variables.

use crate::each;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

fn numbers(count: usize) -> Arc<Vec<AtomicUsize>> {
    Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect())
}

pub fn atomics(threads: usize, operations: usize) {
    let count = numbers(1);
    each(threads, move |_| {
        (0..operations).for_each(|_| assert!(count[0].fetch_add(1, SeqCst) < threads * operations));
    });
}

pub fn own_atomics(threads: usize, operations: usize) {
    let counts = numbers(threads);
    each(threads, move |number| {
        for seen in 0..operations {
            assert_eq!(counts[number].fetch_add(1, SeqCst), seen);
        }
    });
}

/// A value that is read by who has seen its flag.
#[derive(Default)]
struct Published(UnsafeCell<usize>, AtomicUsize);

// SAFETY: the value is written before the flag is set, and read behind that.
unsafe impl Sync for Published {}

pub fn orders(threads: usize, operations: usize) {
    let values: Arc<Vec<Published>> =
        Arc::new((0..operations).map(|_| Published::default()).collect());
    each(threads, move |number| {
        for value in values.iter() {
            if number == 0 {
                // SAFETY: nobody reads it so far.
                unsafe { *value.0.get() = 7 };
                value.1.store(1, Release);
            } else if value.1.load(Acquire) == 1 {
                // SAFETY: nobody writes it any more.
                assert_eq!(unsafe { *value.0.get() }, 7);
            }
        }
    });
}

pub fn sequence_locks(threads: usize, operations: usize) {
    let lock = numbers(3);
    each(threads, move |number| {
        let [sequence, first, second] = &lock[..] else { return };
        if number == 0 {
            for round in 0..operations {
                sequence.store(2 * round + 1, SeqCst);
                first.store(round, SeqCst);
                second.store(round, SeqCst);
                sequence.store(2 * round + 2, SeqCst);
            }
        } else {
            let before = sequence.load(SeqCst);
            let pair = (first.load(SeqCst), second.load(SeqCst));
            if before % 2 == 0 && sequence.load(SeqCst) == before {
                assert_eq!(pair.0, pair.1);
            }
        }
    });
}
