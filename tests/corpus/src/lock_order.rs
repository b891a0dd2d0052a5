//! Locks that are acquired in different orders, where no interleaving deadlocks: warned of only
//! where nothing but luck keeps the orders apart.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, RwLock};
use std::thread::spawn;

type Locks = Arc<(Mutex<u32>, Mutex<u32>)>;

fn forwards(locks: &Locks) {
    let mut first = locks.0.lock().unwrap();
    *first += *locks.1.lock().unwrap();
}

fn backwards(locks: &Locks) {
    let mut second = locks.1.lock().unwrap();
    *second += *locks.0.lock().unwrap();
}

// A message keeps them apart.
//@ warned lock-order
#[test]
fn behind_a_message() {
    let locks = Locks::default();
    let (sender, receiver) = channel();
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        forwards(&other);
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    backwards(&locks);
    thread.join().unwrap();
}

// Whether the second one comes to its locks depends on what the first has done.
//@ warned lock-order
#[test]
fn once_the_first_is_through() {
    let locks = Arc::new((Mutex::new(false), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let mut done = other.0.lock().unwrap();
        *other.1.lock().unwrap() += 1;
        *done = true;
    });
    if *locks.0.lock().unwrap() {
        let count = locks.1.lock().unwrap();
        assert!(*locks.0.lock().unwrap() && *count == 1);
    }
    thread.join().unwrap();
}

// Three threads in a cycle, one behind the other.
//@ warned lock-order
#[test]
fn three_in_a_cycle_behind_messages() {
    let locks = Arc::new([(); 3].map(|()| Mutex::new(0)));
    let nest = |locks: &[Mutex<i32>; 3], first: usize| {
        let mut outer = locks[first].lock().unwrap();
        *outer += *locks[(first + 1) % 3].lock().unwrap();
    };
    let (one, first_ends) = channel();
    let (two, second_ends) = channel();
    let mine = Arc::clone(&locks);
    let first = spawn(move || {
        nest(&mine, 0);
        one.send(()).unwrap();
    });
    let mine = Arc::clone(&locks);
    let second = spawn(move || {
        first_ends.recv().unwrap();
        nest(&mine, 1);
        two.send(()).unwrap();
    });
    second_ends.recv().unwrap();
    nest(&locks, 2);
    first.join().unwrap();
    second.join().unwrap();
}

// A writer and a reader: each wants what the other one holds.
//@ warned lock-order
#[test]
fn a_reader_and_a_writer_behind_a_message() {
    let locks = Arc::new((RwLock::new(0), Mutex::new(0)));
    let (sender, receiver) = channel();
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let seen = other.0.read().unwrap();
        *other.1.lock().unwrap() += *seen;
        drop(seen);
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    let guard = locks.1.lock().unwrap();
    *locks.0.write().unwrap() += *guard;
    drop(guard);
    thread.join().unwrap();
}

// Joining does so for good.
//@ verified
#[test]
fn behind_a_join() {
    let locks = Locks::default();
    let other = Arc::clone(&locks);
    spawn(move || forwards(&other)).join().unwrap();
    backwards(&locks);
}

//@ verified
#[test]
fn before_the_thread_is_created() {
    let locks = Locks::default();
    let early = spawn(|| ());
    backwards(&locks);
    let other = Arc::clone(&locks);
    spawn(move || forwards(&other)).join().unwrap();
    early.join().unwrap();
}

//@ verified
#[test]
fn under_a_gate() {
    let gated = Arc::new((Mutex::new(()), Locks::default()));
    let other = Arc::clone(&gated);
    let thread = spawn(move || {
        let _gate = other.0.lock().unwrap();
        forwards(&other.1);
    });
    let gate = gated.0.lock().unwrap();
    backwards(&gated.1);
    drop(gate);
    thread.join().unwrap();
}

//@ verified
#[test]
fn in_one_order() {
    let locks = Locks::default();
    let other = Arc::clone(&locks);
    let thread = spawn(move || forwards(&other));
    forwards(&locks);
    thread.join().unwrap();
}

// Who only tries does not wait.
//@ verified
#[test]
fn the_second_is_only_tried() {
    let locks = Locks::default();
    let other = Arc::clone(&locks);
    let thread = spawn(move || forwards(&other));
    let second = locks.1.lock().unwrap();
    let first = locks.0.try_lock();
    drop(first);
    drop(second);
    thread.join().unwrap();
}
