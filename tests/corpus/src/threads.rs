//! Threads: results, scopes, names, sleeping, outliving the test.

use crate::shared::Shared;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{Builder, current, scope, sleep, spawn, yield_now};
use std::time::{Duration, Instant};

//@ verified
//@ executions = 1
#[test]
fn no_thread_at_all() {
    assert_eq!([1, 2, 3].iter().sum::<u32>(), 6);
}

//@ verified
//@ executions = 1
#[test]
fn a_result_through_join() {
    let thread = spawn(|| vec![1, 2]);
    assert_eq!(thread.join().unwrap(), [1, 2]);
}

//@ verified
#[test]
fn a_thread_of_a_thread() {
    let thread = spawn(|| spawn(|| 1).join().unwrap() + 1);
    assert_eq!(thread.join().unwrap(), 2);
}

//@ clean
#[test]
fn a_scope_borrows() {
    let mut numbers = [1, 2];
    let (left, right) = numbers.split_at_mut(1);
    scope(|scope| {
        scope.spawn(|| left[0] += 10);
        scope.spawn(|| right[0] += 10);
    });
    assert_eq!(numbers, [11, 12]);
}

//@ clean
#[test]
fn a_scope_with_a_result() {
    let text = String::from("four");
    let length = scope(|scope| scope.spawn(|| text.len()).join().unwrap());
    assert_eq!(length, 4);
}

//@ clean
#[test]
fn a_scope_reports_a_panic() {
    let caught = catch_unwind(|| {
        scope(|scope| {
            scope.spawn(|| panic!("in the scope"));
        });
    });
    assert!(caught.is_err());
}

//@ verified
#[test]
fn a_builder_names_its_thread() {
    let thread = Builder::new()
        .name("worker".into())
        .stack_size(256 * 1024)
        .spawn(|| current().name().map(String::from))
        .unwrap();
    assert_eq!(thread.thread().name(), Some("worker"));
    assert_eq!(thread.join().unwrap().as_deref(), Some("worker"));
}

//@ verified
#[test]
fn every_thread_has_its_own_id() {
    let mine = current().id();
    let first = spawn(|| current().id());
    let second = spawn(|| current().id());
    let (first, second) = (first.join().unwrap(), second.join().unwrap());
    assert!(first != second && first != mine && second != mine);
}

//@ warned timing
#[test]
fn sleeping_is_no_synchronisation() {
    let done = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&done);
    let thread = spawn(move || other.store(true, SeqCst));
    sleep(Duration::from_millis(100));
    assert!(done.load(SeqCst));
    thread.join().unwrap();
}

//@ passed virtual-time
#[test]
fn sleeping_takes_its_time() {
    let thread = spawn(|| {
        let start = Instant::now();
        sleep(Duration::from_millis(20));
        start.elapsed() >= Duration::from_millis(20)
    });
    sleep(Duration::from_millis(10));
    assert!(thread.join().unwrap());
}

//@ verified
#[test]
fn yielding() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        yield_now();
        *other.lock().unwrap() += 1;
    });
    yield_now();
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

//@ clean
#[test]
fn asking_whether_a_thread_is_finished() {
    let thread = spawn(|| 3);
    let _ = thread.is_finished();
    assert_eq!(thread.join().unwrap(), 3);
}

//@ clean
#[test]
fn a_thread_outlives_the_test() {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    drop(spawn(move || other.fetch_add(1, SeqCst)));
    assert!(count.load(SeqCst) <= 1);
}

//@ clean
#[test]
fn a_thread_waits_for_ever_behind_the_test() {
    let (sender, receiver) = mpsc::channel::<u32>();
    drop(spawn(move || receiver.recv()));
    std::mem::forget(sender);
}

//@ clean
#[test]
fn a_thread_panics_unheard() {
    drop(spawn(|| panic!("nobody joins")));
}

//@ failed data-race
#[test]
fn a_detached_thread_races() {
    let cell = Arc::new(Shared::new(0));
    let other = Arc::clone(&cell);
    drop(spawn(move || unsafe { *other.ptr() = 1 })); //~ bug
    unsafe { *cell.ptr() = 2 }; //~ bug
}

//@ failed panic
#[test]
fn unwrapping_a_panicked_thread() {
    let thread = spawn(|| panic!("the reason"));
    thread.join().unwrap(); //~ bug
}

//@ verified
#[test]
fn a_panic_is_the_result_of_join() {
    let thread = spawn(|| panic!("the reason"));
    let payload = thread.join().unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"the reason"));
}

//@ failed panic
#[test]
fn a_thread_panics_in_one_order_only() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    assert!(!flag.load(SeqCst)); //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_panic_caught_inside_the_thread() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            if *other.lock().unwrap() == 0 {
                panic!("too early");
            }
        }));
        // The guard was a temporary: it is gone, and nothing is poisoned.
        *other.lock().unwrap() += 1;
        caught.is_err()
    });
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

//@ verified
#[test]
fn a_stack_that_nothing_has_room_for() {
    let builder = Builder::new().stack_size(usize::MAX / 4);
    assert!(builder.spawn(|| ()).is_err());
    spawn(|| ()).join().unwrap();
}
