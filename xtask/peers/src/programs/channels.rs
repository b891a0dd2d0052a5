//! Channels: messages of two senders, a sender that is kept, bounds that are too small.

use super::{beside, check};
use crate::sync::mpsc::channel;
use crate::sync::thread;

/// Two senders, and a receiver that takes an order for granted.
pub fn two_senders<const RIGHT: bool>() {
    let (sender, receiver) = channel();
    let other = sender.clone();
    let threads = [
        thread::spawn(move || sender.send(1).unwrap()),
        thread::spawn(move || other.send(2).unwrap()),
    ];
    let (first, second): (u32, u32) = (receiver.recv().unwrap(), receiver.recv().unwrap());
    if RIGHT {
        check!(first + second == 3);
    } else {
        check!(first == 1);
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A message that is looked for once.
pub fn tried_receive<const RIGHT: bool>() {
    let (sender, receiver) = channel();
    beside(
        move || sender.send(1).unwrap(),
        || {
            if RIGHT {
                let received = receiver.recv();
                check!(received == Ok(1));
            } else {
                let received = receiver.try_recv();
                check!(received == Ok(1));
            }
        },
    );
}

/// Receives to the end of the channel, which does not come while a sender is kept.
#[cfg(feature = "disconnect")]
pub fn kept_sender<const RIGHT: bool>() {
    let (sender, receiver) = channel();
    let kept = sender.clone();
    if RIGHT {
        drop(kept);
        beside(move || sender.send(1).unwrap(), || check!(receiver.iter().count() == 1));
    } else {
        beside(move || sender.send(1).unwrap(), || check!(receiver.iter().count() == 1));
        drop(kept);
    }
}

/// Two threads fill each other's channel before they empty their own.
#[cfg(feature = "bounded-channel")]
pub fn full_channels<const RIGHT: bool>() {
    use crate::sync::mpsc::sync_channel;
    let bound = if RIGHT { 2 } else { 1 };
    let (to_mine, mine) = sync_channel(bound);
    let (to_theirs, theirs) = sync_channel(bound);
    let exchange = move |to: crate::sync::mpsc::SyncSender<u32>,
                         from: crate::sync::mpsc::Receiver<u32>| {
        for number in 0..2 {
            to.send(number).unwrap();
        }
        for number in 0..2 {
            let received = from.recv();
            check!(received == Ok(number));
        }
    };
    beside(move || exchange(to_mine, theirs), move || exchange(to_theirs, mine));
}
