//! Every outcome that a program can have must be found: each test forbids one of them, and so has a bug.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, Weak};
use std::thread::{current, park_timeout, sleep, spawn};
use std::time::Duration;

/// Each of two threads sets its flag and looks at the other's.
fn store_buffering() -> (u32, u32) {
    let flags = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let other = Arc::clone(&flags);
    let thread = spawn(move || {
        other.0.store(1, SeqCst);
        other.1.load(SeqCst)
    });
    flags.1.store(1, SeqCst);
    let mine = flags.0.load(SeqCst);
    (mine, thread.join().unwrap())
}

/// How often a waiting loop that gives up went round.
fn tries() -> u32 {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = spawn(move || other.store(true, SeqCst));
    let mut tries = 0;
    while tries < 3 && !flag.load(SeqCst) {
        tries += 1;
        spin_loop();
    }
    thread.join().unwrap();
    tries
}

/// Whether main was the last to drop an Arc.
fn main_drops_last() -> bool {
    struct Tells(Arc<Mutex<bool>>, std::thread::ThreadId);
    impl Drop for Tells {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = self.1 == current().id();
        }
    }
    let told = Arc::new(Mutex::new(false));
    let first = Arc::new(Tells(Arc::clone(&told), current().id()));
    let second = Arc::clone(&first);
    let thread = spawn(move || drop(second));
    drop(first);
    thread.join().unwrap();
    *told.lock().unwrap()
}

/// Whether main got the inner value of an Arc that two threads gave up.
fn main_gets_the_inner_value() -> bool {
    let value = Arc::new(5);
    let other = Arc::clone(&value);
    let thread = spawn(move || Arc::into_inner(other).is_some());
    let mine = Arc::into_inner(value).is_some();
    assert!(mine != thread.join().unwrap());
    mine
}

/// Whether a weak reference could be upgraded while the last strong one went.
fn upgrades(value: Arc<u32>, weak: Weak<u32>) -> bool {
    let thread = spawn(move || drop(value));
    let upgraded = weak.upgrade().is_some();
    thread.join().unwrap();
    upgraded
}

/// The order of two critical sections.
fn sections() -> Vec<u32> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let other = Arc::clone(&log);
    let thread = spawn(move || other.lock().unwrap().push(1));
    log.lock().unwrap().push(0);
    thread.join().unwrap();
    let log = log.lock().unwrap();
    log.clone()
}

/// Which of two attempts at a lock succeeded.
fn attempts() -> (bool, bool) {
    let lock = Arc::new(Mutex::new(()));
    let other = Arc::clone(&lock);
    let thread = spawn(move || other.try_lock().is_ok());
    let mine = lock.try_lock().is_ok();
    (mine, thread.join().unwrap())
}

/// What a reader sees of two writes.
fn read() -> u32 {
    let value = Arc::new(RwLock::new(0));
    let other = Arc::clone(&value);
    let thread = spawn(move || {
        *other.write().unwrap() = 1;
        *other.write().unwrap() = 2;
    });
    let seen = *value.read().unwrap();
    thread.join().unwrap();
    seen
}

/// Which of two waiters a single notification woke.
fn woken() -> u32 {
    let signal = Arc::new((Mutex::new((0, 0)), Condvar::new(), Condvar::new()));
    let threads = [1, 2].map(|name| {
        let signal = Arc::clone(&signal);
        spawn(move || {
            let mut state = signal.0.lock().unwrap();
            state.0 += 1;
            signal.2.notify_one();
            state = signal.1.wait(state).unwrap();
            if state.1 == 0 {
                state.1 = name;
            }
        })
    });
    let mut state = signal.0.lock().unwrap();
    while state.0 < 2 {
        state = signal.2.wait(state).unwrap();
    }
    drop(state);
    signal.1.notify_one();
    signal.1.notify_one();
    for thread in threads {
        thread.join().unwrap();
    }
    signal.0.lock().unwrap().1
}

/// Who initialised.
fn initialiser() -> u32 {
    let cell = Arc::new(OnceLock::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || *other.get_or_init(|| 1));
    let seen = *cell.get_or_init(|| 0);
    thread.join().unwrap();
    seen
}

/// Whether main is the leader at a barrier.
fn leads() -> bool {
    let barrier = Arc::new(Barrier::new(2));
    let other = Arc::clone(&barrier);
    let thread = spawn(move || other.wait().is_leader());
    let leads = barrier.wait().is_leader();
    assert!(leads != thread.join().unwrap());
    leads
}

/// The first of two messages of two senders.
fn first_message() -> u32 {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let thread = spawn(move || other.send(1).unwrap());
    sender.send(0).unwrap();
    let first = receiver.recv().unwrap();
    thread.join().unwrap();
    first
}

/// Whether a wait with a timeout timed out although it was notified for.
fn timed_out() -> bool {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let guard = signal.0.lock().unwrap();
    let (guard, wait) =
        signal.1.wait_timeout_while(guard, Duration::from_secs(1), |ready| !*ready).unwrap();
    drop(guard);
    thread.join().unwrap();
    wait.timed_out()
}

/// Whether the flag was set when a thread had slept, or parked with a timeout.
fn set_after(pause: fn(Duration)) -> bool {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let parked = current();
    let thread = spawn(move || {
        parked.unpark();
        other.store(true, SeqCst);
    });
    pause(Duration::from_millis(5));
    let set = flag.load(SeqCst);
    thread.join().unwrap();
    set
}

/// Both orders of a thread's write that a third thread, not the spawner, can see.
fn relayed() -> (u32, u32) {
    let values = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let (first, second) = (Arc::clone(&values), Arc::clone(&values));
    let first = spawn(move || first.0.store(1, SeqCst));
    let second = spawn(move || second.1.store(second.0.load(SeqCst) + 1, SeqCst));
    let seen = (values.1.load(SeqCst), values.0.load(SeqCst));
    first.join().unwrap();
    second.join().unwrap();
    seen
}

//@ failed panic
#[test]
fn store_buffering_0_1() {
    assert_ne!(store_buffering(), (0, 1)); //~ bug
}

//@ failed panic
#[test]
fn store_buffering_1_0() {
    assert_ne!(store_buffering(), (1, 0)); //~ bug
}

//@ failed panic
#[test]
fn store_buffering_1_1() {
    assert_ne!(store_buffering(), (1, 1)); //~ bug
}

//@ verified
#[test]
fn store_buffering_never_0_0() {
    assert_ne!(store_buffering(), (0, 0));
}

//@ failed panic
#[test]
fn a_loop_that_goes_round_0_times() {
    assert_ne!(tries(), 0); //~ bug
}

//@ failed panic or passed bounded-spin
#[test]
fn a_loop_that_goes_round_1_times() {
    assert_ne!(tries(), 1); //~ bug
}

//@ failed panic or passed bounded-spin
#[test]
fn a_loop_that_goes_round_2_times() {
    assert_ne!(tries(), 2); //~ bug
}

//@ failed panic
#[test]
fn a_loop_that_goes_round_3_times() {
    assert_ne!(tries(), 3); //~ bug
}

//@ failed panic
#[test]
fn main_drops_last_true() {
    assert!(!main_drops_last()); //~ bug
}

//@ failed panic
#[test]
fn main_drops_last_false() {
    assert!(main_drops_last()); //~ bug
}

//@ failed panic
#[test]
fn main_gets_the_inner_value_true() {
    assert!(!main_gets_the_inner_value()); //~ bug
}

//@ failed panic
#[test]
fn main_gets_the_inner_value_false() {
    assert!(main_gets_the_inner_value()); //~ bug
}

//@ failed panic
#[test]
fn an_upgrade_true() {
    let value = Arc::new(5);
    let weak = Arc::downgrade(&value);
    assert!(!upgrades(value, weak)); //~ bug
}

//@ failed panic
#[test]
fn an_upgrade_false() {
    let value = Arc::new(5);
    let weak = Arc::downgrade(&value);
    assert!(upgrades(value, weak)); //~ bug
}

//@ failed panic
#[test]
fn sections_0_1() {
    assert_ne!(sections(), [0, 1]); //~ bug
}

//@ failed panic
#[test]
fn sections_1_0() {
    assert_ne!(sections(), [1, 0]); //~ bug
}

//@ failed panic
#[test]
fn attempts_true_true() {
    assert_ne!(attempts(), (true, true)); //~ bug
}

//@ failed panic
#[test]
fn attempts_true_false() {
    assert_ne!(attempts(), (true, false)); //~ bug
}

//@ failed panic
#[test]
fn attempts_false_true() {
    assert_ne!(attempts(), (false, true)); //~ bug
}

//@ verified
#[test]
fn attempts_never_fail_both() {
    assert_ne!(attempts(), (false, false));
}

//@ failed panic
#[test]
fn a_reader_sees_0() {
    assert_ne!(read(), 0); //~ bug
}

//@ failed panic
#[test]
fn a_reader_sees_1() {
    assert_ne!(read(), 1); //~ bug
}

//@ failed panic
#[test]
fn a_reader_sees_2() {
    assert_ne!(read(), 2); //~ bug
}

//@ failed panic
#[test]
fn waiter_1_is_woken_first() {
    assert_ne!(woken(), 1); //~ bug
}

//@ failed panic
#[test]
fn waiter_2_is_woken_first() {
    assert_ne!(woken(), 2); //~ bug
}

//@ failed panic
#[test]
fn initialised_by_0() {
    assert_ne!(initialiser(), 0); //~ bug
}

//@ failed panic
#[test]
fn initialised_by_1() {
    assert_ne!(initialiser(), 1); //~ bug
}

//@ failed panic
#[test]
fn main_leads_true() {
    assert!(!leads()); //~ bug
}

//@ failed panic
#[test]
fn main_leads_false() {
    assert!(leads()); //~ bug
}

//@ failed panic
#[test]
fn message_0_comes_first() {
    assert_ne!(first_message(), 0); //~ bug
}

//@ failed panic
#[test]
fn message_1_comes_first() {
    assert_ne!(first_message(), 1); //~ bug
}

//@ warned timing
#[test]
fn a_wait_timed_out_true() {
    assert!(!timed_out());
}

//@ failed panic
#[test]
fn a_wait_timed_out_false() {
    assert!(timed_out()); //~ bug
}

//@ failed panic
#[test]
fn set_after_a_sleep_true() {
    assert!(!set_after(sleep)); //~ bug
}

//@ warned timing
#[test]
fn set_after_a_sleep_false() {
    assert!(set_after(sleep));
}

//@ failed panic
#[test]
fn set_after_a_park_true() {
    assert!(!set_after(park_timeout)); //~ bug
}

//@ failed panic
#[test]
fn set_after_a_park_false() {
    assert!(set_after(park_timeout)); //~ bug
}

//@ failed panic
#[test]
fn relayed_0_0() {
    assert_ne!(relayed(), (0, 0)); //~ bug
}

//@ failed panic
#[test]
fn relayed_0_1() {
    assert_ne!(relayed(), (0, 1)); //~ bug
}

//@ failed panic
#[test]
fn relayed_1_0() {
    assert_ne!(relayed(), (1, 0)); //~ bug
}

//@ failed panic
#[test]
fn relayed_1_1() {
    assert_ne!(relayed(), (1, 1)); //~ bug
}

//@ failed panic
#[test]
fn relayed_2_1() {
    assert_ne!(relayed(), (2, 1)); //~ bug
}

//@ verified
#[test]
fn relayed_never_2_0() {
    assert_ne!(relayed(), (2, 0));
}

//@ clean
#[test]
fn a_loop_goes_round_at_most_3_times() {
    assert!(tries() <= 3);
}

//@ verified
#[test]
fn a_reader_sees_nothing_else() {
    assert!(read() <= 2);
}

//@ verified
#[test]
fn one_of_the_waiters_is_woken_first() {
    assert!((1..=2).contains(&woken()));
}

//@ clean
#[test]
fn one_of_the_two_initialises() {
    assert!(initialiser() <= 1);
}

//@ verified
#[test]
fn the_sections_do_not_overlap() {
    assert_eq!(sections().len(), 2);
}

//@ clean
#[test]
fn either_message_comes_first() {
    assert!(first_message() <= 1);
}
