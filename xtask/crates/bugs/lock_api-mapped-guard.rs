//! A mapped guard is `Send` though what it guards is not: another thread counts references.

use parking_lot::{Mutex, MutexGuard};
use std::thread::scope;

#[test]
fn driver() {
    let shared = std::rc::Rc::new(0);
    let lock = Mutex::new(std::rc::Rc::clone(&shared));
    let guard = MutexGuard::map(lock.lock(), |shared| shared);
    scope(|scope| {
        scope.spawn(move || drop(guard.clone()));
        drop(shared.clone());
    });
}

#[test]
fn repaired() {
    let shared = std::sync::Arc::new(0);
    let lock = Mutex::new(std::sync::Arc::clone(&shared));
    let guard = MutexGuard::map(lock.lock(), |shared| shared);
    scope(|scope| {
        scope.spawn(move || drop(guard.clone()));
        drop(shared.clone());
    });
}
