//! A reader that reads again waits for a writer that waits for the reader.

use parking_lot::RwLock;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() = 1);
    let outer = lock.read();
    assert_eq!(*lock.read(), *outer);
    drop(outer);
    thread.join().unwrap();
}

#[test]
fn repaired() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() = 1);
    let outer = lock.read();
    assert_eq!(*lock.read_recursive(), *outer);
    drop(outer);
    thread.join().unwrap();
}
