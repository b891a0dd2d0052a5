//! Programs of other checkers whose numbers of executions are published (`published.rs`), over std. Their results are used, so that
//! operations do not commute for want of anybody who looks.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// So many threads do the same, each with its number, and are joined.
fn each(threads: usize, body: impl Fn(usize) + Clone + Send + 'static) {
    let bodies = (0..threads).map(|number| (number, body.clone()));
    let handles: Vec<_> =
        bodies.map(|(number, body)| thread::spawn(move || body(number))).collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

/// Variables that all threads share.
fn variables(count: usize) -> Arc<Vec<AtomicUsize>> {
    Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect())
}

/// A value that somebody asks for.
fn used(value: usize) {
    black_box(value);
}

pub fn store_buffering(_: usize) {
    let x = variables(2);
    each(2, move |number| {
        x[number].store(1, SeqCst);
        used(x[1 - number].load(SeqCst));
    });
}

pub fn load_buffering(_: usize) {
    let x = variables(2);
    each(2, move |number| {
        used(x[number].load(SeqCst));
        x[1 - number].store(1, SeqCst);
    });
}

pub fn two_plus_two_writes(_: usize) {
    let x = variables(2);
    each(2, move |number| {
        x[number].store(1, SeqCst);
        x[1 - number].store(2, SeqCst);
    });
}

pub fn independent_reads(_: usize) {
    let x = variables(2);
    each(4, move |number| {
        if number < 2 {
            x[number].store(1, SeqCst);
        } else {
            used(x[number - 2].load(SeqCst));
            used(x[3 - number].load(SeqCst));
        }
    });
}

/// Increments of so many variables, one after the other.
fn increments(threads: usize, count: usize) {
    let x = variables(count);
    each(threads, move |_| x.iter().for_each(|x| used(x.fetch_add(1, SeqCst))));
}

pub fn ainc(threads: usize) {
    increments(threads, 1);
}

pub fn binc(threads: usize) {
    increments(threads, 2);
}

pub fn cinc(threads: usize) {
    increments(threads, 3);
}

pub fn inc(threads: usize) {
    let x = variables(1);
    each(threads, move |_| x[0].store(x[0].load(SeqCst) + 1, SeqCst));
}

pub fn cas(threads: usize) {
    let x = variables(1);
    each(threads, move |_| {
        black_box(x[0].compare_exchange(0, 7, SeqCst, SeqCst).is_ok());
    });
}

pub fn casrot(threads: usize) {
    let x = variables(1);
    each(threads, move |number| {
        black_box(x[0].compare_exchange(number, number + 1, SeqCst, SeqCst).is_ok());
    });
}

pub fn casw(threads: usize) {
    let x = variables(1);
    each(threads, move |_| {
        black_box(x[0].compare_exchange(0, 1, SeqCst, SeqCst).is_ok());
        x[0].store(2, SeqCst);
    });
}

pub fn readers(threads: usize) {
    let x = variables(1);
    each(threads + 1, move |number| {
        if number == 0 {
            x[0].store(1, SeqCst);
        } else {
            used(x[0].load(SeqCst));
        }
    });
}

pub fn lastzero(threads: usize) {
    let x = variables(threads + 1);
    each(threads + 1, move |number| {
        if number == 0 {
            black_box(x.iter().rev().position(|x| x.load(SeqCst) == 0));
        } else {
            x[number].store(x[number - 1].load(SeqCst) + 1, SeqCst);
        }
    });
}

/// So many threads do the same to a number under a lock.
fn under_lock(threads: usize, body: impl Fn(&Mutex<usize>, usize) + Clone + Send + 'static) {
    let lock = Arc::new(Mutex::new(0));
    each(threads, move |number| body(&lock, number));
}

pub fn lockinc(threads: usize) {
    under_lock(threads, |lock, _| *lock.lock().unwrap() += 1);
}

pub fn reads_under_lock(threads: usize) {
    under_lock(threads, |lock, _| used(*lock.lock().unwrap()));
}

pub fn writes_under_lock(threads: usize) {
    under_lock(threads, |lock, number| *lock.lock().unwrap() = number);
}

pub fn binc_locks(threads: usize) {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    each(threads, move |_| locks.iter().for_each(|lock| *lock.lock().unwrap() += 1));
}

pub fn casrot_locks(threads: usize) {
    under_lock(threads, |lock, number| {
        let mut value = lock.lock().unwrap();
        if *value == number {
            *value = number + 1;
        }
    });
}

pub fn casw_locks(threads: usize) {
    under_lock(threads, |lock, _| {
        let mut value = lock.lock().unwrap();
        if *value == 0 {
            *value = 1;
        }
        drop(value);
        *lock.lock().unwrap() = 2;
    });
}
