//! Executors by hand: tasks in a queue, polled by one worker or two; a task says that it is in the queue, or its future is where nobody
//! looks for it meanwhile.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::spawn;

/// What is wrong with an executor.
const NOTHING: u8 = 0;
/// A task's mark is taken away behind the poll.
const MARK_KEPT: u8 = 1;
/// A task whose future is being polled is skipped.
const SKIPPED: u8 = 2;
/// A task is polled again after its end.
const POLLED_AGAIN: u8 = 3;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future, and the queue that it goes to when it is woken.
struct Task<const WRONG: u8> {
    future: Mutex<Option<Work>>,
    queued: AtomicBool,
    queue: Mutex<Sender<Arc<Self>>>,
}

impl<const WRONG: u8> Task<WRONG> {
    fn enqueue(self: Arc<Self>) {
        if !self.queued.swap(true, SeqCst) {
            let queue = self.queue.lock().unwrap().clone();
            let _ = queue.send(self);
        }
    }

    fn run(self: Arc<Self>) {
        if WRONG != MARK_KEPT {
            self.queued.store(false, SeqCst);
        }
        let waker = Waker::from(Arc::clone(&self));
        let mut context = Context::from_waker(&waker);
        let mut slot = match self.future.try_lock() {
            Ok(slot) => slot,
            Err(_) if WRONG == SKIPPED => return,
            Err(_) => self.future.lock().unwrap(),
        };
        if let Some(future) = &mut *slot
            && future.as_mut().poll(&mut context).is_ready()
            && WRONG != POLLED_AGAIN
        {
            *slot = None;
        }
        drop(slot);
        if WRONG == MARK_KEPT {
            self.queued.store(false, SeqCst);
        }
    }
}

impl<const WRONG: u8> Wake for Task<WRONG> {
    fn wake(self: Arc<Self>) {
        self.enqueue();
    }
}

/// Puts tasks into the queue that was given.
fn start<const WRONG: u8>(queue: &Sender<Arc<Task<WRONG>>>, future: Work) {
    let (future, queued) = (Mutex::new(Some(future)), AtomicBool::new(false));
    Arc::new(Task { future, queued, queue: Mutex::new(queue.clone()) }).enqueue();
}

/// Runs tasks until nobody can wake one any more.
fn run<const WRONG: u8>(tasks: &Receiver<Arc<Task<WRONG>>>) {
    while let Ok(task) = tasks.recv() {
        task.run();
    }
}

/// A value that one sends and another awaits.
#[derive(Default)]
struct Slot(Mutex<(Option<u32>, Option<Waker>)>);

impl Slot {
    fn send(&self, value: u32) {
        let waker = {
            let mut slot = self.0.lock().unwrap();
            slot.0 = Some(value);
            slot.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Awaits a slot.
struct Received(Arc<Slot>);

impl Future for Received {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, context: &mut Context) -> Poll<u32> {
        let mut slot = self.0.0.lock().unwrap();
        match slot.0.take() {
            Some(value) => Poll::Ready(value),
            None => {
                slot.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Lets others go first, once.
#[derive(Default)]
struct Yields(bool);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Where a task leaves what it has received.
type Outcome = Arc<Mutex<Option<u32>>>;

/// A task that receives, and leaves what it got.
fn receiving(slot: &Arc<Slot>, outcome: &Outcome) -> Work {
    let (slot, outcome) = (Received(Arc::clone(slot)), Arc::clone(outcome));
    Box::pin(async move {
        let value = slot.await;
        *outcome.lock().unwrap() = Some(value);
    })
}

/// Main runs a task that awaits what a thread sends.
fn a_worker_and_a_thread<const WRONG: u8>() {
    let (queue, tasks) = channel();
    let (slot, outcome) = (Arc::new(Slot::default()), Outcome::default());
    start::<WRONG>(&queue, receiving(&slot, &outcome));
    drop(queue);
    let thread = spawn(move || slot.send(7));
    run(&tasks);
    thread.join().unwrap();
    assert_eq!(*outcome.lock().unwrap(), Some(7)); //~ bug of a_task_whose_mark_is_kept
}

//@ verified
#[test]
fn a_task_that_a_thread_wakes() {
    a_worker_and_a_thread::<NOTHING>();
}

// It is woken while it is polled, and seems to be in the queue.
//@ failed panic
#[test]
fn a_task_whose_mark_is_kept() {
    a_worker_and_a_thread::<MARK_KEPT>();
}

/// Two workers at one queue run two tasks, one of which awaits what the other sends.
fn two_workers<const WRONG: u8>() {
    let (queue, tasks) = channel();
    let (slot, outcome) = (Arc::new(Slot::default()), Outcome::default());
    start::<WRONG>(&queue, receiving(&slot, &outcome));
    start::<WRONG>(&queue, Box::pin(async move { slot.send(7) }));
    drop(queue);
    let tasks = Arc::new(Mutex::new(tasks));
    let work = |tasks: &Mutex<Receiver<Arc<Task<WRONG>>>>| loop {
        let next = tasks.lock().unwrap().recv();
        match next {
            Ok(task) => task.run(),
            Err(_) => break,
        }
    };
    let other = Arc::clone(&tasks);
    let worker = spawn(move || work(&other));
    work(&tasks);
    worker.join().unwrap();
    assert_eq!(*outcome.lock().unwrap(), Some(7)); //~ bug of a_task_that_is_skipped_while_it_is_polled
}

//@ verified
#[test]
fn a_task_that_another_worker_wakes() {
    two_workers::<NOTHING>();
}

//@ failed panic
#[test]
fn a_task_that_is_skipped_while_it_is_polled() {
    two_workers::<SKIPPED>();
}

/// Ends with the first of two slots.
struct Either([Received; 2]);

impl Future for Either {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<u32> {
        for slot in &mut self.0 {
            if let Poll::Ready(value) = Pin::new(slot).poll(context) {
                return Poll::Ready(value);
            }
        }
        Poll::Pending
    }
}

/// Main runs a task that ends with the first of what two threads send.
fn two_senders<const WRONG: u8>() {
    let (queue, tasks) = channel();
    let (slots, outcome) = ([(); 2].map(|()| Arc::new(Slot::default())), Outcome::default());
    let either = Either(slots.each_ref().map(|slot| Received(Arc::clone(slot))));
    let left = Arc::clone(&outcome);
    let work = async move {
        let value = either.await;
        *left.lock().unwrap() = Some(value);
    };
    start::<WRONG>(&queue, Box::pin(work));
    drop(queue);
    let threads = slots.map(|slot| spawn(move || slot.send(7)));
    run(&tasks);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*outcome.lock().unwrap(), Some(7));
}

//@ verified
#[test]
fn a_task_that_is_woken_behind_its_end() {
    two_senders::<NOTHING>();
}

//@ failed panic
#[test]
fn a_task_that_is_polled_behind_its_end() {
    two_senders::<POLLED_AGAIN>();
}

//@ verified
#[test]
fn two_tasks_that_give_way() {
    let (queue, tasks) = channel();
    let sum = Arc::new(Mutex::new(0));
    for value in [1, 2] {
        let sum = Arc::clone(&sum);
        let work = async move {
            *sum.lock().unwrap() += value;
            Yields::default().await;
            *sum.lock().unwrap() *= value;
        };
        start::<NOTHING>(&queue, Box::pin(work));
    }
    drop(queue);
    let worker = spawn(move || run(&tasks));
    worker.join().unwrap();
    assert_eq!(*sum.lock().unwrap(), 6);
}
