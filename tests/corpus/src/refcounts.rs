//! Arc and Weak: who is last, who may still upgrade, what a count says.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::thread::spawn;

/// Counts how often it is dropped.
struct Counts(Arc<AtomicU32>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

//@ clean
#[test]
fn dropped_exactly_once() {
    let drops = Arc::new(AtomicU32::new(0));
    let counts = Arc::new(Counts(Arc::clone(&drops)));
    let other = Arc::clone(&counts);
    let thread = spawn(move || drop(other));
    drop(counts);
    thread.join().unwrap();
    assert_eq!(drops.load(SeqCst), 1);
}

//@ failed panic
#[test]
fn dropped_by_the_wrong_one() {
    struct Owner(Mutex<Option<std::thread::ThreadId>>, Arc<Mutex<Vec<bool>>>);
    impl Drop for Owner {
        fn drop(&mut self) {
            let owner = *self.0.get_mut().unwrap();
            let mine = owner == Some(std::thread::current().id());
            self.1.lock().unwrap().push(mine);
        }
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let owner = Mutex::new(Some(std::thread::current().id()));
    let owned = Arc::new(Owner(owner, Arc::clone(&log)));
    let other = Arc::clone(&owned);
    let thread = spawn(move || drop(other));
    drop(owned);
    thread.join().unwrap();
    assert_eq!(*log.lock().unwrap(), [true]); //~ bug
}

//@ clean
#[test]
fn one_of_two_gets_the_inner_value() {
    let value = Arc::new(String::from("inner"));
    let other = Arc::clone(&value);
    let thread = spawn(move || Arc::into_inner(other));
    let mine = Arc::into_inner(value);
    let theirs = thread.join().unwrap();
    assert!(mine.is_some() != theirs.is_some());
}

//@ failed panic
#[test]
fn nobody_may_get_the_inner_value() {
    let value = Arc::new(String::from("inner"));
    let other = Arc::clone(&value);
    let thread = spawn(move || Arc::try_unwrap(other).ok());
    let mine = Arc::try_unwrap(value).ok();
    let theirs = thread.join().unwrap();
    assert!(mine.is_some() || theirs.is_some()); //~ bug
}

//@ failed panic
#[test]
fn a_count_that_is_stale() {
    let value = Arc::new(());
    let other = Arc::clone(&value);
    let thread = spawn(move || drop(other));
    assert_eq!(Arc::strong_count(&value), 2); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn an_upgrade_succeeds_or_not() {
    let value = Arc::new(7);
    let weak = Arc::downgrade(&value);
    let thread = spawn(move || weak.upgrade().is_none_or(|value| *value == 7));
    drop(value);
    assert!(thread.join().unwrap());
}

//@ failed panic
#[test]
fn an_upgrade_that_fails_in_some_orders() {
    let value = Arc::new(7);
    let other = Arc::clone(&value);
    let weak = Arc::downgrade(&value);
    drop(value);
    let thread = spawn(move || drop(other));
    assert_eq!(*weak.upgrade().unwrap(), 7); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn a_cycle_through_weak() {
    let node = Arc::new_cyclic(|itself: &Weak<(u32, Weak<u32>)>| {
        let _ = itself.clone();
        (5, Weak::new())
    });
    let other = Arc::clone(&node);
    let thread = spawn(move || other.0);
    assert!(node.1.upgrade().is_none());
    assert_eq!(thread.join().unwrap(), 5);
}

//@ verified
#[test]
fn mutable_again_behind_join() {
    let mut value = Arc::new(1);
    let other = Arc::clone(&value);
    spawn(move || assert_eq!(*other, 1)).join().unwrap();
    *Arc::get_mut(&mut value).unwrap() += 1;
    assert_eq!(*value, 2);
}
