//! spin's locks, and cells of once_cell: what waits by going round a loop, recognised.

use crate::shared::Shared;
use spin::{Barrier, Lazy, Mutex, Once, RwLock};
use std::sync::Arc;
use std::thread::spawn;

fn increments(threads: usize) {
    let count = Arc::new(Mutex::new(0));
    let start = || {
        let count = Arc::clone(&count);
        spawn(move || *count.lock() += 1)
    };
    let started: Vec<_> = (0..threads).map(|_| start()).collect();
    for thread in started {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock(), threads);
}

//@ verified
//@ executions = 2
#[test]
fn two_increments() {
    increments(2);
}

//@ verified
//@ executions = 6
#[test]
fn three_increments() {
    increments(3);
}

//@ failed deadlock
#[test]
fn ab_ba() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _a = other.0.lock();
        let _b = other.1.lock(); //~ bug
    });
    let b = locks.1.lock();
    let a = locks.0.lock(); //~ bug
    drop((a, b));
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_try_may_fail() {
    let lock = Arc::new(Mutex::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.lock() += 1);
    *lock.try_lock().unwrap() += 1; //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn a_ticket_mutex() {
    let count = Arc::new(spin::mutex::TicketMutex::<_>::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

//@ verified
//@ executions = 1
#[test]
fn two_readers() {
    let lock = Arc::new(RwLock::new(1));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.read());
    assert_eq!(*lock.read() + thread.join().unwrap(), 2);
}

//@ verified
//@ executions = 2
#[test]
fn a_writer_and_a_reader() {
    let pair = Arc::new(RwLock::new((0, 0)));
    let other = Arc::clone(&pair);
    let thread = spawn(move || *other.write() = (1, 1));
    let seen = *pair.read();
    assert_eq!(seen.0, seen.1);
    thread.join().unwrap();
}

//@ verified
//@ executions = 3
#[test]
fn an_upgrade_beside_a_reader() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.read());
    let seen = lock.upgradeable_read();
    let next = *seen + 1;
    *seen.upgrade() = next;
    assert!(thread.join().unwrap() <= 1);
}

//@ verified
//@ executions = 2
#[test]
fn a_downgrade_keeps_writers_out() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    let mut mine = lock.write();
    *mine += 10;
    let written = *mine;
    assert_eq!(*mine.downgrade(), written);
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn one_call() {
    let shared = Arc::new((Once::<()>::new(), Shared::new(0)));
    let other = Arc::clone(&shared);
    let call = |shared: &(Once<()>, Shared<i32>)| {
        shared.0.call_once(|| unsafe { *shared.1.ptr() += 1 });
        unsafe { *shared.1.ptr() }
    };
    let thread = spawn(move || call(&other));
    assert_eq!(call(&shared), 1);
    assert_eq!(thread.join().unwrap(), 1);
}

//@ failed panic
#[test]
fn a_once_read_too_early() {
    let once = Arc::new(Once::new());
    let other = Arc::clone(&once);
    let thread = spawn(move || *other.call_once(|| 1));
    assert_eq!(once.get(), Some(&1)); //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_lazy_static() {
    static LAZY: Lazy<Vec<u32>> = Lazy::new(|| vec![1, 2]);
    let thread = spawn(|| LAZY.len());
    assert_eq!(LAZY[1], 2);
    assert_eq!(thread.join().unwrap(), 2);
}

//@ clean
#[test]
fn a_barrier_has_one_leader() {
    let barrier = Arc::new(Barrier::new(2));
    let other = Arc::clone(&barrier);
    let thread = spawn(move || other.wait().is_leader());
    let mine = barrier.wait().is_leader();
    assert!(mine != thread.join().unwrap());
}

//@ verified
//@ executions = 2
#[test]
fn once_cell_has_one_winner() {
    let cell = Arc::new(once_cell::sync::OnceCell::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.get_or_init(|| 1));
    let mine = *cell.get_or_init(|| 2);
    assert_eq!(mine, thread.join().unwrap());
}

//@ clean
#[test]
fn once_cell_is_waited_for() {
    let cell = Arc::new(once_cell::sync::OnceCell::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.wait());
    cell.set(3).unwrap();
    assert_eq!(thread.join().unwrap(), 3);
}

//@ verified
#[test]
fn a_cell_looked_at_by_its_own_initialiser() {
    let cell = Arc::new(once_cell::sync::OnceCell::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.get_or_init(|| i32::from(other.get().is_some())));
    let mine = *cell.get_or_init(|| i32::from(cell.get().is_some()));
    assert_eq!((mine, thread.join().unwrap()), (0, 0));
}
