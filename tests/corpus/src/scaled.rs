//! Loops that end early under `--scale-loops`, and loops that do not.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread::spawn;

/// A thread that adds one under the lock, as often as a thread beside it does.
fn beside(count: &Arc<Mutex<u32>>, times: u32) -> std::thread::JoinHandle<()> {
    let count = Arc::clone(count);
    spawn(move || {
        for _ in 0..times {
            *count.lock().unwrap() += 1;
        }
    })
}

//@ unsupported threads
//@ with --scale-loops=2 passed scaled-loops
#[test]
fn ten_thousand_threads() {
    let count = Arc::new(Mutex::new(0_u32));
    for _ in 0..10_000 {
        let other = Arc::clone(&count);
        let thread = spawn(move || *other.lock().unwrap() += 1);
        *count.lock().unwrap() += 1;
        thread.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap() % 2, 0);
}

//@ verified
//@ with --scale-loops=2 passed scaled-loops
#[test]
fn both_threads_go_round() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 4);
    for _ in 0_u8..4 {
        *count.lock().unwrap() += 1;
    }
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap() % 4, 0);
}

//@ verified
//@ with --scale-loops=2 failed panic
#[test]
fn an_assertion_counts_the_rounds() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 3);
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 3);
}

//@ verified
//@ with --scale-loops=2 verified
#[test]
fn a_loop_that_ends_by_itself_before() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 2);
    for round in 0..10_000 {
        *count.lock().unwrap() += 1;
        if round == 1 {
            break;
        }
    }
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 4);
}

//@ verified
//@ with --scale-loops=2 verified
#[test]
fn rounds_that_do_not_synchronise() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 1);
    let mut sum = 0_u32;
    for number in 0..1000 {
        sum += number % 2;
    }
    *count.lock().unwrap() += sum;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 501);
}

//@ verified
//@ with --scale-loops=2 verified
#[test]
fn a_loop_that_begins_again_is_another_one() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 1);
    for _ in 0..2 {
        for _ in 0..2 {
            *count.lock().unwrap() += 1;
        }
    }
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 5);
}

//@ verified
//@ with --scale-loops=2 passed scaled-loops
#[test]
fn bounds_that_vary() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 1);
    for bound in [1_i64, 3] {
        for _ in -bound..0 {
            *count.lock().unwrap() += 1;
        }
    }
    thread.join().unwrap();
    assert!([4, 5].contains(&*count.lock().unwrap()));
}

//@ verified
//@ with --scale-loops=2 passed scaled-loops
#[test]
fn a_loop_around_a_loop() {
    let count = Arc::new(Mutex::new(0));
    let thread = beside(&count, 1);
    for _ in 0..3 {
        for _ in 0..3 {
            *count.lock().unwrap() += 1;
        }
    }
    thread.join().unwrap();
    assert!([5, 10].contains(&*count.lock().unwrap()));
}

//@ verified
//@ with --scale-loops=2 verified
#[test]
fn loops_of_other_kinds() {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let mut rounds = 0;
        while rounds < 3 {
            other.fetch_add(1, SeqCst);
            rounds += 1;
        }
    });
    for _ in 1..=3 {
        count.fetch_add(1, SeqCst);
    }
    (0..3).for_each(|_| {
        count.fetch_add(1, SeqCst);
    });
    thread.join().unwrap();
    assert_eq!(count.load(SeqCst), 9);
}
