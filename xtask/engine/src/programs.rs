//! The programs that the bench compares checkers on, written against `crate::sync`: every crate
//! that compiles this file says there what a lock, an atomic and a thread are.
//!
//! The file is compiled for std (checked by lockred), for loom and for shuttle. `Arc` is std's for
//! all of them, and every atomic operation is `SeqCst`: loom would explore the counts of its own
//! `Arc`, and shuttle knows no weaker order. Plain memory is what the locks hold; that only lockred
//! looks at it is to the others' advantage.

use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::sync::mpsc::{Receiver, channel};
use crate::sync::{Condvar, Mutex, thread};
use std::collections::VecDeque;
use std::sync::Arc;

/// Hands the names of all programs to a macro: the one list that tests and runners are made from.
macro_rules! each_program {
    ($macro:ident) => {
        $macro! {
            fetch_add lock_increment two_lock_rounds disjoint_locks updates_under_lock
            store_and_loads bounded_buffer mpsc_pipeline treiber_stack
        }
    };
}
pub(crate) use each_program;

/// Starts `threads` threads, which are told their numbers, and joins them.
fn run(threads: usize, body: impl Fn(usize) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let handles: Vec<_> = (0..threads)
        .map(|number| {
            let body = Arc::clone(&body);
            thread::spawn(move || body(number))
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

/// Each thread increments an atomic counter once and looks at what it found.
pub fn fetch_add(threads: usize) {
    let counter = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&counter);
    run(threads, move |_| assert!(shared.fetch_add(1, SeqCst) < threads));
    assert_eq!(counter.load(SeqCst), threads);
}

/// Each thread increments a counter once under a lock.
pub fn lock_increment(threads: usize) {
    lock_rounds(threads, 1);
}

/// Each thread increments a counter twice, and takes the lock for it twice.
pub fn two_lock_rounds(threads: usize) {
    lock_rounds(threads, 2);
}

/// Each thread increments a counter under a lock, so often.
fn lock_rounds(threads: usize, rounds: usize) {
    let counter = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&counter);
    run(threads, move |_| {
        for _ in 0..rounds {
            *shared.lock().unwrap() += 1;
        }
    });
    assert_eq!(*counter.lock().unwrap(), threads * rounds);
}

/// Each thread increments a counter of its own three times, under a lock of its own.
pub fn disjoint_locks(threads: usize) {
    let counters: Arc<Vec<_>> = Arc::new((0..threads).map(|_| Mutex::new(0)).collect());
    let shared = Arc::clone(&counters);
    run(threads, move |number| {
        for _ in 0..3 {
            *shared[number].lock().unwrap() += 1;
        }
    });
    assert!(counters.iter().all(|counter| *counter.lock().unwrap() == 3));
}

/// Each thread increments an atomic counter four times while it holds a lock.
pub fn updates_under_lock(threads: usize) {
    let counter = Arc::new((Mutex::new(()), AtomicUsize::new(0)));
    let shared = Arc::clone(&counter);
    run(threads, move |_| {
        let (lock, counter) = &*shared;
        let held = lock.lock().unwrap();
        for _ in 0..4 {
            counter.fetch_add(1, SeqCst);
        }
        drop(held);
    });
    assert_eq!(counter.1.load(SeqCst), 4 * threads);
}

/// The main thread stores once, each of the others loads once.
pub fn store_and_loads(threads: usize) {
    let value = Arc::new(AtomicUsize::new(0));
    let loads = (0..threads).map(|_| {
        let value = Arc::clone(&value);
        thread::spawn(move || value.load(SeqCst))
    });
    let loads: Vec<_> = loads.collect();
    value.store(1, SeqCst);
    for load in loads {
        assert!(load.join().unwrap() <= 1);
    }
}

/// Producers put two items each into a buffer that holds one, consumers take equal shares of them;
/// half of the threads consume.
pub fn bounded_buffer(threads: usize) {
    struct Buffer {
        items: Mutex<VecDeque<usize>>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    let consumers = threads / 2;
    let items = 2 * (threads - consumers);
    let buffer = Buffer {
        items: Mutex::new(VecDeque::with_capacity(1)),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    };
    let buffer = Arc::new(buffer);
    let shared = Arc::clone(&buffer);
    run(threads, move |number| {
        if number < consumers {
            for _ in 0..items / consumers {
                let mut items = shared.items.lock().unwrap();
                while items.is_empty() {
                    items = shared.not_empty.wait(items).unwrap();
                }
                items.pop_front();
                shared.not_full.notify_one();
            }
        } else {
            for item in 0..2 {
                let mut items = shared.items.lock().unwrap();
                while !items.is_empty() {
                    items = shared.not_full.wait(items).unwrap();
                }
                items.push_back(item);
                shared.not_empty.notify_one();
            }
        }
    });
    assert!(buffer.items.lock().unwrap().is_empty());
}

/// Two numbers go through a chain of threads, one channel between each and the next; every thread
/// adds one.
pub fn mpsc_pipeline(threads: usize) {
    const ITEMS: usize = 2;
    let (first, mut end): (_, Receiver<usize>) = channel();
    let mut handles = Vec::new();
    for _ in 0..threads {
        let (next, next_end) = channel();
        let input = std::mem::replace(&mut end, next_end);
        handles.push(thread::spawn(move || {
            for _ in 0..ITEMS {
                next.send(input.recv().unwrap() + 1).unwrap();
            }
        }));
    }
    for item in 0..ITEMS {
        first.send(item).unwrap();
    }
    for item in 0..ITEMS {
        assert_eq!(end.recv().unwrap(), item + threads);
    }
    for handle in handles {
        handle.join().unwrap();
    }
}

/// Each thread pushes its node on a Treiber stack and pops one; nodes are named by number, and none
/// is used twice.
pub fn treiber_stack(threads: usize) {
    const NONE: usize = usize::MAX;
    struct Stack {
        top: AtomicUsize,
        below: Vec<AtomicUsize>,
    }
    let below = (0..threads).map(|_| AtomicUsize::new(NONE)).collect();
    let stack = Arc::new(Stack { top: AtomicUsize::new(NONE), below });
    let shared = Arc::clone(&stack);
    run(threads, move |node| {
        let mut top = shared.top.load(SeqCst);
        loop {
            shared.below[node].store(top, SeqCst);
            match shared.top.compare_exchange(top, node, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(now) => top = now,
            }
        }
        let mut top = shared.top.load(SeqCst);
        loop {
            assert!(top != NONE, "every thread pushes before it pops");
            let below = shared.below[top].load(SeqCst);
            match shared.top.compare_exchange(top, below, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(now) => top = now,
            }
        }
    });
    assert_eq!(stack.top.load(SeqCst), NONE);
}
