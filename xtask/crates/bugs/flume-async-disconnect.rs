//! A future finds the channel empty, and then disconnected, though a message was sent in between.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = flume::unbounded();
    let thread = spawn(move || sender.send(1).unwrap());
    let mut receiving = pin!(receiver.recv_async());
    let polled = receiving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled != Poll::Ready(Err(flume::RecvError::Disconnected)), "a message is lost");
    thread.join().unwrap();
}
