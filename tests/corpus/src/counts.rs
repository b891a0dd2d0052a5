//! How many executions the types of std need: one number a program. Fewer would miss something, more are waste; `<=` stands where
//! some are waste. Threads are joined.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard};
use std::thread;

/// So many threads do the same with a number of their own, and are joined.
fn threads(count: usize, body: impl Fn(usize) + Clone + Send + 'static) {
    let bodies = (0..count).map(|number| (number, body.clone()));
    let handles: Vec<_> =
        bodies.map(|(number, body)| thread::spawn(move || body(number))).collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

fn counter(count: usize) {
    let counter = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&counter);
    threads(count, move |_| *shared.lock().unwrap() += 1);
    assert_eq!(*counter.lock().unwrap(), count);
}

//@ verified
//@ executions = 2
#[test]
fn a_counter_of_two_threads() {
    counter(2);
}

//@ verified
//@ executions = 6
#[test]
fn a_counter_of_three_threads() {
    counter(3);
}

//@ verified
//@ executions = 24
#[test]
fn a_counter_of_four_threads() {
    counter(4);
}

//@ verified
//@ executions = 1
#[test]
fn every_thread_has_its_own_lock() {
    let counters: Arc<Vec<Mutex<usize>>> = Arc::new((0..4).map(Mutex::new).collect());
    threads(4, move |number| {
        for _ in 0..3 {
            *counters[number].lock().unwrap() += 1;
        }
    });
}

//@ verified
//@ executions = 1
#[test]
fn readers_under_a_mutex() {
    let value = Arc::new(Mutex::new(7));
    threads(4, move |_| assert_eq!(*value.lock().unwrap(), 7));
}

//@ verified
//@ executions = 1
#[test]
fn readers_under_a_reader_writer_lock() {
    let value = Arc::new(RwLock::new(7));
    threads(4, move |_| assert_eq!(*value.read().unwrap(), 7));
}

//@ verified
//@ executions = 1
#[test]
fn references_that_nobody_counts() {
    let value = Arc::new(7);
    let shared = Arc::clone(&value);
    threads(4, move |_| {
        let mine = Arc::clone(&shared);
        assert_eq!(*mine, 7);
    });
    drop(value);
}

//@ verified
//@ executions = 1
#[test]
fn a_message_of_one_sender() {
    let (sender, receiver) = channel();
    let receives = thread::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
    let sends = thread::spawn(move || sender.send(1).unwrap());
    sends.join().unwrap();
    receives.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_message_of_each_of_two_senders() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let sends = [(sender, 1), (other, 2)]
        .map(|(sender, number)| thread::spawn(move || sender.send(number).unwrap()));
    for thread in sends {
        thread.join().unwrap();
    }
    assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
}

//@ verified
//@ executions = 1
#[test]
fn a_bounded_message() {
    let (sender, receiver) = sync_channel(1);
    let receives = thread::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
    let sends = thread::spawn(move || sender.send(1).unwrap());
    sends.join().unwrap();
    receives.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn a_message_that_is_handed_over() {
    let (sender, receiver) = sync_channel(0);
    let receives = thread::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
    let sends = thread::spawn(move || sender.send(1).unwrap());
    sends.join().unwrap();
    receives.join().unwrap();
}

/// Threads that pass two messages on, each to the next one.
fn pipeline(stages: usize) {
    let (first, mut end) = channel();
    let mut handles = Vec::new();
    for _ in 0..stages {
        let (next, next_end) = channel();
        let input = std::mem::replace(&mut end, next_end);
        handles.push(thread::spawn(move || {
            for message in input {
                next.send(message + 1).unwrap();
            }
        }));
    }
    first.send(1).unwrap();
    first.send(2).unwrap();
    drop(first);
    assert_eq!(end.iter().collect::<Vec<usize>>(), [1 + stages, 2 + stages]);
    for handle in handles {
        handle.join().unwrap();
    }
}

//@ verified
//@ executions = 1
#[test]
fn a_pipeline_of_two_threads() {
    pipeline(2);
}

//@ verified
//@ executions = 1
#[test]
fn a_pipeline_of_four_threads() {
    pipeline(4);
}

//@ verified
//@ executions = 6
#[test]
fn a_message_of_each_of_three_senders() {
    let (sender, receiver) = channel();
    threads(3, move |number| sender.send(number).unwrap());
    assert_eq!(receiver.iter().sum::<usize>(), 3);
}

//@ verified
//@ executions = 2
#[test]
fn messages_of_crossbeam() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let receives = thread::spawn(move || assert_eq!(receiver.iter().sum::<usize>(), 1));
    threads(2, move |number| sender.send(number).unwrap());
    receives.join().unwrap();
}

/// A lock by one flag.
struct SpinLock(AtomicBool, UnsafeCell<usize>);

// SAFETY: the flag guards the cell.
unsafe impl Sync for SpinLock {}

impl SpinLock {
    fn increment(&self) {
        while self.0.swap(true, Ordering::Acquire) {
            spin_loop();
        }
        // SAFETY: whoever has set the flag is alone here.
        unsafe { *self.1.get() += 1 };
        self.0.store(false, Ordering::Release);
    }
}

//@ clean
//@ executions = 2
#[test]
fn a_spin_lock_of_two_threads() {
    let lock = Arc::new(SpinLock(AtomicBool::new(false), UnsafeCell::new(0)));
    threads(2, move |_| lock.increment());
}

//@ clean
//@ executions = 6
#[test]
fn a_spin_lock_of_three_threads() {
    let lock = Arc::new(SpinLock(AtomicBool::new(false), UnsafeCell::new(0)));
    threads(3, move |_| lock.increment());
}

/// A lock by tickets.
#[derive(Default)]
struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
    count: UnsafeCell<usize>,
}

// SAFETY: the tickets guard the cell.
unsafe impl Sync for TicketLock {}

//@ clean
//@ executions = 2
#[test]
fn a_ticket_lock_of_two_threads() {
    let lock = Arc::new(TicketLock::default());
    threads(2, move |_| {
        let ticket = lock.next.fetch_add(1, Ordering::Relaxed);
        while lock.serving.load(Ordering::Acquire) != ticket {
            spin_loop();
        }
        // SAFETY: whoever is served is alone here.
        unsafe { *lock.count.get() += 1 };
        lock.serving.store(ticket + 1, Ordering::Release);
    });
}

//@ clean
//@ executions = 2
#[test]
fn a_ticket_lock_of_spin() {
    let counter = Arc::new(spin::mutex::TicketMutex::<_>::new(0));
    threads(2, move |_| *counter.lock() += 1);
}

//@ verified
//@ executions = 2
#[test]
fn a_sharded_lock_of_crossbeam() {
    let counter = Arc::new(crossbeam_utils::sync::ShardedLock::new(0));
    threads(2, move |_| *counter.write().unwrap() += 1);
}

//@ verified
//@ executions = 2
#[test]
fn a_lock_that_is_given_back_fairly() {
    let counter = Arc::new(parking_lot::Mutex::new(0));
    threads(2, move |_| {
        let mut guard = counter.lock();
        *guard += 1;
        parking_lot::MutexGuard::unlock_fair(guard);
    });
}

//@ verified
//@ executions = 2
#[test]
fn a_reader_writer_lock_that_is_downgraded() {
    let counter = Arc::new(RwLock::new(0));
    threads(2, move |_| {
        let mut writer = counter.write().unwrap();
        *writer += 1;
        let reader = RwLockWriteGuard::downgrade(writer);
        assert!(*reader > 0);
    });
}

//@ verified
//@ executions = 2
#[test]
fn a_lock_of_parking_lot_that_is_downgraded() {
    let counter = Arc::new(parking_lot::RwLock::new(0));
    threads(2, move |_| {
        let mut writer = counter.write();
        *writer += 1;
        let reader = parking_lot::RwLockWriteGuard::downgrade(writer);
        assert!(*reader > 0);
    });
}

//@ verified
//@ executions = 2
#[test]
fn lines_of_two_threads() {
    threads(2, |number| println!("{number}"));
}

//@ verified
//@ executions = 2
#[test]
fn a_once_of_two_threads() {
    let once = Arc::new(Once::new());
    threads(2, move |_| once.call_once(|| {}));
}

//@ verified
//@ executions = 2
#[test]
fn a_once_lock_of_two_threads() {
    let once = Arc::new(OnceLock::new());
    threads(2, move |_| assert_eq!(*once.get_or_init(|| 7), 7));
}

//@ verified
//@ executions = 2
#[test]
fn a_barrier_of_two_threads() {
    let barrier = Arc::new(Barrier::new(2));
    threads(2, move |_| {
        barrier.wait();
    });
}

//@ verified
//@ executions = 2
#[test]
fn a_hand_over_by_a_condition_variable() {
    let slot = Arc::new((Mutex::new(None), Condvar::new()));
    let other = Arc::clone(&slot);
    let gives = thread::spawn(move || {
        *other.0.lock().unwrap() = Some(7);
        other.1.notify_one();
    });
    let (value, changed) = &*slot;
    let got = changed.wait_while(value.lock().unwrap(), |value| value.is_none()).unwrap();
    assert_eq!(*got, Some(7));
    drop(got);
    gives.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_scope_of_two_threads() {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *counter.lock().unwrap() += 1);
        }
    });
    assert_eq!(counter.into_inner().unwrap(), 2);
}

//@ verified
//@ executions = 2
#[test]
fn a_scope_whose_threads_are_joined() {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        let one = scope.spawn(|| *counter.lock().unwrap() += 1);
        let other = scope.spawn(|| *counter.lock().unwrap() += 1);
        one.join().unwrap();
        other.join().unwrap();
    });
    assert_eq!(counter.into_inner().unwrap(), 2);
}
