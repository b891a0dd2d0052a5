//! Condition variables: notified without the lock, waited for without a loop, one woken of two.

use super::{beside, check, two};
use crate::sync::atomic::{AtomicBool, Ordering::SeqCst};
use crate::sync::{Condvar, Mutex, thread};

/// The condition changes under the lock, or beside it.
pub fn lost_wake_up<const RIGHT: bool>() {
    let (mine, theirs) = two((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    beside(
        move || {
            if RIGHT {
                let _held = theirs.1.lock().unwrap();
                theirs.0.store(true, SeqCst);
            } else {
                theirs.0.store(true, SeqCst);
            }
            theirs.2.notify_one();
        },
        || {
            let mut held = mine.1.lock().unwrap();
            while !mine.0.load(SeqCst) {
                held = mine.2.wait(held).unwrap();
            }
        },
    );
}

/// Two consumers, one item and one notification of all: who wakes looks again, or not.
pub fn waited_once<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new((0_i32, false)), Condvar::new()));
    let take = |place: &(Mutex<(i32, bool)>, Condvar)| {
        let mut state = place.0.lock().unwrap();
        if RIGHT {
            while state.0 == 0 && !state.1 {
                state = place.1.wait(state).unwrap();
            }
        } else if state.0 == 0 && !state.1 {
            state = place.1.wait(state).unwrap();
        }
        if RIGHT && state.0 == 0 {
            return;
        }
        check!(state.0 > 0);
        state.0 -= 1;
        state.1 = true;
        drop(state);
        place.1.notify_all();
    };
    let other = theirs.clone();
    let first = thread::spawn(move || take(&other));
    let second = thread::spawn(move || take(&theirs));
    mine.0.lock().unwrap().0 = 1;
    mine.1.notify_all();
    first.join().unwrap();
    second.join().unwrap();
}

/// One condition variable for full and empty: a single notification may reach the wrong one.
pub fn one_woken<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(false), Condvar::new()));
    let wait = |place: &(Mutex<bool>, Condvar)| {
        let mut open = place.0.lock().unwrap();
        while !*open {
            open = place.1.wait(open).unwrap();
        }
    };
    let other = theirs.clone();
    let first = thread::spawn(move || wait(&other));
    let second = thread::spawn(move || wait(&theirs));
    *mine.0.lock().unwrap() = true;
    if RIGHT {
        mine.1.notify_all();
    } else {
        mine.1.notify_one();
    }
    first.join().unwrap();
    second.join().unwrap();
}

/// A place for one item, filled twice and emptied twice.
pub fn bounded_buffer<const RIGHT: bool>() {
    struct Buffer {
        item: Mutex<Option<u32>>,
        filled: Condvar,
        emptied: Condvar,
    }
    let buffer = Buffer { item: Mutex::new(None), filled: Condvar::new(), emptied: Condvar::new() };
    let (mine, theirs) = two(buffer);
    beside(
        move || {
            for number in 0..2 {
                let mut item = theirs.item.lock().unwrap();
                while item.is_some() {
                    item = theirs.emptied.wait(item).unwrap();
                }
                *item = Some(number);
                theirs.filled.notify_one();
            }
        },
        || {
            for number in 0..2 {
                let mut item = mine.item.lock().unwrap();
                while item.is_none() {
                    item = mine.filled.wait(item).unwrap();
                }
                let taken = item.take();
                check!(taken == Some(number));
                if RIGHT || number == 1 {
                    mine.emptied.notify_one();
                }
            }
        },
    );
}
