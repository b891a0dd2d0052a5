//! std's mpsc: order, bounds, rendezvous, disconnection, and deadlocks through channels.

use crate::shared::Shared;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

//@ verified
//@ executions = 1
#[test]
fn one_message() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(Box::new(5)).unwrap());
    assert_eq!(*receiver.recv().unwrap(), 5);
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
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
//@ executions = 2
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
//@ executions = 1
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
//@ executions = 1
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
//@ executions = 1
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
//@ preemptions = 1
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
//@ preemptions = 2
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

//@ warned timing
#[test]
fn a_message_that_comes_too_late() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1));
    let seen = receiver.recv_timeout(Duration::from_millis(1));
    assert_ne!(seen, Err(RecvTimeoutError::Timeout));
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

//@ verified
//@ executions = 1
#[test]
fn a_message_publishes_what_came_before_it() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        // SAFETY: nobody else touches it before the message is received.
        unsafe { *other.ptr() = 1 };
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { *value.ptr() }, 1);
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_write_behind_the_message() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        sender.send(()).unwrap();
        // SAFETY: not at all.
        unsafe { *other.ptr() = 1 }; //~ bug
    });
    receiver.recv().unwrap();
    // SAFETY: not at all.
    unsafe { value.ptr().read() }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_write_behind_a_bounded_message() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = sync_channel(2);
    let thread = spawn(move || {
        sender.send([0_u64; 40]).unwrap();
        // SAFETY: not at all.
        unsafe { *other.ptr() = 1 }; //~ bug
        sender.send([1_u64; 40]).unwrap();
    });
    assert_eq!(receiver.recv().unwrap()[39], 0);
    // SAFETY: not at all.
    unsafe { value.ptr().read() }; //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn a_receive_makes_room_for_the_send_that_waits_for_it() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        // SAFETY: the second message fits in only behind the first receive.
        unsafe { other.ptr().read() }
    });
    // SAFETY: as above.
    unsafe { *value.ptr() = 1 };
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!((thread.join().unwrap(), receiver.recv()), (1, Ok(2)));
}

//@ failed data-race
#[test]
fn no_send_waits_for_an_unbounded_channel() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        // SAFETY: not at all.
        unsafe { other.ptr().read() } //~ bug
    });
    // SAFETY: not at all.
    unsafe { *value.ptr() = 1 }; //~ bug
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn a_rendezvous_orders_both_ways() {
    let value = Arc::new((Shared::new(0), Shared::new(0)));
    let other = Arc::clone(&value);
    let (sender, receiver) = sync_channel(0);
    // SAFETY: each side has written before they meet, and reads the other's behind that.
    let thread = spawn(move || unsafe {
        *other.0.ptr() = 1;
        sender.send(()).unwrap();
        other.1.ptr().read()
    });
    // SAFETY: as above.
    unsafe {
        *value.1.ptr() = 2;
        receiver.recv().unwrap();
        assert_eq!(value.0.ptr().read(), 1);
    }
    assert_eq!(thread.join().unwrap(), 2);
}

//@ failed data-race
#[test]
fn a_rendezvous_that_is_over() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || {
        sender.send(()).unwrap();
        // SAFETY: not at all.
        unsafe { *other.ptr() = 1 }; //~ bug
    });
    receiver.recv().unwrap();
    // SAFETY: not at all.
    unsafe { *value.ptr() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn where_the_result_is_written_is_the_caller_s() {
    let slot = Arc::new(Shared::new(Ok([0_u64; 40])));
    let other = Arc::clone(&slot);
    let (sender, receiver) = channel();
    sender.send([1; 40]).unwrap();
    let thread = spawn(move || {
        // SAFETY: not at all.
        unsafe { *other.ptr() = receiver.try_recv() }; //~ bug
    });
    // SAFETY: not at all.
    let _ = unsafe { slot.ptr().read() }; //~ bug
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn the_last_of_two_senders_ends_the_receiver() {
    let (sender, receiver) = channel::<u32>();
    let other = sender.clone();
    let threads = [sender, other].map(|sender| spawn(move || drop(sender)));
    assert!(receiver.recv().is_err());
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ verified
#[test]
fn a_sender_dropped_by_a_panic() {
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        panic!("with a sender");
    });
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [1]);
    assert!(thread.join().is_err());
}

//@ verified
#[test]
fn a_sender_in_a_thread_local() {
    thread_local! {
        static SENDER: std::cell::RefCell<Option<std::sync::mpsc::Sender<u32>>> =
            const { std::cell::RefCell::new(None) };
    }
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        SENDER.set(Some(sender));
        SENDER.with_borrow(|sender| sender.as_ref().unwrap().send(1).unwrap());
    });
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [1]);
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_message_whose_end_sends_another() {
    struct Tells(std::sync::mpsc::Sender<u32>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send(7).unwrap();
        }
    }
    let (sender, receiver) = channel();
    let (tells, told) = channel();
    sender.send(Tells(tells)).unwrap();
    let thread = spawn(move || drop(receiver));
    assert_eq!(told.recv(), Ok(7));
    assert!(told.recv().is_err());
    drop(sender);
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_message_whose_end_races() {
    struct Writes(Arc<Shared<u32>>);
    impl Drop for Writes {
        fn drop(&mut self) {
            // SAFETY: not at all.
            unsafe { *self.0.ptr() = 1 }; //~ bug
        }
    }
    let value = Arc::new(Shared::new(0));
    let message = Writes(Arc::clone(&value));
    let (sender, receiver) = sync_channel(1);
    sender.send(message).unwrap();
    let thread = spawn(move || drop(receiver));
    // SAFETY: not at all.
    unsafe { value.ptr().read() }; //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_message_whose_end_panics() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("an end");
            }
        }
    }
    let (sender, receiver) = channel();
    sender.send(Panics).unwrap();
    let thread = spawn(move || drop(receiver));
    let sent = sender.send(Panics);
    assert!(thread.join().is_err());
    std::mem::forget(sent);
}

//@ failed deadlock
#[test]
fn a_message_whose_end_waits_for_its_own_lock() {
    struct Locks(Arc<Mutex<()>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            drop(self.0.lock().unwrap()); //~ bug
        }
    }
    let lock = Arc::new(Mutex::new(()));
    let message = Locks(Arc::clone(&lock));
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(message).unwrap());
    let guard = lock.lock().unwrap();
    thread.join().unwrap();
    drop(receiver);
    drop(guard);
}

//@ verified
#[test]
fn asking_again_and_again() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap());
    let message = loop {
        match receiver.try_recv() {
            Ok(message) => break message,
            Err(TryRecvError::Empty) => std::thread::yield_now(),
            Err(TryRecvError::Disconnected) => unreachable!(),
        }
    };
    assert_eq!(message, 1);
    thread.join().unwrap();
}

//@ failed livelock
#[test]
fn asking_again_and_again_in_vain() {
    let (sender, receiver) = channel::<()>();
    let thread = spawn(move || {
        while receiver.try_recv() == Err(TryRecvError::Empty) {
            std::hint::spin_loop();
        }
    });
    thread.join().unwrap(); //~ bug
    drop(sender);
}

//@ verified
#[test]
fn one_sender_shared_by_two_threads() {
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for number in 1..=2 {
            let sender = &sender;
            scope.spawn(move || sender.send(number).unwrap());
        }
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
    });
}

//@ failed deadlock
#[test]
fn a_token_that_an_offer_has_taken() {
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || {
        sender.send(()).unwrap();
        std::thread::park(); //~ bug
    });
    thread.thread().unpark();
    receiver.recv().unwrap();
    thread.join().unwrap(); //~ bug
}

//@ warned timing
#[test]
fn a_rendezvous_with_a_timeout() {
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || sender.send(1));
    let received = receiver.recv_timeout(Duration::from_millis(5));
    drop(receiver);
    assert_eq!(thread.join().unwrap().is_ok(), received.is_ok());
    assert_eq!(received, Ok(1));
}

//@ verified
//@ executions = 1
#[test]
fn messages_under_a_lock_that_nobody_else_takes() {
    let lock = Arc::new(Mutex::new(0));
    let other = Arc::clone(&lock);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        let mut sum = other.lock().unwrap();
        for message in receiver {
            *sum += message;
        }
    });
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    thread.join().unwrap();
    assert_eq!(*lock.lock().unwrap(), 3);
}

//@ failed panic
#[test]
fn room_that_comes_and_goes() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || {
        let one = receiver.recv();
        (one, receiver.recv())
    });
    sender.send(1).unwrap();
    let tried = sender.try_send(2);
    drop(sender);
    let seen = thread.join().unwrap();
    assert_eq!(seen.0, Ok(1));
    assert_eq!(seen.1.is_ok(), tried.is_ok());
    assert!(tried.is_err()); //~ bug
}
