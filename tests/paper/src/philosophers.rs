//! The dining philosophers of Stoller's journal paper, sections 6 and 10: with deadlocks, and one philosopher alone for speed.

use std::sync::Mutex;
use std::thread::{scope, spawn};

/// Each fork counts how often it was used.
type Fork = Mutex<u32>;

fn forks(count: usize) -> Vec<Fork> {
    (0..count).map(|_| Mutex::new(0)).collect()
}

/// Takes two forks, eats, and puts them down.
fn eat(first: &Fork, second: &Fork) {
    let mut first = first.lock().unwrap();
    let mut second = second.lock().unwrap(); //~ bug of three_deadlock, four_deadlock, five_deadlock, six_deadlock, seven_deadlock, eight_deadlock
    *first += 1;
    *second += 1;
}

/// Everybody takes the left fork first.
fn all_left_first(philosophers: usize) {
    let forks = forks(philosophers);
    scope(|scope| {
        for left in 0..philosophers {
            let forks = &forks;
            scope.spawn(move || eat(&forks[left], &forks[(left + 1) % philosophers]));
        }
    });
    assert!(forks.into_iter().all(|fork| fork.into_inner().unwrap() == 2));
}

/// Everybody takes the fork with the lower number first.
fn lower_first(philosophers: usize) {
    let forks = forks(philosophers);
    scope(|scope| {
        for left in 0..philosophers {
            let right = (left + 1) % philosophers;
            let (first, second) = (&forks[left.min(right)], &forks[left.max(right)]);
            scope.spawn(move || eat(first, second));
        }
    });
    assert!(forks.into_iter().all(|fork| fork.into_inner().unwrap() == 2));
}

//@ verified
//@ executions = 1
#[test]
fn one_5000_rounds() {
    let philosopher = spawn(|| {
        let forks = forks(2);
        (0..5000).for_each(|_| eat(&forks[0], &forks[1]));
    });
    philosopher.join().unwrap();
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn three_deadlock() {
    all_left_first(3);
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn four_deadlock() {
    all_left_first(4);
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn five_deadlock() {
    all_left_first(5);
}

//@ failed deadlock
#[test]
fn six_deadlock() {
    all_left_first(6);
}

//@ failed deadlock
#[test]
fn seven_deadlock() {
    all_left_first(7);
}

//@ failed deadlock
#[test]
fn eight_deadlock() {
    all_left_first(8);
}

//@ verified
//@ executions = 6
#[test]
fn three_in_order() {
    lower_first(3);
}

//@ verified
//@ executions = 14
#[test]
fn four_in_order() {
    lower_first(4);
}

//@ verified
//@ executions = 30
#[test]
fn five_in_order() {
    lower_first(5);
}

//@ verified
//@ executions = 62
#[test]
fn six_in_order() {
    lower_first(6);
}

//@ verified
//@ executions = 126
#[test]
fn seven_in_order() {
    lower_first(7);
}

//@ verified
//@ executions = 254
#[test]
fn eight_in_order() {
    lower_first(8);
}
