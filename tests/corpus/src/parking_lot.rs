//! parking_lot's locks: as few executions as with std's.

use crate::shared::Shared;
use parking_lot::{
    Condvar, FairMutex, Mutex, MutexGuard, Once, OnceState, ReentrantMutex, RwLock,
    RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::spawn;
use std::time::Duration;

fn increments(threads: usize) {
    let count = Arc::new(Mutex::new(0));
    let start = || {
        let count = Arc::clone(&count);
        spawn(move || *count.lock() += 1)
    };
    let started: Vec<_> = (0..threads).map(|_| start()).collect();
    for thread in started {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock(), threads);
}

//@ verified
//@ executions = 2
#[test]
fn two_increments() {
    increments(2);
}

//@ verified
//@ executions = 6
#[test]
fn three_increments() {
    increments(3);
}

//@ verified
//@ executions = 24
#[test]
fn four_increments() {
    increments(4);
}

//@ verified
//@ executions = 1
#[test]
fn different_locks_need_one_execution() {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let other = Arc::clone(&locks);
    let thread = spawn(move || *other[1].lock() += 1);
    *locks[0].lock() += 1;
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn ab_ba() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _a = other.0.lock();
        let _b = other.1.lock(); //~ bug
    });
    let b = locks.1.lock();
    let a = locks.0.lock(); //~ bug
    drop((a, b));
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_try_may_fail() {
    let lock = Arc::new(Mutex::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.lock() += 1);
    *lock.try_lock().unwrap() += 1; //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 3
#[test]
fn a_try_takes_it_or_leaves_it() {
    let lock = Arc::new(Mutex::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.lock() += 1);
    let mine = lock.try_lock().map(|mut guard| *guard += 1).is_some();
    thread.join().unwrap();
    assert_eq!(*lock.lock(), 1 + i32::from(mine));
}

//@ failed data-race
#[test]
fn a_lock_that_is_not_everybodys() {
    let shared = Arc::new((Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        let _guard = other.0.lock();
        unsafe { *other.1.ptr() = 1 }; //~ bug
    });
    unsafe { *shared.1.ptr() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_fair_mutex() {
    let count = Arc::new(FairMutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

//@ verified
//@ executions = 3
#[test]
fn a_lock_given_back_for_a_while() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock() += 1);
    let mut guard = count.lock();
    let seen = *guard;
    MutexGuard::unlocked_fair(&mut guard, || ());
    assert!(*guard >= seen);
    drop(guard);
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_reentrant_mutex() {
    let count = Arc::new(ReentrantMutex::new(Cell::new(0)));
    let other = Arc::clone(&count);
    let increment = |count: &ReentrantMutex<Cell<i32>>| {
        let outer = count.lock();
        let inner = count.lock();
        inner.set(outer.get() + 1);
    };
    let thread = spawn(move || increment(&other));
    increment(&count);
    thread.join().unwrap();
    assert_eq!(count.lock().get(), 2);
}

//@ clean
#[test]
fn a_lock_with_a_timeout() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock() += 1);
    let mine = count.try_lock_for(Duration::from_millis(1)).map(|mut guard| *guard += 1);
    thread.join().unwrap();
    assert_eq!(*count.lock(), 1 + i32::from(mine.is_some()));
}

//@ verified
//@ executions = 1
#[test]
fn two_readers() {
    let lock = Arc::new(RwLock::new(1));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.read());
    assert_eq!(*lock.read() + thread.join().unwrap(), 2);
}

//@ verified
//@ executions = 2
#[test]
fn a_writer_and_a_reader() {
    let pair = Arc::new(RwLock::new((0, 0)));
    let other = Arc::clone(&pair);
    let thread = spawn(move || *other.write() = (1, 1));
    let seen = *pair.read();
    assert_eq!(seen.0, seen.1);
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn two_writers() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    *lock.write() += 1;
    thread.join().unwrap();
    assert_eq!(*lock.read(), 2);
}

//@ failed deadlock
#[test]
fn a_recursive_read_behind_a_writer() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1); //~ bug
    let outer = lock.read();
    let inner = lock.read(); //~ bug
    drop((outer, inner));
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_recursive_read_that_says_so() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    let outer = lock.read_recursive();
    let inner = lock.read_recursive();
    assert_eq!(*outer, *inner);
    drop((outer, inner));
    thread.join().unwrap();
}

//@ failed panic
//@ preemptions = 2
#[test]
fn tries_of_a_rwlock() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.read());
    assert!(lock.try_read().is_some());
    assert!(lock.try_write().is_some()); //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn an_upgradable_read_sees_what_it_writes_over() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let increment = |lock: &RwLock<i32>| {
        let seen = lock.upgradable_read();
        let next = *seen + 1;
        *RwLockUpgradableReadGuard::upgrade(seen) = next;
    };
    let thread = spawn(move || increment(&other));
    increment(&lock);
    thread.join().unwrap();
    assert_eq!(*lock.read(), 2);
}

//@ failed panic
#[test]
fn an_upgradable_read_beside_a_writer() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    let seen = lock.upgradable_read();
    let mine = RwLockUpgradableReadGuard::upgrade(seen);
    assert_eq!(*mine, 0); //~ bug
    drop(mine);
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_downgrade_keeps_writers_out() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    let mut mine = lock.write();
    *mine += 10;
    let written = *mine;
    let mine: RwLockReadGuard<'_, i32> = RwLockWriteGuard::downgrade(mine);
    assert_eq!(*mine, written);
    drop(mine);
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn one_call() {
    let shared = Arc::new((Once::new(), Shared::new(0)));
    let other = Arc::clone(&shared);
    let call = |shared: &(Once, Shared<i32>)| {
        shared.0.call_once(|| unsafe { *shared.1.ptr() += 1 });
        unsafe { *shared.1.ptr() }
    };
    let thread = spawn(move || call(&other));
    assert_eq!(call(&shared), 1);
    assert_eq!(thread.join().unwrap(), 1);
}

//@ failed panic
#[test]
fn a_poisoned_once() {
    let once = Arc::new(Once::new());
    let other = Arc::clone(&once);
    let thread = spawn(move || other.call_once(|| panic!("half done")));
    once.call_once(|| ()); //~ bug
    let _ = thread.join();
    assert_eq!(once.state(), OnceState::Done);
}

//@ passed virtual-time
//@ executions = 2
#[test]
fn a_signal() {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        *other.0.lock() = true;
        other.1.notify_one();
    });
    let mut ready = signal.0.lock();
    while !*ready {
        signal.1.wait(&mut ready);
    }
    drop(ready);
    thread.join().unwrap();
}

//@ passed virtual-time
//@ executions = 2
#[test]
fn a_signal_under_the_lock() {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        let mut ready = other.0.lock();
        *ready = true;
        other.1.notify_all();
    });
    let mut ready = signal.0.lock();
    while !*ready {
        signal.1.wait(&mut ready);
    }
    drop(ready);
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_lost_signal() {
    let signal = Arc::new((Mutex::new(()), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || other.1.notify_one());
    signal.1.wait(&mut signal.0.lock()); //~ bug
    thread.join().unwrap();
}

//@ passed virtual-time
//@ executions = 4
#[test]
fn two_waiters() {
    let signal = Arc::new((Mutex::new(0), Condvar::new()));
    let wait = |signal: &(Mutex<u32>, Condvar)| {
        let mut permits = signal.0.lock();
        while *permits == 0 {
            signal.1.wait(&mut permits);
        }
        *permits -= 1;
    };
    let other = Arc::clone(&signal);
    let thread = spawn(move || wait(&other));
    *signal.0.lock() += 2;
    signal.1.notify_all();
    wait(&signal);
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_wait_that_may_time_out() {
    let signal = Arc::new((Mutex::new(()), Condvar::new()));
    let other = Arc::clone(&signal);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let thread = spawn(move || {
        counted.fetch_add(1, SeqCst);
        other.1.notify_one();
    });
    let result = signal.1.wait_for(&mut signal.0.lock(), Duration::from_millis(1));
    assert!(!result.timed_out()); //~ bug
    thread.join().unwrap();
}
