//! std's Condvar: waiting for a condition, and every usual way of losing a wake-up.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{spawn, yield_now};
use std::time::Duration;

type Signal<T> = Arc<(Mutex<T>, Condvar)>;

fn signal<T>(value: T) -> (Signal<T>, Signal<T>) {
    let signal = Arc::new((Mutex::new(value), Condvar::new()));
    (Arc::clone(&signal), signal)
}

//@ verified
//@ executions = 2
#[test]
fn waiting_in_a_loop() {
    let (mine, theirs) = signal(false);
    let thread = spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut ready = mine.0.lock().unwrap();
    while !*ready {
        ready = mine.1.wait(ready).unwrap();
    }
    drop(ready);
    thread.join().unwrap();
}

//@ verified
#[test]
fn notify_before_unlock() {
    let (mine, theirs) = signal(false);
    let thread = spawn(move || {
        let mut ready = theirs.0.lock().unwrap();
        *ready = true;
        theirs.1.notify_one();
    });
    let ready = mine.1.wait_while(mine.0.lock().unwrap(), |ready| !*ready).unwrap();
    assert!(*ready);
    drop(ready);
    thread.join().unwrap();
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn a_wake_up_lost_without_the_lock() {
    let (mine, theirs) = signal(());
    let ready = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&ready);
    let thread = spawn(move || {
        set.store(true, SeqCst);
        theirs.1.notify_one();
    });
    let mut guard = mine.0.lock().unwrap();
    while !ready.load(SeqCst) {
        guard = mine.1.wait(guard).unwrap(); //~ bug
    }
    drop(guard);
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn waiting_without_a_condition() {
    let (mine, theirs) = signal(());
    let thread = spawn(move || theirs.1.notify_one());
    let guard = mine.0.lock().unwrap();
    drop(mine.1.wait(guard).unwrap()); //~ bug
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn nobody_notifies() {
    let (mine, theirs) = signal(false);
    let thread = spawn(move || *theirs.0.lock().unwrap() = true);
    let mut ready = mine.0.lock().unwrap();
    while !*ready {
        ready = mine.1.wait(ready).unwrap(); //~ bug
    }
    drop(ready);
    thread.join().unwrap();
}

//@ failed deadlock
//@ preemptions = 1
#[test]
fn one_notification_for_two_waiters() {
    let (mine, _) = signal(false);
    let waiters = [(); 2].map(|()| {
        let signal = Arc::clone(&mine);
        spawn(move || {
            let mut ready = signal.0.lock().unwrap();
            while !*ready {
                ready = signal.1.wait(ready).unwrap(); //~ bug
            }
        })
    });
    *mine.0.lock().unwrap() = true;
    mine.1.notify_one();
    for waiter in waiters {
        waiter.join().unwrap();
    }
}

/// Two threads wait in the queue; which of them `notify_one` wakes.
fn who_is_woken() -> usize {
    let (mine, _) = signal((0, 0));
    let waiters = [1, 2].map(|number| {
        let signal = Arc::clone(&mine);
        spawn(move || {
            let mut state = signal.0.lock().unwrap();
            state.0 += 1;
            state = signal.1.wait_while(state, |state| state.0 < 3).unwrap();
            if state.1 == 0 {
                state.1 = number;
                signal.1.notify_one();
            }
        })
    });
    loop {
        let mut state = mine.0.lock().unwrap();
        if state.0 == 2 {
            state.0 = 3;
            break;
        }
        drop(state);
        yield_now();
    }
    mine.1.notify_one();
    for waiter in waiters {
        waiter.join().unwrap();
    }
    mine.0.lock().unwrap().1
}

//@ failed panic
#[test]
fn the_first_waiter_is_woken() {
    assert_ne!(who_is_woken(), 1); //~ bug
}

//@ failed panic
#[test]
fn the_second_waiter_is_woken() {
    assert_ne!(who_is_woken(), 2); //~ bug
}

//@ verified
#[test]
fn notify_all_for_two_waiters() {
    let (mine, _) = signal(false);
    let waiters = [(); 2].map(|()| {
        let signal = Arc::clone(&mine);
        spawn(move || {
            drop(signal.1.wait_while(signal.0.lock().unwrap(), |ready| !*ready).unwrap());
        })
    });
    *mine.0.lock().unwrap() = true;
    mine.1.notify_all();
    for waiter in waiters {
        waiter.join().unwrap();
    }
}

//@ failed panic
//@ preemptions = 1
#[test]
fn if_instead_of_while() {
    let (mine, theirs) = signal((Vec::new(), false));
    let thief = spawn(move || {
        theirs.0.lock().unwrap().0.push(1);
        theirs.1.notify_one();
        theirs.0.lock().unwrap().0.pop();
        theirs.0.lock().unwrap().1 = true;
        theirs.1.notify_one();
    });
    let mut state = mine.0.lock().unwrap();
    if state.0.is_empty() && !state.1 {
        state = mine.1.wait(state).unwrap();
    }
    if !state.1 {
        state.0.pop().expect("an item"); //~ bug
    }
    drop(state);
    let _ = thief.join();
}

//@ verified
#[test]
fn a_buffer_of_one() {
    let buffer = Arc::new((Mutex::new(None), Condvar::new(), Condvar::new()));
    let theirs = Arc::clone(&buffer);
    let producer = spawn(move || {
        for item in 0..2 {
            let mut slot = theirs.0.lock().unwrap();
            while slot.is_some() {
                slot = theirs.1.wait(slot).unwrap();
            }
            *slot = Some(item);
            theirs.2.notify_one();
        }
    });
    for expected in 0..2 {
        let mut slot = buffer.0.lock().unwrap();
        while slot.is_none() {
            slot = buffer.2.wait(slot).unwrap();
        }
        assert_eq!(slot.take(), Some(expected));
        buffer.1.notify_one();
    }
    producer.join().unwrap();
}

//@ verified
#[test]
fn a_timeout_is_an_answer() {
    let (mine, theirs) = signal(false);
    let thread = spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let guard = mine.0.lock().unwrap();
    if !*guard {
        let (guard, _timed_out) = mine.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
        drop(guard);
    }
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_timeout_fires_behind_a_long_wait() {
    let (mine, theirs) = signal(());
    let thread = spawn(move || theirs.1.notify_one());
    let guard = mine.0.lock().unwrap();
    let (guard, wait) = mine.1.wait_timeout(guard, Duration::from_secs(3600)).unwrap();
    drop(guard);
    thread.join().unwrap();
    assert!(!wait.timed_out()); //~ bug
}

//@ failed panic
#[test]
fn a_timeout_fires_without_any_thread() {
    let (mine, _) = signal(());
    let guard = mine.0.lock().unwrap();
    let (_guard, wait) = mine.1.wait_timeout(guard, Duration::from_secs(3600)).unwrap();
    assert!(!wait.timed_out()); //~ bug
}

//@ warned timing
#[test]
fn a_timeout_is_forgotten() {
    let (mine, theirs) = signal(false);
    let thread = spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let guard = mine.0.lock().unwrap();
    let wait = mine.1.wait_timeout_while(guard, Duration::from_secs(1), |ready| !*ready).unwrap();
    assert!(*wait.0);
    drop(wait);
    thread.join().unwrap();
}

//@ clean
#[test]
fn nobody_to_notify() {
    let (mine, theirs) = signal(());
    let thread = spawn(move || theirs.1.notify_all());
    mine.1.notify_one();
    thread.join().unwrap();
}
