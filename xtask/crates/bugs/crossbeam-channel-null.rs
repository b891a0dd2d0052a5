//! One sender is between making the first block and telling it when another one has sent, and the
//! receiver is dropped.

use crossbeam_channel::unbounded;
use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = unbounded();
    let other = sender.clone();
    let one = spawn(move || drop(sender.send(1)));
    let two = spawn(move || drop(other.send(2)));
    drop(receiver);
    one.join().unwrap();
    two.join().unwrap();
}
