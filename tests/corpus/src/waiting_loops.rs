//! Loops that wait, in all their forms: each needs no more executions than a lock that is known would, as none of its vain rounds is
//! explored. What is said of spin locks in general stands in `spinning`.

use crate::shared::Shared;
use crossbeam_utils::Backoff;
use std::hint::spin_loop;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize};
use std::thread::{spawn, yield_now};

/// A lock whose state is one word, and what it guards.
#[derive(Default)]
struct Lock {
    flag: AtomicBool,
    bits: AtomicUsize,
    count: Shared<usize>,
}

impl Lock {
    fn try_lock(&self) -> bool {
        !self.flag.swap(true, Acquire)
    }

    fn unlock(&self) {
        self.flag.store(false, Release);
    }
}

/// So many threads increment under a lock.
fn increments(threads: usize, lock: fn(&Lock), unlock: fn(&Lock)) {
    let shared = Arc::new(Lock::default());
    let start = |_| {
        let shared = Arc::clone(&shared);
        spawn(move || {
            lock(&shared);
            unsafe { *shared.count.ptr() += 1 };
            unlock(&shared);
        })
    };
    let started: Vec<_> = (0..threads).map(start).collect();
    for thread in started {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { *shared.count.ptr() }, threads);
}

//@ clean
//@ executions = 2
#[test]
fn exchanged() {
    let lock = |lock: &Lock| while lock.flag.swap(true, Acquire) {};
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 6
#[test]
fn exchanged_by_three() {
    let lock = |lock: &Lock| while lock.flag.swap(true, Acquire) {};
    increments(3, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn compared_and_exchanged() {
    let lock = |lock: &Lock| {
        while lock.flag.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            spin_loop();
        }
    };
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn compared_and_exchanged_weakly() {
    let lock = |lock: &Lock| loop {
        match lock.flag.compare_exchange_weak(false, true, Acquire, Relaxed) {
            Ok(_) => break,
            Err(_) => yield_now(),
        }
    };
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn tried_over_and_over() {
    let lock = |lock: &Lock| {
        while !lock.try_lock() {
            spin_loop();
        }
    };
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn a_bit_of_a_word() {
    let lock = |lock: &Lock| {
        while lock.bits.fetch_or(4, Acquire) & 4 != 0 {
            spin_loop();
        }
    };
    increments(2, lock, |lock| lock.bits.store(0, Release));
}

//@ clean
//@ executions = 2
#[test]
fn backing_off() {
    let lock = |lock: &Lock| {
        let backoff = Backoff::new();
        while lock.flag.swap(true, Acquire) {
            backoff.snooze();
        }
    };
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn exchanged_and_then_looked_at() {
    let lock = |lock: &Lock| {
        while lock.flag.swap(true, Acquire) {
            while lock.flag.load(Relaxed) {
                spin_loop();
            }
        }
    };
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn looked_at_and_then_compared_and_exchanged() {
    let lock = |lock: &Lock| loop {
        while lock.flag.load(Relaxed) {
            spin_loop();
        }
        if lock.flag.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
            break;
        }
    };
    increments(2, lock, Lock::unlock);
}

// An exchange writes even where it is in vain. So the look is a step of its own.
//@ clean
//@ executions <= 4
#[test]
fn looked_at_and_then_exchanged() {
    let lock = |lock: &Lock| {
        while lock.flag.load(Relaxed) || lock.flag.swap(true, Acquire) {
            spin_loop();
        }
    };
    increments(2, lock, Lock::unlock);
}

//@ clean
//@ executions = 2
#[test]
fn read_and_then_exchanged() {
    let lock = |lock: &Lock| loop {
        let seen = lock.bits.load(Relaxed);
        if seen & 1 != 0 {
            spin_loop();
            continue;
        }
        if lock.bits.compare_exchange(seen, seen | 1, Acquire, Relaxed).is_ok() {
            break;
        }
    };
    increments(2, lock, |lock| lock.bits.store(0, Release));
}

//@ verified
//@ executions = 6
#[test]
fn counted_by_three() {
    let count = Arc::new(AtomicUsize::new(0));
    let start = |_| {
        let count = Arc::clone(&count);
        spawn(move || {
            loop {
                let seen = count.load(SeqCst);
                if count.compare_exchange_weak(seen, seen ^ 5, SeqCst, SeqCst).is_ok() {
                    break seen;
                }
            }
        })
    };
    let started: Vec<_> = (0..3).map(start).collect();
    let seen: usize = started.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((seen, count.load(SeqCst)), (5, 5));
}

/// A queue of those who wait for a lock.
#[derive(Default)]
struct Queue {
    last: AtomicPtr<Node>,
    count: Shared<usize>,
}

#[derive(Default)]
struct Node {
    waits: AtomicBool,
    next: AtomicPtr<Node>,
}

impl Queue {
    fn increment(&self) {
        let node = Node::default();
        let mine = (&raw const node).cast_mut();
        node.waits.store(true, Relaxed);
        let before = self.last.swap(mine, AcqRel);
        if !before.is_null() {
            unsafe { (*before).next.store(mine, Release) };
            while node.waits.load(Acquire) {
                spin_loop();
            }
        }
        unsafe { *self.count.ptr() += 1 };
        if node.next.load(Acquire).is_null() {
            if self.last.compare_exchange(mine, null_mut(), AcqRel, Relaxed).is_ok() {
                return;
            }
            while node.next.load(Acquire).is_null() {
                spin_loop();
            }
        }
        unsafe { (*node.next.load(Acquire)).waits.store(false, Release) };
    }
}

//@ clean
//@ executions <= 6
#[test]
fn a_queue_lock() {
    let queue = Arc::new(Queue::default());
    let other = Arc::clone(&queue);
    let thread = spawn(move || other.increment());
    queue.increment();
    thread.join().unwrap();
    assert_eq!(unsafe { *queue.count.ptr() }, 2);
}

//@ clean
//@ executions = 6
#[test]
fn tickets_of_three() {
    let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Shared::new(0)));
    let start = |_| {
        let lock = Arc::clone(&lock);
        spawn(move || {
            let ticket = lock.0.fetch_add(1, Relaxed);
            while lock.1.load(Acquire) != ticket {
                spin_loop();
            }
            unsafe { *lock.2.ptr() += 1 };
            lock.1.store(ticket + 1, Release);
        })
    };
    let started: Vec<_> = (0..3).map(start).collect();
    for thread in started {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { *lock.2.ptr() }, 3);
}

//@ passed memory-model-sc
//@ executions = 1
#[test]
fn a_flag_is_handed_over() {
    let shared = Arc::new((AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { *other.1.ptr() = 7 };
        other.0.store(true, Release);
    });
    while !shared.0.load(Acquire) {}
    assert_eq!(unsafe { *shared.1.ptr() }, 7);
    thread.join().unwrap();
}

//@ passed memory-model-sc
//@ executions <= 2
#[test]
fn a_count_comes_to_its_end() {
    let count = Arc::new(AtomicUsize::new(0));
    let start = |_| {
        let count = Arc::clone(&count);
        spawn(move || {
            count.fetch_add(1, Release);
        })
    };
    let started: Vec<_> = (0..2).map(start).collect();
    while count.load(Acquire) < 2 {
        yield_now();
    }
    for thread in started {
        thread.join().unwrap();
    }
}

//@ verified
//@ executions = 1
#[test]
fn states_follow_each_other() {
    let state = Arc::new(AtomicU8::new(0));
    let other = Arc::clone(&state);
    let thread = spawn(move || {
        while other.load(SeqCst) != 1 {
            spin_loop();
        }
        other.store(2, SeqCst);
    });
    state.store(1, SeqCst);
    let last = loop {
        match state.load(SeqCst) {
            1 => spin_loop(),
            last => break last,
        }
    };
    assert_eq!(last, 2);
    thread.join().unwrap();
}

/// Two words that are written together, and a count that is odd meanwhile.
#[derive(Default)]
struct Versioned {
    version: AtomicUsize,
    words: [AtomicUsize; 2],
}

//@ clean
//@ executions <= 15
#[test]
fn versions_of_a_pair() {
    let pair = Arc::new(Versioned::default());
    let other = Arc::clone(&pair);
    let thread = spawn(move || {
        other.version.store(1, SeqCst);
        other.words[0].store(5, SeqCst);
        other.words[1].store(5, SeqCst);
        other.version.store(2, SeqCst);
    });
    let seen = loop {
        let version = pair.version.load(SeqCst);
        if version % 2 == 1 {
            spin_loop();
            continue;
        }
        let seen = [0, 1].map(|number: usize| pair.words[number].load(SeqCst));
        if pair.version.load(SeqCst) == version {
            break seen;
        }
    };
    assert_eq!(seen[0], seen[1]);
    thread.join().unwrap();
}
