//! Two senders send their first messages while the receiver is dropped.

use crossbeam_channel::unbounded;
use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = unbounded();
    let other = sender.clone();
    let one = spawn(move || drop(sender.send(Box::new(1))));
    let two = spawn(move || drop(other.send(Box::new(2))));
    drop(receiver);
    one.join().unwrap();
    two.join().unwrap();
}
