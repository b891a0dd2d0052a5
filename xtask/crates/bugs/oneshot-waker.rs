//! A receiver that was polled is dropped while the sender reads its waker.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{current, park, spawn, Thread};

#[test]
fn driver() {
    let (sender, receiver) = oneshot::channel();
    let thread = spawn(move || drop(sender.send(1)));
    let mut receiving = Box::pin(receiver.into_future());
    let _ready = receiving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    drop(receiving);
    thread.join().unwrap();
}

#[test]
fn repaired() {
    let (sender, receiver) = oneshot::channel();
    let thread = spawn(move || drop(sender.send(1)));
    assert_eq!(block_on(receiver.into_future()), Ok(1));
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
