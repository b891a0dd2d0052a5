//! Two producers, one after the other, each alone by a flag that orders nothing.

use ringbuf::SharedRb;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let ring = Arc::new(SharedRb::<u64, Vec<_>>::new(4));
    let other = Arc::clone(&ring);
    let _ = (ring, other);
}
