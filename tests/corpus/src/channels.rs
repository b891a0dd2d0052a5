//! std's mpsc: order, bounds, rendezvous, disconnection, and deadlocks through channels.

use std::sync::mpsc::{TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

//@ clean
#[test]
fn one_message() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(Box::new(5)).unwrap());
    assert_eq!(*receiver.recv().unwrap(), 5);
    thread.join().unwrap();
}

//@ clean
#[test]
fn messages_of_one_sender_stay_in_order() {
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2]);
    thread.join().unwrap();
}

//@ clean
#[test]
fn two_senders() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let thread = spawn(move || other.send(1).unwrap());
    sender.send(2).unwrap();
    let sum = receiver.recv().unwrap() + receiver.recv().unwrap();
    assert_eq!(sum, 3);
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn two_senders_have_no_order() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let thread = spawn(move || other.send(1).unwrap());
    sender.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(2)); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn a_bound_of_one() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.recv(), Ok(2));
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_full_channel_with_a_busy_receiver() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap(); //~ bug
    });
    thread.join().unwrap(); //~ bug
    assert_eq!(receiver.recv(), Ok(1));
}

//@ clean
#[test]
fn a_rendezvous() {
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn two_rendezvous_crossing() {
    let (there, back) = (sync_channel(0), sync_channel(0));
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
fn dropping_the_sender_ends_the_receiver() {
    let (sender, receiver) = channel::<u32>();
    let thread = spawn(move || drop(sender));
    assert!(receiver.recv().is_err());
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn a_sender_kept_alive() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let thread = spawn(move || other.send(1).unwrap());
    loop {
        let Ok(message) = receiver.recv() else { break }; //~ bug
        assert_eq!(message, 1);
    }
    drop(sender);
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_receiver_gone_too_early() {
    let (sender, receiver) = channel();
    let thread = spawn(move || drop(receiver));
    sender.send(1).unwrap(); //~ bug
    thread.join().unwrap();
}

//@ clean
#[test]
fn trying_to_receive() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap());
    let early = receiver.try_recv();
    thread.join().unwrap();
    match early {
        Ok(message) => assert_eq!(message, 1),
        Err(TryRecvError::Empty) => assert_eq!(receiver.try_recv(), Ok(1)),
        Err(TryRecvError::Disconnected) => unreachable!(),
    }
}

//@ clean
#[test]
fn receiving_with_a_timeout() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap_or(()));
    let received = receiver.recv_timeout(Duration::from_secs(1));
    assert!(received.is_err() || received == Ok(1));
    thread.join().unwrap();
}

//@ failed deadlock
#[test]
fn receiving_under_the_senders_lock() {
    let lock = Arc::new(Mutex::new(()));
    let other = Arc::clone(&lock);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        drop(other.lock().unwrap()); //~ bug
        sender.send(()).unwrap();
    });
    let guard = lock.lock().unwrap();
    receiver.recv().unwrap(); //~ bug
    drop(guard);
    thread.join().unwrap();
}
