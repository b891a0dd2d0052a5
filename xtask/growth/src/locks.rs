//! Locks of std and one by hand.

use crate::each;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

pub fn locks(threads: usize, operations: usize) {
    let count = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&count);
    each(threads, move |_| (0..operations).for_each(|_| *shared.lock().unwrap() += 1));
    assert_eq!(*count.lock().unwrap(), threads * operations);
}

pub fn own_locks(threads: usize, operations: usize) {
    let counts: Arc<Vec<_>> = Arc::new((0..threads).map(|_| Mutex::new(0)).collect());
    each(threads, move |number| {
        (0..operations).for_each(|_| *counts[number].lock().unwrap() += 1);
    });
}

pub fn two_locks(threads: usize, operations: usize) {
    let counts = Arc::new((Mutex::new(0), Mutex::new(0)));
    each(threads, move |_| {
        for _ in 0..operations {
            let mut first = counts.0.lock().unwrap();
            let mut second = counts.1.lock().unwrap();
            *first += 1;
            *second += *first;
        }
    });
}

pub fn rwlocks(threads: usize, operations: usize) {
    let value = Arc::new(RwLock::new(0));
    each(threads, move |number| {
        for _ in 0..operations {
            if number == 0 {
                *value.write().unwrap() += 1;
            } else {
                assert!(*value.read().unwrap() <= operations);
            }
        }
    });
}

/// A flag that is exchanged, around a number.
struct Spin(AtomicBool, UnsafeCell<usize>);

// SAFETY: the number is accessed by who holds the lock alone.
unsafe impl Sync for Spin {}

pub fn spin_locks(threads: usize, operations: usize) {
    let lock = Arc::new(Spin(AtomicBool::new(false), UnsafeCell::new(0)));
    each(threads, move |_| {
        for _ in 0..operations {
            while lock.0.swap(true, Ordering::Acquire) {
                spin_loop();
            }
            // SAFETY: the lock is held.
            unsafe { *lock.1.get() += 1 };
            lock.0.store(false, Ordering::Release);
        }
    });
}

pub fn caches(threads: usize, operations: usize) {
    let cache = Arc::new(Mutex::new(BTreeMap::new()));
    each(threads, move |_| {
        for key in 0..operations {
            let known = cache.lock().unwrap().get(&key).copied();
            let value = known.unwrap_or_else(|| *cache.lock().unwrap().entry(key).or_insert(key));
            assert_eq!(value, key);
        }
    });
}
