//! A writer that spins sees by a relaxed load that the last reader is gone.

use parking_lot::RwLock;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.read());
    *lock.write() = 1;
    thread.join().unwrap();
}
