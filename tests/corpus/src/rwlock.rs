//! std's RwLock: sharing, exclusion, upgrades that deadlock, `try_read`, poisoning, downgrades.

use crate::shared::Shared;
use std::sync::mpsc::channel;
use std::sync::{Arc, RwLock, RwLockWriteGuard};
use std::thread::{scope, spawn};

//@ verified
//@ executions = 1
#[test]
fn two_readers() {
    let value = Arc::new(RwLock::new(7));
    let other = Arc::clone(&value);
    let thread = spawn(move || *other.read().unwrap());
    let mine = *value.read().unwrap();
    assert_eq!(mine, thread.join().unwrap());
}

//@ verified
#[test]
fn readers_may_overlap() {
    let value = Arc::new((RwLock::new(1), RwLock::new(2)));
    let other = Arc::clone(&value);
    let thread = spawn(move || {
        let first = other.0.read().unwrap();
        *first + *other.1.read().unwrap()
    });
    let second = value.1.read().unwrap();
    let sum = *second + *value.0.read().unwrap();
    drop(second);
    assert_eq!(sum, thread.join().unwrap());
}

//@ verified
//@ executions = 2
#[test]
fn a_writer_and_a_reader() {
    let pair = Arc::new(RwLock::new((0, 0)));
    let other = Arc::clone(&pair);
    let thread = spawn(move || {
        let mut pair = other.write().unwrap();
        pair.0 = 1;
        pair.1 = 1;
    });
    let seen = *pair.read().unwrap();
    assert_eq!(seen.0, seen.1);
    thread.join().unwrap();
    assert_eq!(*pair.read().unwrap(), (1, 1));
}

//@ verified
//@ executions = 2
#[test]
fn two_writers() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.write().unwrap() += 1);
    *count.write().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.read().unwrap(), 2);
}

//@ failed panic
#[test]
fn lost_update_between_read_and_write() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let seen = *other.read().unwrap();
        *other.write().unwrap() = seen + 1;
    });
    let seen = *count.read().unwrap();
    *count.write().unwrap() = seen + 1;
    thread.join().unwrap();
    assert_eq!(*count.read().unwrap(), 2); //~ bug
}

//@ failed deadlock
#[test]
fn an_upgrade() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let seen = other.read().unwrap();
        *other.write().unwrap() = *seen + 1; //~ bug
    });
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_recursive_read_behind_a_writer() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.write().unwrap() += 1); //~ bug
    let first = count.read().unwrap();
    let second = count.read().unwrap(); //~ bug
    drop((first, second));
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_reader_and_a_writer_crossing() {
    let locks = Arc::new((RwLock::new(0), RwLock::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _a = other.0.read().unwrap();
        let _b = other.1.write().unwrap(); //~ bug
    });
    let b = locks.1.read().unwrap();
    let a = locks.0.write().unwrap(); //~ bug
    drop((a, b));
    thread.join().unwrap();
}

//@ verified
//@ executions = 4
#[test]
fn attempts() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || other.try_write().map(|mut count| *count += 1).is_ok());
    let seen = count.try_read().map(|count| *count);
    let written = thread.join().unwrap();
    assert!(written || seen.is_ok());
    assert!(seen.unwrap_or(0) <= 1);
}

//@ verified
#[test]
fn a_panicking_reader_does_not_poison() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let _guard = other.read().unwrap();
        panic!("does not poison");
    });
    *count.write().unwrap() += 1;
    assert!(thread.join().is_err());
    assert!(!count.is_poisoned());
}

//@ verified
#[test]
fn a_panicking_writer_poisons() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let _guard = other.write().unwrap();
        panic!("poisons");
    });
    assert!(thread.join().is_err());
    assert!(count.read().is_err());
}

//@ verified
#[test]
fn a_downgrade_lets_readers_in() {
    let lock = RwLock::new(0);
    let (sender, receiver) = channel();
    scope(|scope| {
        let mut writer = lock.write().unwrap();
        scope.spawn(|| {
            assert_eq!(*lock.read().unwrap(), 1);
            sender.send(()).unwrap();
        });
        *writer = 1;
        let _reader = RwLockWriteGuard::downgrade(writer);
        receiver.recv().unwrap();
    });
}

//@ failed deadlock
#[test]
fn a_downgrade_keeps_writers_out() {
    let lock = RwLock::new(0);
    let (sender, receiver) = channel();
    scope(|scope| {
        let writer = lock.write().unwrap();
        scope.spawn(|| {
            *lock.write().unwrap() += 1; //~ bug
            sender.send(()).unwrap();
        });
        let _reader = RwLockWriteGuard::downgrade(writer);
        receiver.recv().unwrap(); //~ bug
    });
}

//@ failed data-race
#[test]
fn writing_behind_a_downgrade() {
    let lock = RwLock::new(());
    let cell = Shared::new(0);
    scope(|scope| {
        scope.spawn(|| {
            let _reader = RwLockWriteGuard::downgrade(lock.write().unwrap());
            unsafe { *cell.ptr() = 1 }; //~ bug
        });
        let _reader = lock.read().unwrap();
        assert!(unsafe { *cell.ptr() } < 2); //~ bug
    });
}

//@ failed deadlock
#[test]
fn reading_again_behind_a_downgrade() {
    let lock = RwLock::new(0);
    scope(|scope| {
        scope.spawn(|| *lock.write().unwrap() += 1); //~ bug
        let _reader = RwLockWriteGuard::downgrade(lock.write().unwrap());
        let _again = lock.read().unwrap(); //~ bug
    });
}

//@ verified
#[test]
fn attempts_behind_a_downgrade() {
    let lock = RwLock::new(0);
    scope(|scope| {
        scope.spawn(|| {
            let reader = RwLockWriteGuard::downgrade(lock.write().unwrap());
            assert!(lock.try_write().is_err());
            drop(reader);
        });
        if let Ok(reader) = lock.try_read() {
            assert_eq!(*reader, 0);
        }
    });
}
