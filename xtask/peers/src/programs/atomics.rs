//! Atomic variables: updates that are a load and a store.

use super::{beside, check, two};
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use crate::sync::thread;

/// Two increments.
pub fn load_then_store<const RIGHT: bool>() {
    let (mine, theirs) = two(AtomicU32::new(0));
    let add = |count: &AtomicU32| {
        if RIGHT {
            count.fetch_add(1, SeqCst);
        } else {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        }
    };
    beside(move || add(&theirs), || add(&mine));
    let count = mine.load(SeqCst);
    check!(count == 2);
}

/// The largest of two numbers, found by compare-exchange in a loop, or by a look and a store.
pub fn maximum<const RIGHT: bool>() {
    let (mine, theirs) = two(AtomicU32::new(0));
    let raise = |most: &AtomicU32, to: u32| {
        let mut seen = most.load(SeqCst);
        while seen < to {
            if RIGHT {
                match most.compare_exchange(seen, to, SeqCst, SeqCst) {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
            } else {
                most.store(to, SeqCst);
                break;
            }
        }
    };
    beside(move || raise(&theirs, 2), || raise(&mine, 1));
    let most = mine.load(SeqCst);
    check!(most == 2);
}

/// Three threads take tickets: by fetch-add, or by a look and a compare-exchange that nobody asks.
pub fn tickets<const RIGHT: bool>() {
    let (mine, theirs) = two((AtomicUsize::new(0), [(); 3].map(|()| AtomicU32::new(0))));
    let take = |desk: &(AtomicUsize, [AtomicU32; 3])| {
        let ticket = if RIGHT {
            desk.0.fetch_add(1, SeqCst)
        } else {
            let ticket = desk.0.load(SeqCst);
            let _unasked = desk.0.compare_exchange(ticket, ticket + 1, SeqCst, SeqCst);
            ticket
        };
        let holders = desk.1[ticket].fetch_add(1, SeqCst);
        check!(holders == 0);
    };
    let third = mine.clone();
    let thread = thread::spawn(move || take(&third));
    beside(move || take(&theirs), || take(&mine));
    thread.join().unwrap();
}
