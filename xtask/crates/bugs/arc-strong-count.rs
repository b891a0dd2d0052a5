//! `Arc::strong_count` is used as a lock: who is the only owner by a relaxed load does not see what
//! others have written.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread::spawn;

struct Shared(UnsafeCell<u32>);
unsafe impl Sync for Shared {}

impl Shared {
    /// Adds one. The caller is alone, or believes so.
    unsafe fn add(&self) {
        unsafe { *self.0.get() += 1 }
    }
}

#[test]
fn driver() {
    let shared = Arc::new(Shared(UnsafeCell::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || unsafe { other.add() });
    while Arc::strong_count(&shared) != 1 {
        std::hint::spin_loop();
    }
    unsafe { shared.add() };
    thread.join().unwrap();
}

#[test]
fn repaired() {
    let mut shared = Arc::new(Shared(UnsafeCell::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || unsafe { other.add() });
    while Arc::get_mut(&mut shared).is_none() {
        std::hint::spin_loop();
    }
    unsafe { shared.add() };
    thread.join().unwrap();
}
