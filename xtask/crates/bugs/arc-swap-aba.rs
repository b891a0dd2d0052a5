//! `compare_and_swap` takes a new value for the one it was given, which is gone, and whose memory the new one has.

use arc_swap::ArcSwap;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let shared = Arc::new(ArcSwap::new(Arc::new(1)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        other.store(Arc::new(2));
        other.store(Arc::new(3));
    });
    let seen = shared.load();
    let before = shared.compare_and_swap(&seen, Arc::new(4));
    assert!(*before != *seen || Arc::ptr_eq(&before, &seen));
    thread.join().unwrap();
}
