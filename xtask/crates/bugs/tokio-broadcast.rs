//! Two receivers clone a value that is not `Sync` at the same time.

use std::cell::Cell;
use std::thread::spawn;
use tokio::sync::broadcast;

/// Counts how often it was cloned.
struct Cloned(Cell<u32>);

impl Clone for Cloned {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        Self(Cell::new(0))
    }
}

#[test]
fn driver() {
    let (sender, mut receiver) = broadcast::channel(2);
    let mut other = sender.subscribe();
    sender.send(Cloned(Cell::new(0))).ok().unwrap();
    let thread = spawn(move || drop(other.try_recv()));
    drop(receiver.try_recv());
    thread.join().unwrap();
}
