//! Threads that wait for each other.

use crate::each;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;

pub fn condvars(threads: usize, operations: usize) {
    let turn = Arc::new((Mutex::new(0), Condvar::new()));
    each(threads, move |number| {
        for _ in 0..operations {
            let mut next = turn.0.lock().unwrap();
            while *next % threads != number {
                next = turn.1.wait(next).unwrap();
            }
            *next += 1;
            turn.1.notify_all();
        }
    });
}

pub fn barriers(threads: usize, operations: usize) {
    let barrier = Arc::new(Barrier::new(threads));
    each(threads, move |_| {
        (0..operations).for_each(|_| {
            barrier.wait();
        });
    });
}

pub fn pools(threads: usize, operations: usize) {
    let pool = Arc::new((Mutex::new((VecDeque::new(), false)), Condvar::new()));
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let mut done = 0;
                let mut jobs = pool.0.lock().unwrap();
                loop {
                    if jobs.0.pop_front().is_some() {
                        done += 1;
                        drop(jobs);
                        jobs = pool.0.lock().unwrap();
                    } else if jobs.1 {
                        return done;
                    } else {
                        jobs = pool.1.wait(jobs).unwrap();
                    }
                }
            })
        })
        .collect();
    for job in 0..operations {
        pool.0.lock().unwrap().0.push_back(job);
        pool.1.notify_one();
    }
    pool.0.lock().unwrap().1 = true;
    pool.1.notify_all();
    let done: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    assert_eq!(done, operations);
}

pub fn parking(threads: usize, operations: usize) {
    let told = Arc::new(AtomicUsize::new(0));
    let main = thread::current();
    let awaited = threads * operations;
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let (told, main) = (Arc::clone(&told), main.clone());
            thread::spawn(move || {
                for _ in 0..operations {
                    told.fetch_add(1, SeqCst);
                    main.unpark();
                }
            })
        })
        .collect();
    while told.load(SeqCst) < awaited {
        thread::park();
    }
    for handle in handles {
        handle.join().unwrap();
    }
}
