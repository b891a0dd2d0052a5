//! Two threads park for the first time: the one that loses the race to make the table uses the
//! other's without acquiring it.

use parking_lot_core::{park, DEFAULT_PARK_TOKEN};
use std::thread::spawn;
use std::time::Instant;

fn parks(key: usize) {
    // The thread is not to stay: the moment is over.
    unsafe { park(key, || true, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, Some(Instant::now())) };
}

#[test]
fn driver() {
    let thread = spawn(|| parks(1));
    parks(2);
    thread.join().unwrap();
}
