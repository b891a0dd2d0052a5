//! Parking and unparking: one token, given or taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{current, park, park_timeout, spawn};
use std::time::Duration;

//@ verified
#[test]
fn unpark_wakes_or_is_remembered() {
    let thread = spawn(park);
    thread.thread().unpark();
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn parking_until_a_flag_is_set() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let parked = current();
    let thread = spawn(move || {
        other.store(true, SeqCst);
        parked.unpark();
    });
    while !flag.load(SeqCst) {
        park();
    }
    thread.join().unwrap();
}

//@ failed deadlock
//@ preemptions = 0
#[test]
fn nobody_unparks() {
    let thread = spawn(park);
    thread.join().unwrap(); //~ bug
}

//@ failed deadlock
#[test]
fn two_tokens_become_one() {
    let thread = spawn(|| {
        park();
        park(); //~ bug
    });
    thread.thread().unpark();
    thread.thread().unpark();
    thread.join().unwrap(); //~ bug
}

//@ failed deadlock
#[test]
fn unpark_before_the_flag() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let parked = current();
    let thread = spawn(move || {
        parked.unpark();
        other.store(true, SeqCst);
    });
    while !flag.load(SeqCst) {
        park(); //~ bug
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn parking_with_a_timeout() {
    let thread = spawn(|| park_timeout(Duration::from_secs(1)));
    thread.thread().unpark();
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_token_of_ones_own() {
    let thread = spawn(|| {
        current().unpark();
        park();
    });
    thread.join().unwrap();
}
