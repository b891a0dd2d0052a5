//! What makes a test fail: panics here and there, `should_panic`, results, aborts on the way.

use std::panic::{catch_unwind, panic_any, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::spawn;

/// What two threads make of one counter when they do not take care: 1 in some interleavings, 2 in others.
fn careless_sum() -> u32 {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    count.store(count.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    count.load(SeqCst)
}

//@ verified
#[test]
#[should_panic]
fn always_panics_as_it_should() {
    spawn(|| panic!("as it should")).join().unwrap();
}

//@ verified
#[test]
#[should_panic(expected = "either way")]
fn panics_with_the_message_it_should() {
    let sum = careless_sum();
    panic!("{sum}, either way");
}

//@ failed panic
#[test]
#[should_panic]
fn should_panic_but_does_so_in_some_orders_only() {
    assert_eq!(careless_sum(), 1);
}

//@ failed panic
#[test]
#[should_panic(expected = "got 1")]
fn panics_with_another_message_in_some_orders() {
    panic!("got {}", careless_sum());
}

//@ verified
#[test]
fn a_result_that_is_ok() -> Result<(), String> {
    let count = careless_sum();
    if count > 2 { Err(format!("got {count}")) } else { Ok(()) }
}

//@ failed panic
#[test]
fn a_result_that_is_an_error_in_some_orders() -> Result<(), String> {
    let count = careless_sum();
    if count < 2 { Err(format!("got {count}")) } else { Ok(()) }
}

//@ failed panic
#[test]
fn an_index_out_of_bounds_in_some_orders() {
    let table = [10, 20];
    let index = 3 - careless_sum() as usize;
    assert!(table[index] > 0); //~ bug
}

//@ failed panic
#[test]
fn an_overflow_in_some_orders() {
    let count = careless_sum();
    assert!(count - 2 == 0); //~ bug
}

//@ verified
#[test]
fn a_panic_with_a_payload() {
    let thread = spawn(|| panic_any(42_u32));
    assert_eq!(*thread.join().unwrap_err().downcast::<u32>().unwrap(), 42);
}

//@ verified
#[test]
fn a_panic_travels_on() {
    let thread = spawn(|| {
        let payload = catch_unwind(|| panic!("first")).unwrap_err();
        resume_unwind(payload);
    });
    assert!(thread.join().is_err());
}

//@ verified
#[test]
fn unwinding_runs_destructors_of_the_thread() {
    struct Counts(Arc<AtomicU32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let count = Arc::new(AtomicU32::new(0));
    let guard = Counts(Arc::clone(&count));
    let thread = spawn(move || {
        let _guard = guard;
        panic!("with a guard");
    });
    assert!(thread.join().is_err());
    assert_eq!(count.load(SeqCst), 1);
}

//@ failed abort
#[test]
fn a_panic_while_panicking() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("the second");
        }
    }
    let thread = spawn(|| {
        let _panics = Panics;
        panic!("the first");
    });
    let _ = thread.join();
}
