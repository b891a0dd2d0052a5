//! Mutexes: updates in two sections, two locks in two orders, a lock that is tried.

use super::{beside, check, two};
use crate::sync::Mutex;

/// Two threads read under the lock and write under the lock.
pub fn lost_update<const RIGHT: bool>() {
    let (mine, theirs) = two(Mutex::new(0));
    let add = |count: &Mutex<u32>| {
        if RIGHT {
            *count.lock().unwrap() += 1;
        } else {
            let seen = *count.lock().unwrap();
            *count.lock().unwrap() = seen + 1;
        }
    };
    beside(move || add(&theirs), || add(&mine));
    let count = *mine.lock().unwrap();
    check!(count == 2);
}

/// Two threads move between two accounts.
pub fn opposite_order<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(5_i32), Mutex::new(5_i32)));
    beside(
        move || {
            let mut first = theirs.0.lock().unwrap();
            let mut second = theirs.1.lock().unwrap();
            *first -= 1;
            *second += 1;
        },
        || {
            if RIGHT {
                let mut first = mine.0.lock().unwrap();
                let mut second = mine.1.lock().unwrap();
                *second -= 1;
                *first += 1;
            } else {
                let mut second = mine.1.lock().unwrap();
                let mut first = mine.0.lock().unwrap();
                *second -= 1;
                *first += 1;
            }
        },
    );
}

/// Three locks, each thread takes two of them: philosophers.
pub fn philosophers<const RIGHT: bool>() {
    const COUNT: usize = 3;
    let (mine, theirs) = two([(); COUNT].map(|()| Mutex::new(())));
    let eat = |forks: &[Mutex<()>; COUNT], seat: usize| {
        let (left, right) = (seat, (seat + 1) % COUNT);
        let (first, second) =
            if RIGHT { (left.min(right), left.max(right)) } else { (left, right) };
        let first = forks[first].lock().unwrap();
        let second = forks[second].lock().unwrap();
        drop((first, second));
    };
    let last = mine.clone();
    let third = crate::sync::thread::spawn(move || eat(&last, 2));
    beside(move || eat(&theirs, 1), || eat(&mine, 0));
    third.join().unwrap();
}

/// A lock that is tried by who is sure to get it.
pub fn tried_lock<const RIGHT: bool>() {
    let (mine, theirs) = two(Mutex::new(0));
    beside(
        move || *theirs.lock().unwrap() += 1,
        || {
            let tried = mine.try_lock();
            if RIGHT {
                if let Ok(mut count) = tried {
                    *count += 1;
                }
            } else {
                check!(tried.is_ok());
            }
        },
    );
}
