//! Loops that wait: with hints and without, bounded and endless, and the locks made of them.

use crate::shared::Shared;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread::{spawn, yield_now};

/// A lock made of a flag; what it guards lies beside it.
struct SpinLock {
    held: AtomicBool,
    count: Shared<u32>,
}

fn spin_lock() -> (Arc<SpinLock>, Arc<SpinLock>) {
    let lock = Arc::new(SpinLock { held: AtomicBool::new(false), count: Shared::new(0) });
    (Arc::clone(&lock), lock)
}

impl SpinLock {
    fn acquire(&self) {
        while self.held.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            spin_loop();
        }
    }

    fn release(&self) {
        self.held.store(false, Release);
    }
}

//@ verified
//@ executions = 1
#[test]
fn spinning_with_a_hint() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    while !flag.load(SeqCst) {
        spin_loop();
    }
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn spinning_without_a_hint() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    while !flag.load(SeqCst) {}
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn spinning_with_a_yield() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    while !flag.load(SeqCst) {
        yield_now();
    }
    thread.join().unwrap();
}

//@ failed livelock|deadlock
#[test]
fn spinning_for_ever() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(false, SeqCst));
    loop {
        let set = flag.load(SeqCst); //~ bug
        if set {
            break;
        }
        spin_loop();
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn spinning_a_few_times() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    for _ in 0..3 {
        if flag.load(SeqCst) {
            break;
        }
        spin_loop();
    }
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn spinning_too_few_times() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    let mut tries = 0;
    while tries < 3 && !flag.load(SeqCst) {
        tries += 1;
        spin_loop();
    }
    assert!(flag.load(SeqCst)); //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn spinning_relaxed() {
    let (mine, theirs) = spin_lock();
    let thread = spawn(move || {
        unsafe { *theirs.count.ptr() = 1 }; //~ bug
        theirs.held.store(true, Relaxed);
    });
    while !mine.held.load(Relaxed) {
        spin_loop();
    }
    assert_eq!(unsafe { *mine.count.ptr() }, 1); //~ bug
    thread.join().unwrap();
}

//@ passed memory-model-sc
#[test]
fn a_spin_lock() {
    let (mine, theirs) = spin_lock();
    let thread = spawn(move || {
        theirs.acquire();
        unsafe { *theirs.count.ptr() += 1 };
        theirs.release();
    });
    mine.acquire();
    unsafe { *mine.count.ptr() += 1 };
    mine.release();
    thread.join().unwrap();
    assert_eq!(unsafe { *mine.count.ptr() }, 2);
}

//@ failed data-race
#[test]
fn a_spin_lock_released_relaxed() {
    let (mine, theirs) = spin_lock();
    let thread = spawn(move || {
        theirs.acquire();
        unsafe { *theirs.count.ptr() += 1 }; //~ bug
        theirs.held.store(false, Relaxed);
    });
    mine.acquire();
    unsafe { *mine.count.ptr() += 1 }; //~ bug
    mine.held.store(false, Relaxed);
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_spin_lock_tested_before_set() {
    let (mine, theirs) = spin_lock();
    let acquire = |lock: &SpinLock| {
        while lock.held.load(SeqCst) {
            spin_loop();
        }
        lock.held.store(true, SeqCst);
    };
    let thread = spawn(move || {
        acquire(&theirs);
        unsafe { *theirs.count.ptr() += 1 }; //~ bug
        theirs.held.store(false, SeqCst);
    });
    acquire(&mine);
    unsafe { *mine.count.ptr() += 1 }; //~ bug
    mine.held.store(false, SeqCst);
    thread.join().unwrap();
}

//@ failed livelock|deadlock
#[test]
fn two_spin_locks_crossing() {
    let ((a, b), (c, d)) = (spin_lock(), spin_lock());
    let thread = spawn(move || {
        a.acquire();
        c.acquire();
        c.release();
        a.release();
    });
    d.acquire();
    b.acquire();
    b.release();
    d.release();
    thread.join().unwrap();
}

//@ passed memory-model-sc
#[test]
fn a_ticket_lock() {
    struct Ticket(AtomicU32, AtomicU32, Shared<u32>);
    fn add(lock: &Ticket) {
        let mine = lock.0.fetch_add(1, Relaxed);
        while lock.1.load(Acquire) != mine {
            spin_loop();
        }
        unsafe { *lock.2.ptr() += 1 };
        lock.1.store(mine + 1, Release);
    }
    let lock = Arc::new(Ticket(AtomicU32::new(0), AtomicU32::new(0), Shared::new(0)));
    let other = Arc::clone(&lock);
    let thread = spawn(move || add(&other));
    add(&lock);
    thread.join().unwrap();
    assert_eq!(unsafe { *lock.2.ptr() }, 2);
}

//@ verified
#[test]
fn petersons_lock() {
    struct Peterson([AtomicBool; 2], AtomicU32, Shared<u32>);
    fn add(lock: &Peterson, me: usize) {
        lock.0[me].store(true, SeqCst);
        lock.1.store(1 - me as u32, SeqCst);
        while lock.0[1 - me].load(SeqCst) && lock.1.load(SeqCst) != me as u32 {
            spin_loop();
        }
        unsafe { *lock.2.ptr() += 1 };
        lock.0[me].store(false, SeqCst);
    }
    let flags = [AtomicBool::new(false), AtomicBool::new(false)];
    let lock = Arc::new(Peterson(flags, AtomicU32::new(0), Shared::new(0)));
    let other = Arc::clone(&lock);
    let thread = spawn(move || add(&other, 1));
    add(&lock, 0);
    thread.join().unwrap();
    assert_eq!(unsafe { *lock.2.ptr() }, 2);
}

//@ verified
//@ executions = 1
#[test]
fn two_sides_waiting_for_each_other() {
    let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    let other = Arc::clone(&flags);
    let thread = spawn(move || {
        other.0.store(true, SeqCst);
        while !other.1.load(SeqCst) {
            spin_loop();
        }
    });
    flags.1.store(true, SeqCst);
    while !flags.0.load(SeqCst) {
        spin_loop();
    }
    thread.join().unwrap();
}
