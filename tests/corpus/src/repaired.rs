//! Wrong programs of other modules, repaired, where no right one stands beside them. A name is that of the module and that of the program there.

use crate::shared::Shared;
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread::{current, park, scope, spawn};
use std::time::Duration;

/// Two threads, the other and this one, do the same with what they share.
fn both<T: Send + Sync + 'static>(shared: T, act: fn(&T)) -> Arc<T> {
    let shared = Arc::new(shared);
    let other = Arc::clone(&shared);
    let thread = spawn(move || act(&other));
    act(&shared);
    thread.join().unwrap();
    shared
}

//@ verified
//@ executions = 2
#[test]
fn atomics_an_update_in_two_halves() {
    let count = both(AtomicU32::new(0), |count| {
        count.fetch_add(1, SeqCst);
    });
    assert_eq!(count.load(SeqCst), 2);
}

//@ verified
//@ executions = 1
#[test]
fn races_two_writes() {
    let cells = Arc::new([Shared::new(0), Shared::new(0)]);
    let other = Arc::clone(&cells);
    let thread = spawn(move || unsafe { *other[0].ptr() = 1 });
    unsafe { *cells[1].ptr() = 2 };
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn races_a_read_and_a_write() {
    let cell = Arc::new((Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&cell);
    let thread = spawn(move || {
        let _guard = other.0.lock().unwrap();
        unsafe { *other.1.ptr() }
    });
    {
        let _guard = cell.0.lock().unwrap();
        unsafe { *cell.1.ptr() = 2 };
    }
    assert!(thread.join().unwrap() <= 2);
}

//@ verified
//@ executions = 2
#[test]
fn races_a_static_mut() {
    static mut COUNT: u32 = 0;
    static LOCK: Mutex<()> = Mutex::new(());
    both((), |()| {
        let _guard = LOCK.lock().unwrap();
        unsafe { COUNT += 1 };
    });
    assert_eq!(unsafe { COUNT }, 2);
}

//@ verified
//@ executions = 2
#[test]
fn races_protected_by_two_different_locks() {
    both((Mutex::new(()), Mutex::new(()), Shared::new(0)), |shared| {
        let _first = shared.0.lock().unwrap();
        let _second = shared.1.lock().unwrap();
        unsafe { *shared.2.ptr() += 1 };
    });
}

//@ verified
//@ executions = 2
#[test]
fn races_ordered_by_the_lock_in_some_orders_only() {
    both((Mutex::new(()), Shared::new(0)), |shared| {
        let _guard = shared.0.lock().unwrap();
        unsafe { *shared.1.ptr() += 1 };
    });
}

//@ verified
//@ executions = 1
#[test]
fn races_a_word_and_a_byte_inside_it() {
    let word = Arc::new(Shared::new(0_u32));
    let other = Arc::clone(&word);
    let thread = spawn(move || unsafe { *other.ptr().cast::<u8>().add(2) = 1 });
    unsafe { *word.ptr().cast::<u8>() = 2 };
    thread.join().unwrap();
    assert_eq!(unsafe { *word.ptr() }.to_ne_bytes().iter().sum::<u8>(), 3);
}

//@ verified
//@ executions = 1
#[test]
fn races_a_copy_of_a_block() {
    let block = Arc::new(Shared::new([0_u64; 16]));
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { (*other.ptr())[9] = 1 });
    thread.join().unwrap();
    let copy = unsafe { *block.ptr() };
    assert_eq!(copy[9], 1);
}

//@ verified
//@ executions = 1
#[test]
fn races_a_write_behind_spawn() {
    let cell = Arc::new(Shared::new(0));
    let other = Arc::clone(&cell);
    unsafe { *cell.ptr() = 1 };
    let thread = spawn(move || assert_eq!(unsafe { *other.ptr() }, 1));
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn races_a_shared_cell() {
    let cell = both(Mutex::new(Cell::new(0)), |cell| {
        let cell = cell.lock().unwrap();
        cell.set(cell.get() + 1);
    });
    assert_eq!(cell.lock().unwrap().get(), 2);
}

//@ verified
//@ executions = 2
#[test]
fn races_a_shared_ref_cell() {
    let cell = both(Mutex::new(RefCell::new(0)), |cell| {
        *cell.lock().unwrap().borrow_mut() += 1;
    });
    assert_eq!(*cell.lock().unwrap().borrow(), 2);
}

//@ verified
//@ executions = 2
#[test]
fn races_a_vector_pushed_by_two() {
    let items = both(Mutex::new(Vec::with_capacity(4)), |items| items.lock().unwrap().push(1));
    assert_eq!(*items.lock().unwrap(), [1, 1]);
}

//@ verified
//@ executions = 1
#[test]
fn races_a_borrowed_local_outlived() {
    let mut local = 0_u32;
    scope(|scope| drop(scope.spawn(|| local += 1)));
    local += 2;
    assert_eq!(local, 3);
}

//@ verified
#[test]
fn condvar_waiting_without_a_condition() {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let guard = signal.0.lock().unwrap();
    drop(signal.1.wait_while(guard, |ready| !*ready).unwrap());
    thread.join().unwrap();
}

//@ verified
#[test]
fn condvar_one_notification_for_two_waiters() {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let waiters = [(); 2].map(|()| {
        let signal = Arc::clone(&signal);
        spawn(move || {
            let ready = signal.0.lock().unwrap();
            drop(signal.1.wait_while(ready, |ready| !*ready).unwrap());
            signal.1.notify_one();
        })
    });
    *signal.0.lock().unwrap() = true;
    signal.1.notify_one();
    for waiter in waiters {
        waiter.join().unwrap();
    }
}

//@ verified
#[test]
fn condvar_if_instead_of_while() {
    let signal = Arc::new((Mutex::new((Vec::new(), false)), Condvar::new()));
    let other = Arc::clone(&signal);
    let thief = spawn(move || {
        other.0.lock().unwrap().0.push(1);
        other.1.notify_one();
        other.0.lock().unwrap().0.pop();
        other.0.lock().unwrap().1 = true;
        other.1.notify_one();
    });
    let mut state = signal.0.lock().unwrap();
    while state.0.is_empty() && !state.1 {
        state = signal.1.wait(state).unwrap();
    }
    if !state.1 {
        state.0.pop().expect("an item");
    }
    drop(state);
    thief.join().unwrap();
}

//@ verified
#[test]
fn parking_two_tokens_become_one() {
    let turns = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&turns);
    let thread = spawn(move || {
        while seen.load(SeqCst) < 2 {
            park();
        }
    });
    for _ in 0..2 {
        turns.fetch_add(1, SeqCst);
        thread.thread().unpark();
    }
    thread.join().unwrap();
}

//@ verified
#[test]
fn once_completed_too_early() {
    let once = both(Once::new(), |once| once.call_once(|| ()));
    assert!(once.is_completed());
}

//@ verified
#[test]
fn once_a_recursive_once() {
    both((Once::new(), Once::new()), |once| once.0.call_once(|| once.1.call_once(|| ())));
}

//@ verified
#[test]
fn once_lock_read_too_early() {
    let cell = both(OnceLock::new(), |cell| assert_eq!(*cell.get_or_init(|| 1), 1));
    assert_eq!(cell.get(), Some(&1));
}

//@ verified
#[test]
fn once_lazy_statics_of_each_other() {
    static FIRST: LazyLock<u32> = LazyLock::new(|| *SECOND + 1);
    static SECOND: LazyLock<u32> = LazyLock::new(|| 1);
    both((), |()| assert_eq!(*FIRST + *SECOND, 3));
}

//@ verified
#[test]
fn once_a_barrier_passed_too_early() {
    let shared = Arc::new((Barrier::new(2), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        other.0.wait();
        unsafe { *other.1.ptr() = 1 };
        other.0.wait();
    });
    shared.0.wait();
    shared.0.wait();
    assert_eq!(unsafe { *shared.1.ptr() }, 1);
    thread.join().unwrap();
}

//@ verified
#[test]
fn once_a_barrier_for_too_many() {
    let barrier = Arc::new(Barrier::new(3));
    let threads = [(); 2].map(|()| {
        let barrier = Arc::clone(&barrier);
        spawn(move || barrier.wait().is_leader())
    });
    let leaders = usize::from(barrier.wait().is_leader());
    let others = threads.map(|thread| usize::from(thread.join().unwrap()));
    assert_eq!(leaders + others[0] + others[1], 1);
}

//@ verified
#[test]
fn refcounts_dropped_by_the_wrong_one() {
    struct Owner(Arc<Mutex<Vec<bool>>>, std::thread::ThreadId);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(current().id() == self.1);
        }
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let owned = Arc::new(Owner(Arc::clone(&log), current().id()));
    let other = Arc::clone(&owned);
    let thread = spawn(move || drop(other));
    thread.join().unwrap();
    drop(owned);
    assert_eq!(*log.lock().unwrap(), [true]);
}

//@ verified
//@ executions = 1
#[test]
fn refcounts_a_count_that_is_stale() {
    let value = Arc::new(());
    let other = Arc::clone(&value);
    let thread = spawn(move || drop(other));
    thread.join().unwrap();
    assert_eq!(Arc::strong_count(&value), 1);
}

//@ verified
#[test]
fn refcounts_an_upgrade_that_fails_in_some_orders() {
    let value = Arc::new(7);
    let other = Arc::clone(&value);
    let weak = Arc::downgrade(&value);
    let thread = spawn(move || drop(other));
    assert_eq!(*weak.upgrade().unwrap(), 7);
    thread.join().unwrap();
    drop(value);
    assert!(weak.upgrade().is_none());
}

//@ verified
//@ executions = 2
#[test]
fn rwlock_lost_update_between_read_and_write() {
    let count = both(RwLock::new(0), |count| *count.write().unwrap() += 1);
    assert_eq!(*count.read().unwrap(), 2);
}

// Read, given back, and looked at again under the writer's lock.
//@ verified
#[test]
fn rwlock_an_upgrade() {
    let count = both(RwLock::new(0), |count| {
        let seen = *count.read().unwrap();
        let mut count = count.write().unwrap();
        if *count == seen {
            *count = seen + 1;
        }
    });
    assert!((1..=2).contains(&*count.read().unwrap()));
}

//@ verified
//@ executions = 2
#[test]
fn rwlock_a_recursive_read_behind_a_writer() {
    let count = Arc::new(RwLock::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.write().unwrap() += 1);
    let first = count.read().unwrap();
    let second = &first;
    assert_eq!(**second, *first);
    drop(first);
    thread.join().unwrap();
}

//@ verified
#[test]
fn rwlock_a_reader_and_a_writer_crossing() {
    both((RwLock::new(0), RwLock::new(0)), |locks| {
        let seen = *locks.0.read().unwrap();
        *locks.1.write().unwrap() += seen;
    });
}

//@ verified
//@ executions = 2
#[test]
fn spin_locks_ab_ba() {
    both((spin::Mutex::new(0), spin::Mutex::new(0)), |locks| {
        let mut first = locks.0.lock();
        let mut second = locks.1.lock();
        *first += 1;
        *second += *first;
    });
}

//@ verified
//@ executions = 2
#[test]
fn crates_parking_lot_ab_ba() {
    both((parking_lot::Mutex::new(0), parking_lot::Mutex::new(0)), |locks| {
        let mut first = locks.0.lock();
        let mut second = locks.1.lock();
        *first += 1;
        *second += *first;
    });
}

//@ verified
#[test]
fn parking_lot_a_recursive_read_behind_a_writer() {
    let lock = Arc::new(parking_lot::RwLock::new(0));
    let other = Arc::clone(&lock);
    let thread = spawn(move || *other.write() += 1);
    let seen = *lock.read();
    assert!(seen <= *lock.read());
    thread.join().unwrap();
}

//@ passed virtual-time
#[test]
fn parking_lot_a_lost_signal() {
    let signal = Arc::new((parking_lot::Mutex::new(false), parking_lot::Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        *other.0.lock() = true;
        other.1.notify_one();
    });
    let mut ready = signal.0.lock();
    signal.1.wait_while(&mut ready, |ready| !*ready);
    drop(ready);
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn channels_two_rendezvous_crossing() {
    let (there, back) = (sync_channel(0), sync_channel(0));
    let thread = spawn(move || {
        there.0.send(1).unwrap();
        back.1.recv().unwrap()
    });
    assert_eq!(there.1.recv(), Ok(1));
    back.0.send(2).unwrap();
    assert_eq!(thread.join().unwrap(), 2);
}

//@ verified
//@ executions = 1
#[test]
fn channels_a_sender_kept_alive() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.iter().sum::<u32>(), 1);
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_receiving_under_the_senders_lock() {
    let lock = Arc::new(Mutex::new(()));
    let other = Arc::clone(&lock);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        drop(other.lock().unwrap());
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    drop(lock.lock().unwrap());
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_nothing_there_yet() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap());
    let early = receiver.try_recv();
    assert!(early == Ok(1) || early == Err(TryRecvError::Empty));
    thread.join().unwrap();
    assert!(early == Ok(1) || receiver.try_recv() == Ok(1));
}

//@ passed virtual-time
#[test]
fn channels_a_rendezvous_with_a_timeout() {
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || sender.send(1).is_ok());
    let received = receiver.recv_timeout(Duration::from_secs(1));
    assert!(received == Ok(1) || received == Err(RecvTimeoutError::Timeout));
    drop(receiver);
    assert_eq!(thread.join().unwrap(), received == Ok(1));
}

/// Two threads add under a lock: what the careless sum of `panics` should have been.
fn careful_sum() -> u32 {
    let sum = both(Mutex::new(0), |sum| *sum.lock().unwrap() += 1);
    let sum = *sum.lock().unwrap();
    sum
}

//@ verified
//@ executions = 2
#[test]
#[should_panic(expected = "got 2")]
fn panics_with_another_message_in_some_orders() {
    panic!("got {}", careful_sum());
}

//@ verified
//@ executions = 2
#[test]
fn panics_a_result_that_is_an_error_in_some_orders() -> Result<(), String> {
    let count = careful_sum();
    if count < 2 { Err(format!("got {count}")) } else { Ok(()) }
}

//@ verified
//@ executions = 2
#[test]
fn panics_an_index_out_of_bounds_in_some_orders() {
    let table = [10, 20];
    assert!(table[3 - careful_sum() as usize] > 0);
}

//@ verified
//@ executions = 2
#[test]
fn panics_an_overflow_in_some_orders() {
    assert_eq!(careful_sum() - 2, 0);
}
