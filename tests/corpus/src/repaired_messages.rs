//! Wrong programs of `channels` and `crates`, repaired, where no right one stands beside them. A name is that of the module and that of the program there.

use crate::shared::Shared;
use crossbeam_utils::sync::Parker;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{park, spawn};

//@ verified
#[test]
fn channels_two_senders_have_no_order() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let thread = spawn(move || other.send(1).unwrap());
    sender.send(2).unwrap();
    let mut both = [receiver.recv().unwrap(), receiver.recv().unwrap()];
    both.sort_unstable();
    assert_eq!(both, [1, 2]);
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn channels_a_full_channel_with_a_busy_receiver() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    assert_eq!([receiver.recv(), receiver.recv()], [Ok(1), Ok(2)]);
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_a_receiver_gone_too_early() {
    let (sender, receiver) = channel();
    let thread = spawn(move || drop(receiver));
    // Whoever is gone wants nothing.
    let _ = sender.send(1);
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_the_sender_gone_already() {
    let (sender, receiver) = channel::<u32>();
    let thread = spawn(move || drop(sender));
    assert!(receiver.try_recv().is_err());
    assert!(receiver.recv().is_err());
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_a_message_and_then_the_end() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.recv(), Ok(1));
    assert!(receiver.recv().is_err());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_no_room_yet() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || receiver.recv().and_then(|one: u32| Ok(one + receiver.recv()?)));
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(3));
}

//@ verified
//@ executions = 1
#[test]
fn channels_nobody_meets_the_sender_yet() {
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || receiver.recv());
    sender.send(1).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(1));
}

//@ verified
//@ executions = 1
#[test]
fn channels_a_message_that_comes_too_late() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1));
    assert_eq!(receiver.recv(), Ok(1));
    thread.join().unwrap().unwrap();
}

//@ verified
#[test]
fn channels_between_a_message_and_the_next() {
    let (sender, receiver) = channel();
    let sent = Arc::new(Mutex::new(0));
    let count = Arc::clone(&sent);
    let thread = spawn(move || {
        *count.lock().unwrap() += 1;
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    assert_eq!(*sent.lock().unwrap(), 1);
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn channels_a_write_behind_the_message() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = channel();
    let thread = spawn(move || {
        // SAFETY: nobody reads it before the message.
        unsafe { *other.ptr() = 1 };
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    // SAFETY: it is written before the message.
    assert_eq!(unsafe { value.ptr().read() }, 1);
    thread.join().unwrap();
}

//@ verified
//@ executions = 1
#[test]
fn channels_a_write_behind_a_bounded_message() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = sync_channel(2);
    let thread = spawn(move || {
        sender.send([0_u64; 40]).unwrap();
        // SAFETY: nobody reads it before the second message.
        unsafe { *other.ptr() = 1 };
        sender.send([1_u64; 40]).unwrap();
    });
    assert_eq!(receiver.recv().unwrap()[39], 0);
    assert_eq!(receiver.recv().unwrap()[39], 1);
    // SAFETY: it is written before the second message.
    assert_eq!(unsafe { value.ptr().read() }, 1);
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_no_send_waits_for_an_unbounded_channel() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    // The second of two messages waits until the first is taken.
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        // SAFETY: it is written before the first message is taken.
        unsafe { other.ptr().read() }
    });
    // SAFETY: nobody reads it before the first message is taken.
    unsafe { *value.ptr() = 1 };
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(thread.join().unwrap(), 1);
}

//@ verified
#[test]
fn channels_a_rendezvous_that_is_over() {
    let value = Arc::new(Shared::new(0));
    let other = Arc::clone(&value);
    let (sender, receiver) = sync_channel(0);
    let thread = spawn(move || {
        sender.send(()).unwrap();
        // SAFETY: the receiver writes it behind this thread's end.
        unsafe { *other.ptr() = 1 };
    });
    receiver.recv().unwrap();
    thread.join().unwrap();
    // SAFETY: the other thread has ended.
    unsafe { *value.ptr() = 2 };
}

//@ verified
#[test]
fn channels_where_the_result_is_written_is_the_caller_s() {
    let slot = Arc::new(Shared::new(Ok([0_u64; 40])));
    let other = Arc::clone(&slot);
    let (sender, receiver) = channel();
    sender.send([1; 40]).unwrap();
    let thread = spawn(move || {
        // SAFETY: nobody reads it before this thread's end.
        unsafe { *other.ptr() = receiver.try_recv() };
    });
    thread.join().unwrap();
    // SAFETY: the other thread has ended.
    assert_eq!(unsafe { slot.ptr().read() }, Ok([1; 40]));
}

//@ verified
#[test]
fn channels_a_message_whose_end_races() {
    struct Writes(Arc<Mutex<u32>>);
    impl Drop for Writes {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = 1;
        }
    }
    let value = Arc::new(Mutex::new(0));
    let message = Writes(Arc::clone(&value));
    let (sender, receiver) = sync_channel(1);
    sender.send(message).unwrap();
    let thread = spawn(move || drop(receiver));
    assert!([0, 1].contains(&*value.lock().unwrap()));
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_a_message_whose_end_waits_for_its_own_lock() {
    struct Locks(Arc<Mutex<()>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            drop(self.0.lock().unwrap());
        }
    }
    let lock = Arc::new(Mutex::new(()));
    let message = Locks(Arc::clone(&lock));
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(message).unwrap());
    let guard = lock.lock().unwrap();
    thread.join().unwrap();
    drop(guard);
    drop(receiver);
}

//@ verified
#[test]
fn channels_asking_again_and_again_in_vain() {
    let (sender, receiver) = channel::<()>();
    let thread = spawn(move || {
        while receiver.try_recv() == Err(TryRecvError::Empty) {
            std::hint::spin_loop();
        }
    });
    drop(sender);
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_a_token_that_an_offer_has_taken() {
    let (sender, receiver) = sync_channel(0);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let thread = spawn(move || {
        sender.send(()).unwrap();
        // The rendezvous parks, too, and may take the token: so it is not the token that says what is waited for.
        while !stopped.load(SeqCst) {
            park();
        }
    });
    receiver.recv().unwrap();
    stop.store(true, SeqCst);
    thread.thread().unpark();
    thread.join().unwrap();
}

//@ verified
#[test]
fn channels_room_that_comes_and_goes() {
    let (sender, receiver) = sync_channel(1);
    let thread = spawn(move || [receiver.recv(), receiver.recv()]);
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(thread.join().unwrap(), [Ok(1), Ok(2)]);
}

//@ clean
#[test]
fn crates_parking_lot_ab_ba() {
    let locks = Arc::new((parking_lot::Mutex::new(0), parking_lot::Mutex::new(0)));
    let other = Arc::clone(&locks);
    let thread = spawn(move || {
        let _a = other.0.lock();
        let _b = other.1.lock();
    });
    let a = locks.0.lock();
    let b = locks.1.lock();
    drop((a, b));
    thread.join().unwrap();
}

//@ clean
#[test]
fn crates_parking_lot_lost_update() {
    let count = Arc::new(parking_lot::Mutex::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || *other.lock() += 1);
    *count.lock() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock(), 2);
}

//@ clean
#[test]
fn crates_crossbeam_rendezvous_crossing() {
    let (there, back) = (crossbeam_channel::bounded(0), crossbeam_channel::bounded(0));
    let thread = spawn(move || {
        there.0.send(1).unwrap();
        back.1.recv().unwrap();
    });
    there.1.recv().unwrap();
    back.0.send(2).unwrap();
    thread.join().unwrap();
}

//@ clean
#[test]
fn crates_crossbeam_selects_a_sender_and_forgets_another() {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    let (other, second) = crossbeam_channel::bounded(0);
    let thread = spawn(move || sender.send(4).unwrap());
    let another = spawn(move || other.send(5).unwrap());
    crossbeam_channel::select! {
        recv(receiver) -> message => {
            assert_eq!(message, Ok(4));
            assert_eq!(second.recv(), Ok(5));
        }
        recv(second) -> message => {
            assert_eq!(message, Ok(5));
            assert_eq!(receiver.recv(), Ok(4));
        }
    }
    thread.join().unwrap();
    another.join().unwrap();
}

//@ clean
#[test]
fn crates_crossbeam_parker_twice() {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let thread = spawn(move || unparker.unpark());
    parker.park();
    thread.join().unwrap();
    parker.unparker().unpark();
    parker.park();
}

//@ clean
#[test]
fn crates_once_cell_read_too_early() {
    let cell = Arc::new(once_cell::sync::OnceCell::new());
    let other = Arc::clone(&cell);
    let thread = spawn(move || other.set(1).is_ok());
    let mine = *cell.get_or_init(|| 2);
    assert_eq!(thread.join().unwrap(), mine == 1);
}

//@ clean
#[test]
fn crates_crossbeam_one_message_for_two() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let other = receiver.clone();
    let thread = spawn(move || other.recv());
    sender.send(1).unwrap();
    // Without a sender, who finds nothing waits for nothing.
    drop(sender);
    let mine = receiver.recv();
    assert_ne!(thread.join().unwrap().is_ok(), mine.is_ok());
}

//@ clean
#[test]
fn crates_crossbeam_asks_how_many() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let thread = spawn(move || {
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
    thread.join().unwrap();
    assert_eq!(receiver.len(), 2);
}

//@ clean
#[test]
fn crates_crossbeam_selects_one_of_two() {
    let (sender, receiver) = crossbeam_channel::bounded(1);
    let (other, second) = crossbeam_channel::bounded(1);
    let thread = spawn(move || sender.send(4).unwrap());
    let another = spawn(move || other.send(5).unwrap());
    crossbeam_channel::select! {
        recv(receiver) -> message => assert_eq!(message, Ok(4)),
        recv(second) -> message => assert_eq!(message, Ok(5)),
    }
    thread.join().unwrap();
    another.join().unwrap();
}

//@ clean
#[test]
fn crates_crossbeam_who_drops_what_is_left() {
    struct Tells(Arc<Mutex<u32>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let dropped = Arc::new(Mutex::new(0));
    let (sender, receiver) = crossbeam_channel::bounded(1);
    sender.send(Tells(Arc::clone(&dropped))).unwrap();
    let thread = spawn(move || drop(receiver));
    drop(sender);
    thread.join().unwrap();
    assert_eq!(*dropped.lock().unwrap(), 1);
}

//@ clean
#[test]
fn crates_crossbeam_send_with_a_timeout() {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    let thread = spawn(move || receiver.recv());
    sender.send(1).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(1));
}

//@ clean
#[test]
fn crates_oneshot_receiver_dropped_while_it_is_woken() {
    let (sender, receiver) = oneshot::channel::<i32>();
    // Who waits by blocking drops nothing that the other one is about to use.
    let receives = spawn(move || receiver.recv().is_err());
    let sends = spawn(move || drop(sender));
    assert!(receives.join().unwrap());
    sends.join().unwrap();
}
