//! std's mpsc: order, bounds, rendezvous, disconnection, and deadlocks through channels.

use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

//@ verified
//@ executions = 4
#[test]
fn one_message() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(Box::new(5)).unwrap());
    assert_eq!(*receiver.recv().unwrap(), 5);
    thread.join().unwrap();
}

//@ verified
//@ executions = 20
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

//@ verified
//@ executions = 4
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

//@ verified
//@ executions = 8
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

//@ verified
//@ executions = 2
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

//@ verified
//@ executions = 2
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

//@ failed panic
#[test]
fn nothing_there_yet() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1));
    assert_ne!(receiver.try_recv(), Err(TryRecvError::Empty)); //~ bug
    let _ = thread.join();
}

//@ failed panic
#[test]
fn the_sender_gone_already() {
    let (sender, receiver) = channel::<u32>();
    let thread = spawn(move || drop(sender));
    assert_ne!(receiver.try_recv(), Err(TryRecvError::Disconnected)); //~ bug
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn a_message_and_then_the_end() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap());
    let first = receiver.try_recv();
    let second = receiver.try_recv();
    assert!((first, second) != (Ok(1), Err(TryRecvError::Empty))); //~ bug
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn no_room_yet() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || receiver.recv().and_then(|one: u32| Ok(one + receiver.recv()?)));
    sender.send(1).unwrap();
    assert_ne!(sender.try_send(2), Err(TrySendError::Full(2))); //~ bug
    drop(sender);
    let _ = thread.join();
}

//@ failed panic
#[test]
fn nobody_meets_the_sender_yet() {
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || receiver.recv());
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1))); //~ bug
    drop(sender);
    let _ = thread.join();
}

//@ failed panic
#[test]
fn a_message_that_comes_too_late() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1));
    let seen = receiver.recv_timeout(Duration::from_millis(1));
    assert_ne!(seen, Err(RecvTimeoutError::Timeout)); //~ bug
    drop(receiver);
    let _ = thread.join();
}

//@ failed panic
#[test]
fn between_a_message_and_the_next() {
    let (sender, receiver) = channel();
    let sent = Arc::new(Mutex::new(0));
    let count = Arc::clone(&sent);
    let thread = spawn(move || {
        sender.send(()).unwrap();
        *count.lock().unwrap() += 1;
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    assert_eq!(*sent.lock().unwrap(), 1); //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_message_whose_end_takes_a_lock() {
    struct Counted(Arc<Mutex<u32>>);
    impl Drop for Counted {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let ended = Arc::new(Mutex::new(0));
    let (sender, receiver) = channel();
    let message = Counted(Arc::clone(&ended));
    let thread = spawn(move || drop(sender.send(message)));
    drop(receiver);
    *ended.lock().unwrap() += 10;
    thread.join().unwrap();
    assert_eq!(*ended.lock().unwrap(), 11);
}
