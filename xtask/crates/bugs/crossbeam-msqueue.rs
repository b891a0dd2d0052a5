//! A blocking `pop` takes what a `push` hands it, told by a relaxed flag.

use crossbeam::sync::MsQueue;
use std::sync::Arc;
use std::thread::spawn;

#[test]
fn driver() {
    let queue = Arc::new(MsQueue::new());
    let other = Arc::clone(&queue);
    let thread = spawn(move || other.pop());
    queue.push(5_u64);
    assert_eq!(thread.join().unwrap(), 5);
}
