//! `upgrade` sees by a relaxed subtraction that the last reader is gone.

use parking_lot::{RwLock, RwLockUpgradableReadGuard};
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let lock = Arc::new(RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.read());
    let guard = lock.upgradable_read();
    *RwLockUpgradableReadGuard::upgrade(guard) = 1;
    thread.join().unwrap();
}
