//! Pools: workers that are told to end, and permits that are given back.

use super::{beside, check, two};
use crate::sync::{Condvar, Mutex, thread};
use std::collections::VecDeque;

/// A worker waits for jobs; the end is told under the lock with all workers woken, or one of them.
pub fn told_to_end<const RIGHT: bool>() {
    struct Pool {
        jobs: Mutex<(VecDeque<u32>, bool)>,
        changed: Condvar,
        done: Mutex<u32>,
    }
    let pool = Pool {
        jobs: Mutex::new((VecDeque::new(), false)),
        changed: Condvar::new(),
        done: Mutex::new(0),
    };
    let (mine, theirs) = two(pool);
    let work = |pool: &Pool| {
        let mut jobs = pool.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.0.pop_front() {
                *pool.done.lock().unwrap() += job;
            } else if jobs.1 {
                break;
            } else {
                jobs = pool.changed.wait(jobs).unwrap();
            }
        }
    };
    let other = theirs.clone();
    let workers = [thread::spawn(move || work(&other)), thread::spawn(move || work(&theirs))];
    mine.jobs.lock().unwrap().0.push_back(1);
    mine.changed.notify_one();
    mine.jobs.lock().unwrap().1 = true;
    if RIGHT {
        mine.changed.notify_all();
    } else {
        mine.changed.notify_one();
    }
    for worker in workers {
        worker.join().unwrap();
    }
    let done = *mine.done.lock().unwrap();
    check!(done == 1);
}

/// Two threads need two of two permits: both at once, or one after the other.
pub fn permits_one_by_one<const RIGHT: bool>() {
    let (mine, theirs) = two((Mutex::new(2_u32), Condvar::new()));
    let take = |pool: &(Mutex<u32>, Condvar), count: u32| {
        let mut permits = pool.0.lock().unwrap();
        while *permits < count {
            permits = pool.1.wait(permits).unwrap();
        }
        *permits -= count;
    };
    let run = move |pool: &(Mutex<u32>, Condvar)| {
        if RIGHT {
            take(pool, 2);
        } else {
            take(pool, 1);
            take(pool, 1);
        }
        *pool.0.lock().unwrap() += 2;
        pool.1.notify_all();
    };
    beside(move || run(&theirs), || run(&mine));
    let permits = *mine.0.lock().unwrap();
    check!(permits == 2);
}
