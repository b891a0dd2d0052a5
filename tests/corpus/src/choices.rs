//! Values that a program asks for by the crate `lockred`: all are explored.

use std::sync::Mutex;
use std::thread::{scope, spawn};

//@ verified
//@ executions = 12
#[test]
fn every_combination_is_explored() {
    let thread = spawn(lockred::any::<bool>);
    let number = lockred::any_in(-1..=4_i32);
    assert!((-1..=4).contains(&number));
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn the_last_value_of_a_byte() {
    assert_ne!(lockred::any::<u8>(), 255); //~ bug
}

//@ failed panic
#[test]
fn the_least_value_of_a_signed_byte() {
    let thread = spawn(|| lockred::any::<i8>().checked_neg().unwrap()); //~ bug
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn the_order_of_locks_is_chosen() {
    let locks = [Mutex::new(0), Mutex::new(0)];
    scope(|scope| {
        scope.spawn(|| {
            let first = lockred::choose(2);
            let _a = locks[first].lock().unwrap();
            let _b = locks[1 - first].lock().unwrap(); //~ bug
        });
        let _a = locks[0].lock().unwrap();
        let _b = locks[1].lock().unwrap(); //~ bug
    });
}

//@ verified
#[test]
fn a_choice_under_a_lock() {
    let sum = Mutex::new(0);
    scope(|scope| {
        scope.spawn(|| *sum.lock().unwrap() += lockred::choose(2));
        *sum.lock().unwrap() += lockred::choose(2);
    });
    assert!(sum.into_inner().unwrap() <= 2);
}

//@ failed panic
#[test]
fn one_choice_of_many() {
    let faults = [(); 4].map(|()| lockred::any::<bool>());
    let thread = spawn(move || assert_ne!(faults, [false, true, true, false])); //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn one_value_is_no_choice() {
    spawn(|| assert_eq!((lockred::choose(1), lockred::any_in(7..8_u64)), (0, 7))).join().unwrap();
}
