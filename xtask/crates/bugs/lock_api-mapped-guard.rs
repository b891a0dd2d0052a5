//! A mapped guard is `Sync` though what it guards is not: two threads change a `Cell` through it.

use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::thread::scope;

#[test]
fn driver() {
    let lock = Mutex::new(Cell::new(0));
    let guard = MutexGuard::map(lock.lock(), |cell| cell);
    let guard = &guard;
    scope(|scope| {
        scope.spawn(move || guard.set(1));
        scope.spawn(move || guard.set(2));
    });
}

#[test]
fn repaired() {
    let lock = Mutex::new(Cell::new(0));
    let lock = &lock;
    scope(|scope| {
        scope.spawn(move || MutexGuard::map(lock.lock(), |cell| cell).set(1));
        scope.spawn(move || MutexGuard::map(lock.lock(), |cell| cell).set(2));
    });
}
