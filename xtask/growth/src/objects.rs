//! Objects: when they are made, who owns them, who borrows them.

use crate::each;
use std::sync::{Arc, OnceLock};
use std::thread;

pub fn lazy(threads: usize, operations: usize) {
    let cells: Arc<Vec<OnceLock<usize>>> =
        Arc::new((0..operations).map(|_| OnceLock::new()).collect());
    each(threads, move |_| {
        for (number, cell) in cells.iter().enumerate() {
            assert_eq!(*cell.get_or_init(|| number), number);
        }
    });
}

pub fn arcs(threads: usize, operations: usize) {
    let shared = Arc::new(7);
    each(threads, move |_| {
        for _ in 0..operations {
            let other = Arc::clone(&shared);
            assert_eq!(*other, 7);
        }
    });
}

pub fn scoped(threads: usize, operations: usize) {
    let mut parts = vec![0; threads * operations];
    thread::scope(|scope| {
        for part in parts.chunks_mut(operations) {
            scope.spawn(move || part.iter_mut().for_each(|number| *number += 1));
        }
    });
    assert_eq!(parts.iter().sum::<usize>(), threads * operations);
}
