//! Locks of parking_lot 0.13, which gives a mutex back by a subtraction, and whose recursive readers have a lock of their own.

use parking_lot_013::{
    Condvar, FairMutex, Mutex, MutexGuard, Once, RecursiveRwLock, ReentrantMutex, RwLock,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

/// What a thread does beside another with the same value.
fn beside<T: Send + Sync + 'static>(value: &Arc<T>, act: fn(&T)) -> JoinHandle<()> {
    let value = Arc::clone(value);
    spawn(move || act(&value))
}

//@ verified
//@ executions = 2
#[test]
fn two_increments() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, |count| *count.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

//@ verified
//@ executions = 20
//@ with --search=states verified
#[test]
fn three_increments_each() {
    let count = Arc::new(Mutex::new(0));
    let increment = |count: &Mutex<u32>| (0..3).for_each(|_| *count.lock() += 1);
    let threads = [beside(&count, increment), beside(&count, increment)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock(), 6);
}

/// Two locks that are never held in both orders: a lock that seems never to be given back would be held at the second one.
//@ verified
//@ executions = 1
#[test]
fn one_lock_is_given_back_before_the_other_is_taken() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let thread = beside(&locks, |locks| {
        drop(locks.1.lock());
        *locks.0.lock() += 1;
    });
    let first = locks.0.lock();
    *locks.1.lock() += 1;
    drop(first);
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn in_two_orders() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let thread = beside(&locks, |locks| {
        let _second = locks.1.lock();
        *locks.0.lock() += 1; //~ bug
    });
    {
        let _first = locks.0.lock();
        *locks.1.lock() += 1; //~ bug
    }
    thread.join().unwrap();
}

struct Behind {
    lock: Mutex<()>,
    value: UnsafeCell<u32>,
}

// SAFETY: wrong, which is what the program is about.
unsafe impl Sync for Behind {}

//@ failed data-race
#[test]
fn behind_the_lock() {
    let behind = Arc::new(Behind { lock: Mutex::new(()), value: UnsafeCell::new(0) });
    let touch = |behind: &Behind| {
        drop(behind.lock.lock());
        // SAFETY: wrong, see above.
        unsafe { *behind.value.get() += 1 }; //~ bug
    };
    let thread = beside(&behind, touch);
    touch(&behind);
    thread.join().unwrap();
}

//@ verified
//@ executions = 14
#[test]
fn two_waiters_are_notified() {
    let queue = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let take = |(queue, filled): &(Mutex<Vec<u32>>, Condvar)| {
        let mut queue = queue.lock();
        while queue.is_empty() {
            filled.wait(&mut queue);
        }
        queue.pop();
    };
    let threads = [beside(&queue, take), beside(&queue, take)];
    queue.0.lock().extend([1, 2]);
    queue.1.notify_all();
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ passed virtual-time
//@ executions <= 310
#[test]
fn one_waiter_times_out() {
    let done = Arc::new((Mutex::new(false), Condvar::new()));
    let thread = beside(&done, |(done, changed)| {
        let mut done = done.lock();
        while !*done {
            changed.wait_for(&mut done, Duration::from_millis(10));
        }
    });
    *done.0.lock() = true;
    done.1.notify_one();
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn fair_locks_and_fair_unlocking() {
    let counts = Arc::new((Mutex::new(0), FairMutex::new(0)));
    let thread = beside(&counts, |(count, fair)| {
        let mut count = count.lock();
        *count += 1;
        *fair.lock() += 1;
        MutexGuard::unlock_fair(count);
    });
    {
        let mut count = counts.0.lock();
        *count += 1;
        *counts.1.lock() += 1;
    }
    thread.join().unwrap();
    assert_eq!((*counts.0.lock(), *counts.1.lock()), (2, 2));
}

//@ verified
//@ executions = 3
#[test]
fn a_lock_is_tried() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, |count| {
        if let Some(mut count) = count.try_lock() {
            *count += 1;
        }
    });
    *count.lock() += 1;
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_reentrant_lock() {
    let count = Arc::new(ReentrantMutex::new(Cell::new(0)));
    let increment = |count: &ReentrantMutex<Cell<u32>>| {
        let outer = count.lock();
        outer.set(count.lock().get() + 1);
    };
    let thread = beside(&count, increment);
    increment(&count);
    thread.join().unwrap();
    assert_eq!(count.lock().get(), 2);
}

//@ verified
//@ executions = 4
#[test]
fn two_readers_and_a_writer() {
    let value = Arc::new(RwLock::new(0));
    let look = |value: &RwLock<u32>| assert!(*value.read() < 2);
    let threads = [beside(&value, look), beside(&value, look)];
    *value.write() += 1;
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ verified
//@ executions <= 22
#[test]
fn tried_and_downgraded() {
    let value = Arc::new(RwLock::new(0));
    let thread = beside(&value, |value| {
        let _ = value.try_read().map(|value| *value);
        if let Some(mut value) = value.try_write() {
            *value += 1;
        }
    });
    let mut written = value.write();
    *written += 1;
    assert!(*RwLockWriteGuard::downgrade(written) < 3);
    thread.join().unwrap();
}

//@ verified
//@ executions <= 7
#[test]
fn upgraded() {
    let value = Arc::new(RwLock::new(0));
    let increment = |value: &RwLock<u32>| {
        *RwLockUpgradableReadGuard::upgrade(value.upgradable_read()) += 1;
    };
    let thread = beside(&value, increment);
    increment(&value);
    thread.join().unwrap();
    assert_eq!(*value.read(), 2);
}

/// A writer waits between the two: the second reader of an RwLock waits for it, and it for the first reader.
//@ failed deadlock
#[test]
fn reads_again_beside_a_writer() {
    let value = Arc::new(RwLock::new(0));
    let thread = beside(&value, |value| *value.write() += 1);
    let first = value.read();
    let second = value.read(); //~ bug
    assert_eq!(*first, *second);
    drop((first, second));
    thread.join().unwrap();
}

//@ verified
//@ executions <= 11
#[test]
fn reads_a_recursive_lock_again_beside_a_writer() {
    let value = Arc::new(RecursiveRwLock::new(0));
    let thread = beside(&value, |value| *value.write() += 1);
    let first = value.read();
    let second = value.read();
    assert_eq!(*first, *second);
    drop((first, second));
    thread.join().unwrap();
}

struct Made {
    once: Once,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is written by whoever is called once, and read behind that.
unsafe impl Sync for Made {}

//@ verified
//@ executions = 1
#[test]
fn waits_for_what_another_initialises() {
    let made = Arc::new(Made { once: Once::new(), value: UnsafeCell::new(0) });
    let wait = beside(&made, |made| {
        made.once.wait();
        // SAFETY: written, once and before.
        assert_eq!(unsafe { *made.value.get() }, 1);
    });
    let force = beside(&made, |made| {
        made.once.wait_force();
        // SAFETY: written, once and before.
        assert_eq!(unsafe { *made.value.get() }, 1);
    });
    // SAFETY: nobody reads before.
    made.once.call_once(|| unsafe { *made.value.get() = 1 });
    wait.join().unwrap();
    force.join().unwrap();
}

/// Who waits for what fails panics, in each order.
//@ failed panic
#[test]
fn waits_for_what_fails() {
    let once = Arc::new(Once::new());
    let thread = beside(&once, |once| once.call_once(|| panic!("not made")));
    once.wait(); //~ bug
    let _ = thread.join();
}
