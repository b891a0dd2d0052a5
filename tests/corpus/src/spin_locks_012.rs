//! Locks of spin 0.12, whose mutex tries weakly until it has the lock, and whose cells can be initialised from a reference.

use spin_012::mutex::SpinMutex;
use spin_012::{Mutex, Once, RwLock};
use std::sync::Arc;
use std::thread::spawn;

//@ verified
//@ executions = 6
#[test]
fn three_increments() {
    let count = Arc::new(Mutex::new(0));
    let start = || {
        let count = Arc::clone(&count);
        spawn(move || *count.lock() += 1)
    };
    let started: Vec<_> = (0..3).map(|_| start()).collect();
    for thread in started {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock(), 3);
}

//@ failed panic
#[test]
fn a_weak_try_may_fail() {
    let lock = Arc::new(SpinMutex::<_>::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.lock() += 1);
    *lock.try_lock_weak().unwrap() += 1; //~ bug
    thread.join().unwrap();
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
fn one_of_two_initialises_from_a_reference() {
    let cell = Arc::new(Once::<u32>::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.init_from_ref(&1));
    let seen = *cell.call_once(|| 2);
    assert_eq!(thread.join().unwrap(), seen);
}
