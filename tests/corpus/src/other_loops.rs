//! Loops that look as if they only waited, and do more: what they do must not be lost.

use crate::shared::Shared;
use crossbeam_utils::Backoff;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize, fence};
use std::thread::spawn;

fn two<T: Default>() -> (Arc<T>, Arc<T>) {
    let one = Arc::new(T::default());
    (Arc::clone(&one), one)
}

//@ failed panic
#[test]
fn it_counts_its_rounds() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || other.store(true, SeqCst));
    let mut rounds = 0;
    while !flag.load(SeqCst) {
        rounds += 1;
    }
    assert_eq!(rounds, 0); //~ bug
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn it_remembers_what_it_saw() {
    let (state, other) = two::<AtomicUsize>();
    let thread = spawn(move || other.store(2, SeqCst));
    let mut seen = 2;
    loop {
        let now = state.load(SeqCst);
        if now == 2 {
            break;
        }
        seen = now;
    }
    assert_eq!(seen, 2); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn it_says_that_it_waits() {
    let (flags, other) = two::<[AtomicBool; 2]>();
    let thread = spawn(move || {
        while !other[1].load(SeqCst) {
            spin_loop();
        }
        other[0].store(true, SeqCst);
    });
    while !flags[0].load(SeqCst) {
        flags[1].store(true, SeqCst);
        spin_loop();
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn it_says_that_it_waits_by_the_exchange() {
    let (state, other) = two::<AtomicUsize>();
    let thread = spawn(move || {
        while other.load(SeqCst) != 2 {
            spin_loop();
        }
        other.store(1, SeqCst);
    });
    while state.swap(2, SeqCst) != 1 {
        spin_loop();
    }
    thread.join().unwrap();
}

//@ verified
#[test]
fn it_also_ends_when_closed() {
    let (flags, other) = two::<[AtomicBool; 2]>();
    let thread = spawn(move || other[1].store(true, SeqCst));
    while !flags[0].load(SeqCst) {
        if flags[1].load(SeqCst) {
            break;
        }
    }
    thread.join().unwrap();
}

//@ verified
#[test]
fn it_compares_with_what_changes() {
    let (words, other) = two::<[AtomicUsize; 2]>();
    words[0].store(1, SeqCst);
    let thread = spawn(move || other[1].store(1, SeqCst));
    loop {
        let wanted = words[1].load(SeqCst);
        if words[0].load(SeqCst) == wanted {
            break;
        }
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn it_goes_from_one_word_to_the_next() {
    let (flags, other) = two::<[AtomicBool; 2]>();
    let thread = spawn(move || other[1].store(true, SeqCst));
    let mut number = 0;
    while !flags[number].load(SeqCst) {
        number = 1;
    }
    thread.join().unwrap();
}

//@ failed panic or passed bounded-spin
#[test]
fn it_gives_up_when_it_has_backed_off_enough() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || other.store(true, SeqCst));
    let backoff = Backoff::new();
    while !flag.load(SeqCst) {
        assert!(!backoff.is_completed());
        backoff.snooze();
    }
    thread.join().unwrap();
}

//@ failed livelock|deadlock
#[test]
fn it_waits_for_something_else_inside() {
    let (flags, other) = two::<[AtomicBool; 2]>();
    let thread = spawn(move || {
        while other[0].swap(true, SeqCst) {
            while !other[1].load(SeqCst) {} //~ bug
        }
        other[0].store(false, SeqCst);
    });
    while flags[0].swap(true, SeqCst) {}
    flags[0].store(false, SeqCst);
    thread.join().unwrap(); //~ bug
}

//@ failed data-race
#[test]
fn its_word_is_written_plainly_meanwhile() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || {
        unsafe { *other.as_ptr() = false }; //~ bug
        other.store(true, SeqCst);
    });
    while !flag.load(SeqCst) {} //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn its_word_goes_away() {
    let flag = Box::into_raw(Box::new(AtomicBool::new(false)));
    let shared = Arc::new(Shared::new(flag));
    let other = Arc::clone(&shared);
    spawn(move || {
        let flag = unsafe { &**other.ptr() };
        while !flag.load(SeqCst) {} //~ bug
    });
    drop(unsafe { Box::from_raw(flag) });
}

//@ failed data-race
#[test]
fn the_way_to_its_word_changes() {
    let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(true), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { *other.2.ptr() = 1 }; //~ bug
        other.0.store(true, SeqCst);
    });
    let flags = [&shared.0, &shared.1];
    while !flags[unsafe { *shared.2.ptr() }].load(SeqCst) {} //~ bug
    thread.join().unwrap();
}

//@ failed data-race
//@ preemptions = 0
#[test]
fn it_reads_something_in_vain_rounds_only() {
    let shared = Arc::new((AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { *other.1.ptr() = 1 }; //~ bug
        other.0.store(true, SeqCst);
    });
    while !shared.0.load(SeqCst) {
        let seen = unsafe { *shared.1.ptr() }; //~ bug
        if seen == 7 {
            spin_loop();
        }
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn its_exchange_in_vain_meets_a_plain_read() {
    let (flag, other) = two::<AtomicBool>();
    flag.store(true, SeqCst);
    let thread = spawn(move || {
        assert!(unsafe { *other.as_ptr() }); //~ bug
        other.store(false, SeqCst);
    });
    while flag.swap(true, SeqCst) {} //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn its_loads_in_vain_meet_a_plain_read() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || {
        assert!(!unsafe { *other.as_ptr() });
        other.store(true, SeqCst);
    });
    while !flag.load(SeqCst) {}
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_fence_behind_it_acquires_only_what_it_found() {
    let words: [AtomicUsize; 2] = Default::default();
    let shared = Arc::new((words, AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { *other.2.ptr() = 7 }; //~ bug
        other.0[0].store(1, Release);
        other.0[1].store(1, Relaxed);
        while !other.1.load(Relaxed) {}
        other.0[0].store(2, Relaxed);
    });
    while shared.0[1].load(Relaxed) != 1 {}
    shared.1.store(true, Relaxed);
    // It may have found the 1, which releases, or only the 2, which does not.
    while shared.0[0].load(Relaxed) != 2 {}
    fence(Acquire);
    assert_eq!(unsafe { *shared.2.ptr() }, 7); //~ bug
    thread.join().unwrap();
}

/// Whether it is done; waits while somebody is about it.
fn is_done(state: &AtomicUsize) -> bool {
    loop {
        match state.load(SeqCst) {
            0 => return false,
            1 => spin_loop(),
            _ => return true,
        }
    }
}

//@ clean
#[test]
fn it_waits_around_a_loop_that_waits() {
    let (state, other) = two::<AtomicUsize>();
    let thread = spawn(move || {
        other.store(1, SeqCst);
        other.store(2, SeqCst);
    });
    while !is_done(&state) {
        spin_loop();
    }
    thread.join().unwrap();
}
