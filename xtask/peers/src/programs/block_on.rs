//! Futures by hand: `block_on` over `park`, and a flag with a waker.

use super::{check, two};
use crate::sync::atomic::{AtomicBool, Ordering::SeqCst};
use crate::sync::{Mutex, thread};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a thread that parks.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

struct Flag {
    is_set: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

struct Wait<const RIGHT: bool>(crate::sync::Arc<Flag>);

impl<const RIGHT: bool> Future for Wait<RIGHT> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !RIGHT && self.0.is_set.load(SeqCst) {
            return Poll::Ready(());
        }
        *self.0.waker.lock().unwrap() = Some(context.waker().clone());
        if RIGHT && self.0.is_set.load(SeqCst) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// Leaves its waker and looks at the flag, or looks first.
pub fn looked_too_early<const RIGHT: bool>() {
    let flag = Flag { is_set: AtomicBool::new(false), waker: Mutex::new(None) };
    let (mine, theirs) = two(flag);
    let thread = thread::spawn(move || {
        theirs.is_set.store(true, SeqCst);
        let waker = theirs.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    block_on(Wait::<RIGHT>(mine.clone()));
    check!(mine.is_set.load(SeqCst));
    thread.join().unwrap();
}
