//! Michael and Scott's queue, its nodes named by number, and a queue under a lock that is looked at before.

use super::{Plain, beside, check, two};
use crate::sync::Mutex;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::collections::VecDeque;

const NONE: usize = usize::MAX;

struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    next: [AtomicUsize; 4],
    values: [Plain<usize>; 4],
}

fn queue() -> Queue {
    Queue {
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        next: [(); 4].map(|()| AtomicUsize::new(NONE)),
        values: [(); 4].map(|()| Plain::new(0)),
    }
}

impl Queue {
    fn enqueue<const LINKED_BY_EXCHANGE: bool>(&self, node: usize) {
        self.values[node].set(node);
        loop {
            let tail = self.tail.load(Acquire);
            let next = self.next[tail].load(Acquire);
            if next != NONE {
                let _helped = self.tail.compare_exchange(tail, next, AcqRel, Acquire);
                continue;
            }
            let linked = if LINKED_BY_EXCHANGE {
                self.next[tail].compare_exchange(NONE, node, Release, Relaxed).is_ok()
            } else {
                self.next[tail].store(node, Release);
                true
            };
            if linked {
                let _helped = self.tail.compare_exchange(tail, node, AcqRel, Acquire);
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Acquire);
            let next = self.next[head].load(Acquire);
            if next == NONE {
                return None;
            }
            if self.head.compare_exchange(head, next, AcqRel, Acquire).is_ok() {
                return Some(self.values[next].get());
            }
        }
    }
}

/// Two enqueue.
pub fn two_enqueues<const RIGHT: bool>() {
    let (mine, theirs) = two(queue());
    beside(move || theirs.enqueue::<RIGHT>(1), || mine.enqueue::<RIGHT>(2));
    let sum = mine.dequeue().unwrap_or(0) + mine.dequeue().unwrap_or(0);
    check!(sum == 3);
}

/// Two take from a queue of one: in one section, or in two.
pub fn emptied_between<const RIGHT: bool>() {
    let (mine, theirs) = two(Mutex::new(VecDeque::from([1])));
    let take = |queue: &Mutex<VecDeque<u32>>| {
        if RIGHT {
            let _item = queue.lock().unwrap().pop_front();
        } else {
            let is_empty = queue.lock().unwrap().is_empty();
            if !is_empty {
                let item = queue.lock().unwrap().pop_front();
                check!(item.is_some());
            }
        }
    };
    beside(move || take(&theirs), || take(&mine));
}
