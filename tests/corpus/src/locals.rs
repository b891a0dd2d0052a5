//! Thread-locals: one for each thread, and destructors at its end.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::{scope, spawn};

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(1) };
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![0]);
    static AT_END: RefCell<Option<CountsItsEnd>> = const { RefCell::new(None) };
}

/// Adds one when it is dropped.
struct CountsItsEnd(Arc<AtomicU32>);

impl Drop for CountsItsEnd {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

//@ verified
#[test]
fn one_for_each_thread() {
    NUMBER.set(2);
    let thread = spawn(|| {
        NUMBER.set(NUMBER.get() + 10);
        NUMBER.get()
    });
    assert_eq!(NUMBER.get(), 2);
    assert_eq!(thread.join().unwrap(), 11);
    assert_eq!(NUMBER.get(), 2);
}

//@ verified
#[test]
fn initialised_by_each_thread() {
    let push = |item| LIST.with_borrow_mut(|list| list.push(item));
    let thread = spawn(move || {
        push(1);
        LIST.take()
    });
    push(2);
    assert_eq!(thread.join().unwrap(), [0, 1]);
    assert_eq!(LIST.take(), [0, 2]);
}

//@ verified
#[test]
fn a_destructor_has_run_before_join_returns() {
    let ended = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&ended);
    let thread = spawn(move || AT_END.set(Some(CountsItsEnd(other))));
    thread.join().unwrap();
    assert_eq!(ended.load(SeqCst), 1);
}

//@ failed panic
#[test]
fn a_scope_does_not_wait_for_destructors() {
    let ended = Arc::new(AtomicU32::new(0));
    scope(|scope| {
        let other = Arc::clone(&ended);
        scope.spawn(move || AT_END.set(Some(CountsItsEnd(other))));
    });
    assert_eq!(ended.load(SeqCst), 1); //~ bug
}
