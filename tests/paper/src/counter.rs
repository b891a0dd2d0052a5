//! The counter of Flanagan and Qadeer, section 2: each method is one transaction, since `count` is its only operation that does not
//! commute. Its locks are taken in pre-commit, and released in post-commit.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::thread::{scope, spawn};

/// Integers are counted modulo 4, as the paper restricts them to so many; they are the upper bits of a byte.
const ONE: u8 = 64;

#[derive(Default)]
pub struct Counter {
    x: Mutex<u8>,
    y: Mutex<u8>,
    /// What was counted: the specification's variable, with no lock.
    count: AtomicU8,
}

impl Counter {
    pub fn incr(&self) {
        let mut x = self.x.lock().unwrap();
        let tx = *x;
        self.count.fetch_add(ONE, SeqCst);
        *x = tx.wrapping_add(ONE);
    }

    pub fn decr(&self) {
        let mut y = self.y.lock().unwrap();
        let ty = *y;
        self.count.fetch_sub(ONE, SeqCst);
        *y = ty.wrapping_add(ONE);
    }

    pub fn read(&self) {
        let x = self.x.lock().unwrap();
        let y = self.y.lock().unwrap();
        assert_eq!(self.count.load(SeqCst), x.wrapping_sub(*y));
    }

    /// The same with a mistake: the first lock is released before the second is taken.
    fn read_in_two_steps(&self) {
        let x = *self.x.lock().unwrap();
        let y = self.y.lock().unwrap();
        assert_eq!(self.count.load(SeqCst), x.wrapping_sub(*y)); //~ bug of a_read_in_two_transactions
    }
}

/// A method.
pub type Method = fn(&Counter);
pub const METHODS: [Method; 3] = [Counter::incr, Counter::decr, Counter::read];

/// Two threads call a method that is chosen, so many times.
pub fn chosen(calls: u32, methods: [Method; 3]) {
    let counter = Counter::default();
    scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..calls).for_each(|_| methods[lockred::choose(3)](&counter)));
        }
    });
}

/// One thread calls a method so many times.
fn calls(calls: u32, method: Method) {
    spawn(move || {
        let counter = Counter::default();
        (0..calls).for_each(|_| method(&counter));
    })
    .join()
    .unwrap();
}

//@ verified
//@ executions = 17
#[test]
fn one_chosen_call_each() {
    chosen(1, METHODS);
}

//@ verified
//@ with --search=states clean
//@ executions = 433
#[test]
fn two_chosen_calls_each() {
    chosen(2, METHODS);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn a_read_in_two_transactions() {
    chosen(1, [Counter::incr, Counter::decr, Counter::read_in_two_steps]);
}

// A call more is a transaction more.

//@ verified
#[test]
fn incr_10_calls() {
    calls(10, Counter::incr);
}

//@ verified
#[test]
fn incr_20_calls() {
    calls(20, Counter::incr);
}

//@ verified
#[test]
fn decr_10_calls() {
    calls(10, Counter::decr);
}

//@ verified
#[test]
fn decr_20_calls() {
    calls(20, Counter::decr);
}

//@ verified
#[test]
fn read_10_calls() {
    calls(10, Counter::read);
}

//@ verified
#[test]
fn read_20_calls() {
    calls(20, Counter::read);
}
