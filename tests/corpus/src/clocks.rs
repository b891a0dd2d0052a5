//! Virtual time: clocks never go back, and who has slept or timed out finds that the time has passed.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::thread::{park_timeout, sleep, spawn};
use std::time::{Duration, Instant, SystemTime};

const LONG: Duration = Duration::from_secs(3600);

//@ passed virtual-time
#[test]
fn sleep_takes_its_time() {
    let thread = spawn(|| ());
    let (start, wall) = (Instant::now(), SystemTime::now());
    sleep(Duration::from_millis(5));
    assert!(start.elapsed() >= Duration::from_millis(5));
    assert!(wall.elapsed().unwrap() >= Duration::from_millis(5));
    thread.join().unwrap();
}

//@ passed virtual-time
#[test]
fn what_a_joined_thread_slept_has_passed() {
    let start = Instant::now();
    spawn(|| sleep(Duration::from_millis(5))).join().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(5));
}

//@ passed virtual-time
#[test]
fn the_clock_never_goes_back() {
    let thread = spawn(|| {
        let first = Instant::now();
        let second = Instant::now();
        assert!(second >= first);
        second
    });
    let before = Instant::now();
    let theirs = thread.join().unwrap();
    let now = Instant::now();
    assert!(now >= theirs && now >= before);
}

//@ failed panic or passed virtual-time
#[test]
fn who_looks_first() {
    let thread = spawn(Instant::now);
    let mine = Instant::now();
    assert!(mine < thread.join().unwrap());
}

//@ failed panic or passed virtual-time
#[test]
fn a_look_may_come_behind_another_thread_s_sleep() {
    let start = Instant::now();
    let thread = spawn(|| sleep(Duration::from_millis(50)));
    let soon = start.elapsed();
    thread.join().unwrap();
    assert!(soon < Duration::from_millis(50));
}

//@ passed virtual-time
#[test]
fn a_wait_that_timed_out_took_its_time() {
    let signal = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&signal);
    let thread = spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let (second, start) = (Duration::from_millis(20), Instant::now());
    let guard = signal.0.lock().unwrap();
    let (guard, wait) = signal.1.wait_timeout_while(guard, second, |ready| !*ready).unwrap();
    assert!(!wait.timed_out() || start.elapsed() >= second);
    drop(guard);
    thread.join().unwrap();
}

//@ passed virtual-time
#[test]
fn a_park_that_timed_out_took_its_time() {
    let thread = spawn(|| ());
    let (second, start) = (Duration::from_millis(20), Instant::now());
    park_timeout(second);
    assert!(start.elapsed() >= second);
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_park_with_a_timeout_may_be_ended_early() {
    let main = std::thread::current();
    let thread = spawn(move || main.unpark());
    let start = Instant::now();
    park_timeout(LONG);
    let parked = start.elapsed();
    thread.join().unwrap();
    assert!(parked >= LONG); //~ bug
}

//@ warned timing
#[test]
fn a_park_with_a_timeout_may_last() {
    let main = std::thread::current();
    let thread = spawn(move || main.unpark());
    let start = Instant::now();
    park_timeout(LONG);
    let parked = start.elapsed();
    thread.join().unwrap();
    assert!(parked < LONG);
}

//@ clean
#[test]
fn a_receiver_that_timed_out_took_its_time() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).is_ok());
    let (second, start) = (Duration::from_millis(20), Instant::now());
    match receiver.recv_timeout(second) {
        Ok(value) => assert_eq!(value, 1),
        Err(RecvTimeoutError::Timeout) => assert!(start.elapsed() >= second),
        Err(RecvTimeoutError::Disconnected) => panic!("nothing was sent"),
    }
    thread.join().unwrap();
}

//@ warned timing
#[test]
fn a_sleep_is_longer_than_a_receiver_waits() {
    let (sender, receiver) = channel::<u8>();
    let gave_up = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&gave_up);
    let thread = spawn(move || {
        assert!(receiver.recv_timeout(LONG).is_err());
        other.store(true, SeqCst);
    });
    sleep(2 * LONG);
    assert!(gave_up.load(SeqCst));
    thread.join().unwrap();
    drop(sender);
}

//@ warned timing
#[test]
fn a_receiver_may_time_out() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).is_ok());
    let received = receiver.recv_timeout(LONG);
    thread.join().unwrap();
    assert_eq!(received, Ok(1));
}

//@ warned timing
#[test]
fn a_look_after_a_lazy_start_may_be_late() {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    LazyLock::force(&START);
    let thread = spawn(|| START.elapsed() < Duration::from_secs(1));
    assert!(thread.join().unwrap());
}
