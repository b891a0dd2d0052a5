//! Structures without locks, their nodes named by number.

use crate::each;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicIsize, AtomicUsize};

const NONE: usize = usize::MAX;

fn links(count: usize) -> Vec<AtomicUsize> {
    (0..count).map(|_| AtomicUsize::new(NONE)).collect()
}

pub fn stacks(threads: usize, operations: usize) {
    let stack = Arc::new((AtomicUsize::new(NONE), links(threads * operations)));
    each(threads, move |number| {
        for operation in 0..operations {
            let node = number * operations + operation;
            let mut head = stack.0.load(SeqCst);
            loop {
                stack.1[node].store(head, SeqCst);
                match stack.0.compare_exchange(head, node, SeqCst, SeqCst) {
                    Ok(_) => break,
                    Err(now) => head = now,
                }
            }
        }
    });
}

pub fn queues(threads: usize, operations: usize) {
    let queue = Arc::new((AtomicUsize::new(0), links(1 + threads * operations)));
    each(threads, move |number| {
        let (tail, next) = &*queue;
        for operation in 0..operations {
            let node = 1 + number * operations + operation;
            loop {
                let last = tail.load(SeqCst);
                match next[last].compare_exchange(NONE, node, SeqCst, SeqCst) {
                    Ok(_) => {
                        let _helped = tail.compare_exchange(last, node, SeqCst, SeqCst);
                        break;
                    }
                    Err(other) => {
                        let _helped = tail.compare_exchange(last, other, SeqCst, SeqCst);
                    }
                }
            }
        }
    });
}

pub fn deques(threads: usize, operations: usize) {
    let deque = Arc::new((AtomicIsize::new(0), AtomicIsize::new(0)));
    each(threads, move |number| {
        let (top, bottom) = &*deque;
        if number > 0 {
            let first = top.load(SeqCst);
            if first < bottom.load(SeqCst) {
                let _is_mine = top.compare_exchange(first, first + 1, SeqCst, SeqCst);
            }
            return;
        }
        for _ in 0..operations {
            bottom.store(bottom.load(SeqCst) + 1, SeqCst);
        }
        for _ in 0..operations {
            let last = bottom.load(SeqCst) - 1;
            bottom.store(last, SeqCst);
            let first = top.load(SeqCst);
            if first >= last {
                let _is_mine = top.compare_exchange(first, first + 1, SeqCst, SeqCst);
                bottom.store(top.load(SeqCst), SeqCst);
                break;
            }
        }
    });
}
