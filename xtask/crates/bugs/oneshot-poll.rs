//! A receiver is polled and dropped while the sender takes its waker.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::thread::spawn;

#[test]
fn driver() {
    let (sender, mut receiver) = oneshot::channel();
    let thread = spawn(move || drop(sender.send(1)));
    let _ready = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
    drop(receiver);
    thread.join().unwrap();
}
