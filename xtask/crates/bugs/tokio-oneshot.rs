//! A receiver that has closed the channel looks for the value while the sender takes it back.

use std::thread::spawn;
use tokio::sync::oneshot;

#[test]
fn driver() {
    let (sender, mut receiver) = oneshot::channel();
    let thread = spawn(move || drop(sender.send(Box::new(7))));
    receiver.close();
    let _value = receiver.try_recv();
    thread.join().unwrap();
}
