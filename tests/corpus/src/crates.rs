//! Crates that programs depend on: parking_lot, crossbeam, once_cell, rand, oneshot.

use crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};
use crossbeam_utils::{Backoff, CachePadded, atomic::AtomicCell};
use parking_lot::{Condvar, Mutex, Once, RwLock};
use rand::{RngExt, SeedableRng};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::{Context, Waker};
use std::thread::spawn;

//@ clean
#[test]
fn parking_lot_mutex() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

//@ failed deadlock
#[test]
fn parking_lot_ab_ba() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _a = other.0.lock();
        let _b = other.1.lock(); //~ bug
    });
    let b = locks.1.lock();
    let a = locks.0.lock(); //~ bug
    drop((a, b));
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn parking_lot_lost_update() {
    let count = Arc::new(Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || {
        let seen = *other.lock();
        *other.lock() = seen + 1;
    });
    let seen = *count.lock();
    *count.lock() = seen + 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2); //~ bug
}

//@ clean
#[test]
fn parking_lot_rwlock() {
    let pair = Arc::new(RwLock::new((0, 0)));
    let other = Arc::clone(&pair);
    let thread = spawn(move || *other.write() = (1, 1));
    let seen = *pair.read();
    assert_eq!(seen.0, seen.1);
    thread.join().unwrap();
}

//@ clean
#[test]
fn parking_lot_condvar() {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        *other.0.lock() = true;
        other.1.notify_one();
    });
    let mut ready = signal.0.lock();
    while !*ready {
        signal.1.wait(&mut ready);
    }
    drop(ready);
    thread.join().unwrap();
}

//@ clean
#[test]
fn parking_lot_once() {
    let shared = Arc::new((Once::new(), AtomicU32::new(0)));
    let other = Arc::clone(&shared);
    let call = |(once, calls): &(Once, AtomicU32)| {
        once.call_once(|| {
            calls.fetch_add(1, SeqCst);
        });
    };
    let thread = spawn(move || call(&other));
    call(&shared);
    thread.join().unwrap();
    assert_eq!(shared.1.load(SeqCst), 1);
}

//@ clean
#[test]
fn crossbeam_unbounded_channel() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let thread = spawn(move || sender.send(4).unwrap());
    assert_eq!(receiver.recv(), Ok(4));
    assert!(receiver.recv().is_err());
    thread.join().unwrap();
}

//@ clean
#[test]
fn crossbeam_bounded_channel() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let thread = spawn(move || sender.send(4).unwrap());
    assert_eq!(receiver.recv(), Ok(4));
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn crossbeam_rendezvous_crossing() {
    let (there, back) = (crossbeam_channel::bounded(0), crossbeam_channel::bounded(0));
    let thread = spawn(move || {
        there.0.send(1).unwrap(); //~ bug
        back.1.recv().unwrap();
    });
    back.0.send(2).unwrap(); //~ bug
    there.1.recv().unwrap();
    thread.join().unwrap();
}

//@ clean
#[test]
fn crossbeam_select() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let (_other, never) = crossbeam_channel::bounded::<u32>(1);
    let thread = spawn(move || sender.send(4).unwrap());
    crossbeam_channel::select! {
        recv(receiver) -> message => assert_eq!(message, Ok(4)),
        recv(never) -> _ => unreachable!(),
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn crossbeam_selects_a_receiver_to_send_to() {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    let thread = spawn(move || assert!(receiver.recv().is_ok()));
    crossbeam_channel::select! {
        send(sender, 1) -> sent => assert!(sent.is_ok()),
        send(sender, 2) -> sent => assert!(sent.is_ok()),
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn crossbeam_selects_a_sender_to_receive_from() {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    let (_other, never) = crossbeam_channel::bounded::<u32>(0);
    let thread = spawn(move || sender.send(4).unwrap());
    crossbeam_channel::select! {
        recv(receiver) -> message => assert_eq!(message, Ok(4)),
        recv(never) -> _ => unreachable!(),
    }
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn crossbeam_selects_a_sender_and_forgets_another() {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    let (other, second) = crossbeam_channel::bounded(0);
    let thread = spawn(move || sender.send(4).unwrap());
    let another = spawn(move || other.send(5).unwrap()); //~ bug
    crossbeam_channel::select! {
        recv(receiver) -> message => assert_eq!(message, Ok(4)),
        recv(second) -> message => assert_eq!(message, Ok(5)),
    }
    thread.join().unwrap();
    another.join().unwrap(); //~ bug
}

//@ clean
#[test]
fn crossbeam_scope() {
    let mut numbers = [1, 2];
    let (left, right) = numbers.split_at_mut(1);
    crossbeam_utils::thread::scope(|scope| {
        scope.spawn(|_| left[0] += 10);
        right[0] += 10;
    })
    .unwrap();
    assert_eq!(numbers, [11, 12]);
}

//@ clean
#[test]
fn crossbeam_backoff() {
    let flag = Arc::new(CachePadded::new(AtomicBool::new(false)));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    let backoff = Backoff::new();
    while !flag.load(SeqCst) {
        backoff.snooze();
    }
    thread.join().unwrap();
}

//@ clean
#[test]
fn crossbeam_cells_and_groups() {
    let cell = Arc::new(AtomicCell::new(1_u32));
    let other = Arc::clone(&cell);
    let group = WaitGroup::new();
    let guard = group.clone();
    let thread = spawn(move || {
        other.fetch_add(1);
        drop(guard);
    });
    group.wait();
    assert_eq!(cell.load(), 2);
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn crossbeam_parker() {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let thread = spawn(move || unparker.unpark());
    parker.park();
    thread.join().unwrap();
}

/// The token is one, however often it is given.
//@ failed deadlock
#[test]
fn crossbeam_parker_twice() {
    let parker = Parker::new();
    let unparkers = [(); 2].map(|()| parker.unparker().clone());
    let threads = unparkers.map(|unparker| spawn(move || unparker.unpark()));
    parker.park();
    parker.park(); //~ bug
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ clean
#[test]
fn crossbeam_parker_with_a_timeout() {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let thread = spawn(move || unparker.unpark());
    parker.park_timeout(std::time::Duration::from_millis(1));
    parker.unparker().unpark();
    parker.park();
    thread.join().unwrap();
}

//@ clean
#[test]
fn crossbeam_sharded_lock() {
    let pair = Arc::new(ShardedLock::new((0, 0)));
    let other = Arc::clone(&pair);
    let thread = spawn(move || *other.write().unwrap() = (1, 1));
    let seen = *pair.read().unwrap();
    assert_eq!(seen.0, seen.1);
    thread.join().unwrap();
}

//@ clean
#[test]
fn once_cell_lazy() {
    static LAZY: once_cell::sync::Lazy<Vec<u32>> = once_cell::sync::Lazy::new(|| vec![1, 2]);
    let thread = spawn(|| LAZY.len());
    assert_eq!(LAZY[1], 2);
    assert_eq!(thread.join().unwrap(), 2);
}

//@ failed panic
#[test]
fn once_cell_read_too_early() {
    let cell = Arc::new(once_cell::sync::OnceCell::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || other.set(1).unwrap());
    assert_eq!(*cell.get().unwrap(), 1); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn rand_seeds_each_thread() {
    let thread = spawn(|| rand::rng().random_range(0..6));
    let mine: u32 = rand::rng().random_range(0..6);
    let theirs: u32 = thread.join().unwrap();
    assert!(mine < 6 && theirs < 6);
}

//@ clean
#[test]
fn rand_from_a_fixed_seed() {
    let roll = || rand::rngs::SmallRng::seed_from_u64(9).random_range(1..=6);
    let thread = spawn(roll);
    let mine: u32 = roll();
    assert_eq!(thread.join().unwrap(), mine);
}

//@ clean
#[test]
fn crossbeam_two_receivers() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let other = receiver.clone();
    let thread = spawn(move || other.recv().unwrap());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(receiver.recv().unwrap() + thread.join().unwrap(), 3);
}

//@ failed deadlock
#[test]
fn crossbeam_one_message_for_two() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let other = receiver.clone();
    let thread = spawn(move || other.recv()); //~ bug
    sender.send(1).unwrap();
    assert!(receiver.recv().is_ok());
    let _ = thread.join(); //~ bug
    drop(sender);
}

/// oneshot 0.1.13 (the newest one when this was written): a receiver that is dropped while the sender takes its waker overwrites the state that the
/// sender has left, takes its own value for the sender's, and frees the channel under it.
//@ failed data-race|use-after-free|signal
//@ preemptions = 2
#[test]
fn oneshot_receiver_dropped_while_it_is_woken() {
    let (sender, receiver) = oneshot::channel::<i32>();
    let receives = spawn(move || {
        let mut receiver = pin!(receiver);
        let mut context = Context::from_waker(Waker::noop());
        let _ = receiver.as_mut().poll(&mut context);
    });
    let sends = spawn(move || drop(sender));
    receives.join().unwrap();
    sends.join().unwrap();
}

//@ clean
#[test]
fn oneshot_message() {
    let (sender, receiver) = oneshot::channel();
    let sends = spawn(move || sender.send(7).unwrap());
    assert_eq!(receiver.recv(), Ok(7));
    sends.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn crossbeam_messages_that_workers_share() {
    let (sender, receiver) = crossbeam_channel::bounded(2);
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    let worker = receiver.clone();
    let thread = spawn(move || worker.iter().count());
    thread.join().unwrap();
    assert!(receiver.recv().is_err());
}

//@ failed panic
#[test]
fn crossbeam_asks_how_many() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_ne!(receiver.len(), 1); //~ bug
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn crossbeam_selects_one_of_two() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let (other, never) = crossbeam_channel::bounded(1);
    let thread = spawn(move || sender.send(4).unwrap());
    let second = spawn(move || other.send(5).unwrap());
    crossbeam_channel::select! {
        recv(receiver) -> message => assert_eq!(message, Ok(4)),
        recv(never) -> message => assert_eq!(message, Ok(4)), //~ bug
    }
    thread.join().unwrap();
    second.join().unwrap();
}

//@ failed panic
#[test]
fn crossbeam_who_drops_what_is_left() {
    struct Tells(std::thread::ThreadId);
    impl Drop for Tells {
        fn drop(&mut self) {
            assert_ne!(std::thread::current().id(), self.0); //~ bug
        }
    }
    let (sender, receiver) = crossbeam_channel::bounded(1);
    sender.send(Tells(std::thread::current().id())).unwrap();
    let thread = spawn(move || drop(receiver));
    drop(sender);
    thread.join().unwrap();
}

//@ warned timing
#[test]
fn crossbeam_send_with_a_timeout() {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    let thread = spawn(move || receiver.recv_timeout(std::time::Duration::from_millis(5)));
    let sent = sender.send_timeout(1, std::time::Duration::from_millis(5));
    assert_eq!(thread.join().unwrap().is_ok(), sent.is_ok());
    sent.unwrap();
}
