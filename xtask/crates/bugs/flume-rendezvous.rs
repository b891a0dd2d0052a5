//! A channel without room: the sender wakes the receiver before the message is there.

use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = flume::bounded(0);
    let thread = spawn(move || drop(sender.send(1)));
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}
