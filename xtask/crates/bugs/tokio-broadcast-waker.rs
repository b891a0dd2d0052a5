//! A waker that is dropped under the lock of the channel uses the channel.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake};
use std::thread::spawn;
use tokio::sync::broadcast::{channel, Sender};

/// A waker with an end of the channel in it.
struct Sends(Sender<u32>);

impl Wake for Sends {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Sends {
    fn drop(&mut self) {
        drop(self.0.send(2));
    }
}

#[test]
fn driver() {
    let (sender, mut receiver) = channel(4);
    let waker = Arc::new(Sends(sender.clone())).into();
    let mut receiving = pin!(receiver.recv());
    let _ready = receiving.as_mut().poll(&mut Context::from_waker(&waker));
    drop(waker);
    let thread = spawn(move || drop(sender.send(1)));
    thread.join().unwrap();
}
