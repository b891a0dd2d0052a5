//! One-time initialisation and meeting points: Once, OnceLock, LazyLock, Barrier.

use crate::shared::Shared;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, LazyLock, Mutex, Once, OnceLock};
use std::thread::spawn;

static CALLS: AtomicU32 = AtomicU32::new(0);
static LAZY: LazyLock<u32> = LazyLock::new(|| CALLS.fetch_add(1, SeqCst) + 1);

//@ verified
//@ executions = 2
#[test]
fn one_call() {
    let shared = Arc::new((Once::new(), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        other.0.call_once(|| unsafe { *other.1.ptr() += 1 });
        unsafe { *other.1.ptr() }
    });
    shared.0.call_once(|| unsafe { *shared.1.ptr() += 1 });
    assert_eq!(unsafe { *shared.1.ptr() }, 1);
    assert_eq!(thread.join().unwrap(), 1);
    assert!(shared.0.is_completed());
}

//@ failed panic
#[test]
fn completed_too_early() {
    let once = Arc::new(Once::new());
    let other = Arc::clone(&once);
    let thread = spawn(move || other.call_once(|| ()));
    assert!(once.is_completed()); //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_poisoned_once() {
    let once = Arc::new(Once::new());
    let other = Arc::clone(&once);
    let thread = spawn(move || other.call_once(|| panic!("poisons")));
    assert!(thread.join().is_err());
    let caught = catch_unwind(AssertUnwindSafe(|| once.call_once(|| ())));
    assert!(caught.is_err());
    once.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(once.is_completed());
}

//@ failed deadlock
#[test]
fn a_recursive_once() {
    let once = Once::new();
    let thread = spawn(move || {
        once.call_once(|| once.call_once(|| ())); //~ bug
    });
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn once_lock_has_one_winner() {
    let cell = Arc::new(OnceLock::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.get_or_init(|| 1));
    let mine = *cell.get_or_init(|| 2);
    assert_eq!(thread.join().unwrap(), mine);
}

//@ verified
//@ executions = 2
#[test]
fn once_lock_set_reports_the_loser() {
    let cell = Arc::new(OnceLock::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || other.set(1).is_ok());
    let mine = cell.set(2).is_ok();
    assert!(mine != thread.join().unwrap());
}

//@ failed panic
#[test]
fn once_lock_read_too_early() {
    let cell = Arc::new(OnceLock::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || other.set(1).unwrap());
    assert_eq!(*cell.get().unwrap(), 1); //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_lazy_static() {
    let thread = spawn(|| *LAZY);
    assert_eq!(*LAZY, 1);
    assert_eq!(thread.join().unwrap(), 1);
    assert_eq!(CALLS.load(SeqCst), 1);
}

//@ failed deadlock
#[test]
fn lazy_statics_of_each_other() {
    static FIRST: LazyLock<u32> = LazyLock::new(|| *SECOND + 1);
    static SECOND: LazyLock<u32> = LazyLock::new(|| *FIRST + 1); //~ bug
    let thread = spawn(|| *FIRST);
    thread.join().unwrap();
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

//@ clean
#[test]
fn a_barrier_separates_phases() {
    let shared = Arc::new((Barrier::new(2), Shared::new([0, 0])));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { (*other.1.ptr())[0] = 1 };
        other.0.wait();
        unsafe { (*other.1.ptr())[1] }
    });
    unsafe { (*shared.1.ptr())[1] = 1 };
    shared.0.wait();
    assert_eq!(unsafe { (*shared.1.ptr())[0] }, 1);
    assert_eq!(thread.join().unwrap(), 1);
}

//@ failed data-race
#[test]
fn a_barrier_passed_too_early() {
    let shared = Arc::new((Barrier::new(2), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        other.0.wait();
        unsafe { *other.1.ptr() = 1 }; //~ bug
    });
    shared.0.wait();
    assert!(unsafe { *shared.1.ptr() } <= 1); //~ bug
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_barrier_for_too_many() {
    let barrier = Arc::new(Barrier::new(3));
    let other = Arc::clone(&barrier);
    let thread = spawn(move || other.wait().is_leader()); //~ bug
    barrier.wait(); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn a_lock_in_a_once_lock() {
    static CELL: OnceLock<Mutex<u32>> = OnceLock::new();
    let add = || *CELL.get_or_init(|| Mutex::new(0)).lock().unwrap() += 1;
    let thread = spawn(add);
    add();
    thread.join().unwrap();
    assert_eq!(*CELL.get().unwrap().lock().unwrap(), 2);
}
