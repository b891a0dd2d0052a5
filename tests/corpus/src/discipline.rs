//! Fields that are accessed under a lock, but not everywhere: warned of only where the lock is the rule and the exception is no beginning or end.

use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{scope, spawn};

/// A count that belongs to a lock beside it.
#[derive(Default)]
struct Gate {
    lock: Mutex<()>,
    passed: UnsafeCell<u32>,
    closed: AtomicBool,
}

// SAFETY: a lie, on purpose. Programs that use it are right only if they order their accesses.
unsafe impl Sync for Gate {}

impl Gate {
    fn passes(&self) {
        let _guard = self.lock.lock().unwrap();
        unsafe { *self.passed.get() += 1 };
    }

    fn goes_back(&self) {
        let _guard = self.lock.lock().unwrap();
        unsafe { *self.passed.get() -= 1 };
    }

    fn closes(&self) {
        let _guard = self.lock.lock().unwrap();
        unsafe { *self.passed.get() = 0 };
        self.closed.store(true, Release);
    }

    fn sets_alone(&self, passed: u32) {
        unsafe { *self.passed.get() = passed };
    }

    fn looks_alone(&self) -> u32 {
        unsafe { *self.passed.get() }
    }

    fn looks(&self) -> u32 {
        let _guard = self.lock.lock().unwrap();
        unsafe { *self.passed.get() }
    }
}

// A flag orders what is read without the lock.
//@ warned locking-discipline
#[test]
fn read_without_the_lock_once_it_is_closed() {
    let gate = Gate::default();
    scope(|scope| {
        scope.spawn(|| {
            gate.passes();
            gate.goes_back();
            gate.closes();
        });
        scope.spawn(|| {
            if gate.closed.load(Acquire) {
                assert_eq!(gate.looks_alone(), 0);
            }
        });
    });
}

// A message does.
//@ warned locking-discipline
#[test]
fn written_without_the_lock_behind_a_message() {
    let gate = Arc::new(Gate::default());
    let (sender, receiver) = channel();
    let one = Arc::clone(&gate);
    let first = spawn(move || {
        one.passes();
        one.goes_back();
        assert_eq!(one.looks(), 0);
        sender.send(()).unwrap();
    });
    let other = Arc::clone(&gate);
    let second = spawn(move || {
        receiver.recv().unwrap();
        other.sets_alone(7);
    });
    first.join().unwrap();
    second.join().unwrap();
}

// It is filled before there are threads, and read when they have been joined.
//@ verified
#[test]
fn without_the_lock_at_the_beginning_and_at_the_end() {
    let gate = Arc::new(Gate::default());
    gate.sets_alone(3);
    let other = Arc::clone(&gate);
    let thread = spawn(move || {
        other.passes();
        other.goes_back();
    });
    gate.passes();
    assert!(gate.looks() >= 3);
    thread.join().unwrap();
    assert_eq!(gate.looks_alone(), 4);
}

// A scope joins its threads in its own way.
//@ verified
#[test]
fn without_the_lock_behind_a_scope() {
    let gate = Gate::default();
    scope(|scope| {
        scope.spawn(|| {
            gate.passes();
            gate.goes_back();
        });
        scope.spawn(|| {
            gate.passes();
            gate.looks();
        });
    });
    assert_eq!(gate.looks_alone(), 1);
}

// Who makes it has it to himself until he publishes it.
//@ clean
#[test]
fn without_the_lock_before_others_know_of_it() {
    let place: Mutex<Option<Arc<Gate>>> = Mutex::new(None);
    scope(|scope| {
        scope.spawn(|| {
            let gate = Arc::new(Gate::default());
            gate.sets_alone(3);
            *place.lock().unwrap() = Some(Arc::clone(&gate));
            gate.passes();
            gate.goes_back();
        });
        scope.spawn(|| {
            let found = place.lock().unwrap().clone();
            if let Some(gate) = found {
                gate.passes();
                assert!(gate.looks() >= 3);
            }
        });
    });
}

// Two places make no rule.
//@ clean
#[test]
fn under_the_lock_at_two_places_only() {
    let gate = Gate::default();
    scope(|scope| {
        scope.spawn(|| {
            gate.passes();
            gate.closes();
        });
        scope.spawn(|| {
            if gate.closed.load(Acquire) {
                assert_eq!(gate.looks_alone(), 0);
            }
        });
    });
}

// An atomic needs no lock, wherever it is used.
//@ clean
#[test]
fn an_atomic_that_happens_to_be_used_under_a_lock() {
    let (lock, count) = (Mutex::new(()), AtomicU32::new(0));
    scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let guard = lock.lock().unwrap();
                count.fetch_add(1, Relaxed);
                count.fetch_add(1, Relaxed);
                count.fetch_sub(1, Relaxed);
                drop(guard);
                count.fetch_add(1, Relaxed);
            });
        }
    });
    assert_eq!(count.load(Relaxed), 4);
}

/// A value that only its lock leads to.
struct Account {
    balance: u32,
}

// Who owns a lock alone needs not take it.
//@ clean
#[test]
fn a_lock_that_is_handed_over_with_what_it_protects() {
    let account = Arc::new(Mutex::new(Account { balance: 1 }));
    let other = Arc::clone(&account);
    let (sender, receiver) = channel();
    let first = spawn(move || {
        other.lock().unwrap().balance += 1;
        other.lock().unwrap().balance += 2;
        other.lock().unwrap().balance -= 1;
        drop(account);
        sender.send(other).unwrap();
    });
    let second = spawn(move || {
        let mut account = receiver.recv().unwrap();
        Arc::get_mut(&mut account).unwrap().get_mut().unwrap().balance += 1;
    });
    first.join().unwrap();
    second.join().unwrap();
}
