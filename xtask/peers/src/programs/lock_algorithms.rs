//! Locks written by hand, each around one plain increment, and a flag that tells whether somebody else is inside: it orders nothing, but
//! checkers that do not look at plain memory see it.

use super::{Plain, beside, check, two};
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicUsize, fence};
use crate::sync::hint::spin_loop;

/// Two threads do it once each.
fn counted<T: Send + Sync + 'static>(lock: T, enter: fn(&T, usize), leave: fn(&T, usize)) {
    let (mine, theirs) = two((lock, Plain::new(0), AtomicBool::new(false)));
    let add = move |shared: &(T, Plain<u32>, AtomicBool), number: usize| {
        enter(&shared.0, number);
        check!(!shared.2.swap(true, Relaxed));
        shared.1.set(shared.1.get() + 1);
        shared.2.store(false, Relaxed);
        leave(&shared.0, number);
    };
    beside(move || add(&theirs, 0), || add(&mine, 1));
    check!(mine.1.get() == 2);
}

/// A flag: exchanged, or looked at and stored.
pub fn spin<const RIGHT: bool>() {
    counted(
        AtomicBool::new(false),
        |held, _| {
            if RIGHT {
                while held.swap(true, Acquire) {
                    spin_loop();
                }
            } else {
                while held.load(Acquire) {
                    spin_loop();
                }
                held.store(true, Relaxed);
            }
        },
        |held, _| held.store(false, Release),
    );
}

/// Tickets: the next one is called with an order, or without.
pub fn ticket<const RIGHT: bool>() {
    counted(
        (AtomicUsize::new(0), AtomicUsize::new(0)),
        |(next, called), _| {
            let ticket = next.fetch_add(1, Relaxed);
            while called.load(Acquire) != ticket {
                spin_loop();
            }
        },
        |(_, called), _| {
            let ticket = called.load(Relaxed);
            if RIGHT {
                called.store(ticket + 1, Release);
            } else {
                called.store(ticket + 1, Relaxed);
            }
        },
    );
}

/// Mellor-Crummey and Scott's queue of waiting threads, each at its own word.
pub fn mcs<const RIGHT: bool>() {
    const NONE: usize = 2;
    struct Lock {
        tail: AtomicUsize,
        next: [AtomicUsize; 2],
        waits: [AtomicBool; 2],
    }
    counted(
        Lock {
            tail: AtomicUsize::new(NONE),
            next: [AtomicUsize::new(NONE), AtomicUsize::new(NONE)],
            waits: [AtomicBool::new(true), AtomicBool::new(true)],
        },
        |lock, number| {
            let before = lock.tail.swap(number, AcqRel);
            if before != NONE {
                lock.next[before].store(number, Release);
                while lock.waits[number].load(Acquire) {
                    spin_loop();
                }
            }
        },
        |lock, number| {
            if lock.next[number].load(Acquire) == NONE {
                let left = if RIGHT {
                    lock.tail.compare_exchange(number, NONE, Release, Relaxed)
                } else {
                    lock.tail.compare_exchange(number, NONE, Relaxed, Relaxed)
                };
                if left.is_ok() {
                    return;
                }
                while lock.next[number].load(Acquire) == NONE {
                    spin_loop();
                }
            }
            lock.waits[lock.next[number].load(Relaxed)].store(false, Release);
        },
    );
}

/// Craig's, Landin's and Hagersten's queue: each waits for the word of who came before.
pub fn clh<const RIGHT: bool>() {
    struct Lock {
        tail: AtomicUsize,
        held: [AtomicBool; 3],
    }
    counted(
        Lock {
            tail: AtomicUsize::new(2),
            held: [AtomicBool::new(true), AtomicBool::new(true), AtomicBool::new(false)],
        },
        |lock, number| {
            let before = lock.tail.swap(number, AcqRel);
            if RIGHT {
                while lock.held[before].load(Acquire) {
                    spin_loop();
                }
            } else {
                while lock.held[before].load(Relaxed) {
                    spin_loop();
                }
            }
        },
        |lock, number| lock.held[number].store(false, Release),
    );
}

/// Peterson's: wants to, and lets the other go first; in this order, or in the other one.
pub fn peterson<const RIGHT: bool>() {
    counted(
        ([AtomicBool::new(false), AtomicBool::new(false)], AtomicUsize::new(0)),
        |(wants, turn), number| {
            let other = 1 - number;
            if RIGHT {
                wants[number].store(true, SeqCst);
                turn.swap(other, SeqCst);
            } else {
                turn.swap(other, SeqCst);
                wants[number].store(true, SeqCst);
            }
            while wants[other].load(SeqCst) && turn.load(SeqCst) == other {
                spin_loop();
            }
        },
        |(wants, _), number| wants[number].store(false, SeqCst),
    );
}

/// Dekker's, by fences: who wants to looks for the other, and steps back if it is not its turn.
pub fn dekker<const RIGHT: bool>() {
    counted(
        ([AtomicBool::new(false), AtomicBool::new(false)], AtomicUsize::new(0)),
        |(wants, turn), number| {
            let other = 1 - number;
            if RIGHT {
                wants[number].store(true, Relaxed);
                fence(SeqCst);
            }
            while wants[other].load(Acquire) {
                if turn.load(Acquire) != number {
                    wants[number].store(false, Relaxed);
                    while turn.load(Acquire) != number {
                        spin_loop();
                    }
                    wants[number].store(true, Relaxed);
                    fence(SeqCst);
                }
                spin_loop();
            }
            if !RIGHT {
                wants[number].store(true, Relaxed);
                fence(SeqCst);
            }
        },
        |(wants, turn), number| {
            turn.store(1 - number, Release);
            wants[number].store(false, Release);
        },
    );
}
