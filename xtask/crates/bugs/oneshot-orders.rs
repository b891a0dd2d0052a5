//! A message that is received, or dropped with the receiver, while the sender is on its way.

use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = oneshot::channel();
    let thread = spawn(move || drop(sender.send(Box::new(5))));
    drop(receiver);
    thread.join().unwrap();
}
