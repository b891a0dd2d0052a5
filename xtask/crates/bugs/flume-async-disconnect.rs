//! A future that is polled again finds the channel empty, and then disconnected, though a message
//! was sent in between.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread::spawn;

#[test]
fn driver() {
    let (sender, receiver) = flume::unbounded();
    let mut context = Context::from_waker(Waker::noop());
    let mut receiving = pin!(receiver.recv_async());
    assert!(receiving.as_mut().poll(&mut context).is_pending());
    let thread = spawn(move || sender.send(1).unwrap());
    let polled = receiving.as_mut().poll(&mut context);
    assert!(!matches!(polled, Poll::Ready(Err(_))), "a message is lost");
    thread.join().unwrap();
}
