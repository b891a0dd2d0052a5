//! A writer that is about to park sees by a failed exchange, which acquires nothing, that the last
//! reader is gone.

use parking_lot::RwLock;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() = 1);
    let _seen = *lock.read();
    thread.join().unwrap();
}
