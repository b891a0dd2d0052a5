//! A future that was woken for a message, which another receiver has taken, joins the queue too
//! late for the next message, and waits.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{current, park, spawn, Thread};

#[test]
fn driver() {
    let (sender, receiver) = flume::unbounded();
    let other = receiver.clone();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        let _taken = other.try_recv();
        sender.send(2).unwrap();
        sender
    });
    assert!(block_on(receiver.recv_async()).is_ok());
    thread.join().unwrap();
}

#[test]
fn repaired() {
    let (sender, receiver) = flume::unbounded();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        sender
    });
    assert!(block_on(receiver.recv_async()).is_ok());
    thread.join().unwrap();
}

/// Polls until the future is ready, parked in between.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unparks(current())).into();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        park();
    }
}

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
