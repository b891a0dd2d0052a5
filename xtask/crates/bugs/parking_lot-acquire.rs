//! A thread that has waited takes the lock by a relaxed exchange: the critical sections are not ordered.

use parking_lot::RwLock;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let lock = Arc::new(RwLock::new(0));
    let thread = |lock: &Arc<RwLock<i32>>| {
        let lock = Arc::clone(lock);
        spawn(move || *lock.write() += 1)
    };
    let threads = [thread(&lock), thread(&lock)];
    let _seen = *lock.read();
    for thread in threads {
        thread.join().unwrap();
    }
}
