//! Guards are dropped by relaxed stores: who locks next does not see what was written.

use spin::RwLock;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    let _seen = *lock.read();
    thread.join().unwrap();
}
