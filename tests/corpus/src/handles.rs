//! Handles of threads that are dropped without a join: what the thread and its handle share is dropped by whoever comes last.

use crate::shared::Shared;
use std::cell::Cell;
use std::panic::panic_any;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::{current, park, scope, spawn};

//@ verified
//@ executions = 1
#[test]
fn threads_that_nobody_joins() {
    for number in 0..3 {
        spawn(move || assert!(number < 3));
    }
}

//@ verified
//@ executions = 6
#[test]
fn a_scope_of_three_threads() {
    let counter = Mutex::new(0);
    scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| *counter.lock().unwrap() += 1);
        }
    });
    assert_eq!(counter.into_inner().unwrap(), 3);
}

//@ verified
//@ executions <= 14
#[test]
fn a_scope_whose_handles_are_kept() {
    let counter = Mutex::new(0);
    scope(|scope| {
        let _one = scope.spawn(|| *counter.lock().unwrap() += 1);
        let _other = scope.spawn(|| *counter.lock().unwrap() += 1);
    });
    assert_eq!(counter.into_inner().unwrap(), 2);
}

//@ verified
//@ executions = 1
#[test]
fn results_that_have_nothing_to_drop() {
    let text = String::from("four");
    scope(|scope| {
        scope.spawn(|| text.len());
        scope.spawn(|| (text.as_str(), text.parse::<u8>().ok()));
        scope.spawn(|| text.find('o').ok_or(4_u8));
    });
}

//@ failed data-race
#[test]
fn what_follows_the_creation_races_with_the_thread() {
    let cell = Shared::new(0);
    scope(|scope| {
        scope.spawn(|| unsafe { *cell.ptr() = 1 }); //~ bug
        unsafe { *cell.ptr() = 2 }; //~ bug
    });
}

//@ verified
#[test]
fn what_follows_the_scope_does_not_race() {
    let cell = Shared::new(0);
    scope(|scope| {
        scope.spawn(|| unsafe { *cell.ptr() = 1 });
    });
    unsafe { *cell.ptr() += 1 };
    assert_eq!(unsafe { *cell.ptr() }, 2);
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn threads_of_a_scope_deadlock() {
    let (one, other) = (Mutex::new(()), Mutex::new(()));
    scope(|scope| {
        scope.spawn(|| {
            let _one = one.lock().unwrap();
            let _other = other.lock().unwrap(); //~ bug
        });
        scope.spawn(|| {
            let _other = other.lock().unwrap();
            let _one = one.lock().unwrap(); //~ bug
        });
    });
}

/// Takes a lock when it is dropped.
struct Locks<'a>(&'a Mutex<()>);

impl Drop for Locks<'_> {
    fn drop(&mut self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The result is dropped by the thread, or, if that was faster, with the handle, under the lock.
//@ failed deadlock
#[test]
fn the_result_of_a_thread_is_dropped_with_its_handle() {
    let lock = Mutex::new(());
    scope(|scope| {
        let guard = lock.lock().unwrap();
        scope.spawn(|| Locks(&lock));
        drop(guard);
    });
}

/// Says by its end in which thread it was dropped.
struct Tells;

static DROPPED_BY_MAIN: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Tells {
    fn drop(&mut self) {
        DROPPED_BY_MAIN.fetch_add(u32::from(IS_MAIN.get()), Relaxed);
    }
}

/// What a thread panics with is a result, too.
//@ failed panic
#[test]
fn the_payload_of_a_thread_is_dropped_with_its_handle() {
    IS_MAIN.set(true);
    spawn(|| panic_any(Tells));
    assert_eq!(DROPPED_BY_MAIN.load(Relaxed), 0); //~ bug
}

//@ failed panic
#[test]
fn a_thread_may_have_finished_before_its_handle_is_dropped() {
    let thread = spawn(|| {});
    assert!(!thread.is_finished()); //~ bug
}

//@ failed panic
#[test]
fn a_thread_may_not_have_finished_before_its_handle_is_dropped() {
    let thread = spawn(|| {});
    assert!(thread.is_finished()); //~ bug
}

/// The end of the scope's last thread unparks the scope's.
//@ verified
#[test]
fn a_scope_that_parks_is_woken_by_its_last_thread() {
    scope(|scope| {
        scope.spawn(|| {});
        park();
    });
}

/// The handle of a thread that others hold as well.
//@ verified
#[test]
fn a_thread_that_tells_who_it_is() {
    let told = Mutex::new(None);
    scope(|scope| {
        scope.spawn(|| *told.lock().unwrap() = Some(current()));
        scope.spawn(|| drop(told.lock().unwrap().take()));
    });
}
