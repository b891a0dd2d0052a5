//! Barriers, latches and semaphores by hand, of locks and of atomics; and each with a step that is wrong.

use crate::shared::Shared;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::spawn;

/// Where as many threads as it is for wait for each other, again and again.
trait Meeting: Default + Send + Sync + 'static {
    fn meet(&self);
}

/// Two threads meet so often; what the one writes before, the other reads behind that.
fn two_meet<M: Meeting>(times: usize) {
    let shared = Arc::new((M::default(), [Shared::new(0), Shared::new(0)]));
    let rounds = move |(meeting, values): &(M, [Shared<usize>; 2]), me: usize| {
        for round in 1..=times {
            unsafe { *values[me].ptr() = round }; //~ bug of a_barrier_that_nobody_waits_at, a_barrier_that_opens_relaxed
            meeting.meet();
            assert_eq!(unsafe { *values[1 - me].ptr() }, round); //~ bug of a_barrier_that_nobody_waits_at, a_barrier_that_opens_relaxed
            meeting.meet();
        }
    };
    let other = Arc::clone(&shared);
    let thread = spawn(move || rounds(&other, 0));
    rounds(&shared, 1);
    thread.join().unwrap();
}

/// A barrier of a lock and a condition variable: how many have come, and how often they have met. Wrong are: 1, which goes by the number
/// of those that have come; 2, which wakes nobody; 3, which does not wait.
#[derive(Default)]
struct Locked<const WRONG: u8>(Mutex<(usize, usize)>, Condvar);

impl<const WRONG: u8> Meeting for Locked<WRONG> {
    fn meet(&self) {
        let mut state = self.0.lock().unwrap();
        let round = state.1;
        state.0 += 1;
        if state.0 == 2 {
            state.0 = 0;
            state.1 += 1;
            if WRONG != 2 {
                self.1.notify_all();
            }
        } else if WRONG == 1 {
            while state.0 != 0 {
                state = self.1.wait(state).unwrap(); //~ bug of a_barrier_that_goes_by_who_has_come
            }
        } else if WRONG != 3 {
            while state.1 == round {
                state = self.1.wait(state).unwrap(); //~ bug of a_barrier_that_wakes_nobody
            }
        }
    }
}

//@ verified
//@ executions = 4
#[test]
fn a_barrier_of_a_lock() {
    two_meet::<Locked<0>>(1);
}

//@ verified
//@ executions = 16
#[test]
fn a_barrier_of_a_lock_twice() {
    two_meet::<Locked<0>>(2);
}

// The first to come to the next round makes the one that is about to leave wait for ever.
//@ failed deadlock
#[test]
fn a_barrier_that_goes_by_who_has_come() {
    two_meet::<Locked<1>>(1);
}

//@ failed deadlock
#[test]
fn a_barrier_that_wakes_nobody() {
    two_meet::<Locked<2>>(1);
}

//@ failed data-race
#[test]
fn a_barrier_that_nobody_waits_at() {
    two_meet::<Locked<3>>(1);
}

/// A barrier of two words: how many are to come, and a sense that changes with each meeting. Wrong are: 1, which opens before it counts
/// anew; 2, which opens relaxed; 3, which counts by a load and a store.
struct Sense<const WRONG: u8> {
    missing: AtomicUsize,
    sense: AtomicBool,
}

impl<const WRONG: u8> Default for Sense<WRONG> {
    fn default() -> Self {
        Self { missing: AtomicUsize::new(2), sense: AtomicBool::new(false) }
    }
}

impl<const WRONG: u8> Meeting for Sense<WRONG> {
    fn meet(&self) {
        let sense = self.sense.load(Relaxed);
        let missing = if WRONG == 3 {
            let missing = self.missing.load(Acquire);
            self.missing.store(missing - 1, Release);
            missing
        } else {
            self.missing.fetch_sub(1, AcqRel)
        };
        if missing == 1 {
            if WRONG == 1 {
                self.sense.store(!sense, Release);
            }
            self.missing.store(2, Relaxed);
            if WRONG != 1 {
                self.sense.store(!sense, if WRONG == 2 { Relaxed } else { Release });
            }
        } else {
            while self.sense.load(Acquire) == sense {
                spin_loop();
            }
        }
    }
}

//@ passed memory-model-sc
//@ executions <= 16
#[test]
fn a_barrier_of_a_sense() {
    two_meet::<Sense<0>>(1);
}

// Who has left comes again before the count begins anew.
//@ failed livelock|deadlock|panic
#[test]
fn a_barrier_that_opens_before_it_counts_anew() {
    two_meet::<Sense<1>>(1);
}

//@ failed data-race
#[test]
fn a_barrier_that_opens_relaxed() {
    two_meet::<Sense<2>>(1);
}

//@ failed livelock|deadlock
#[test]
fn a_barrier_that_counts_by_a_store() {
    two_meet::<Sense<3>>(1);
}

/// A latch: opens when two have counted it down. Wrong are: 1, which looks and counts under two locks; 2, where the last does not notify.
#[derive(Default)]
struct Latch<const WRONG: u8>(Mutex<usize>, Condvar);

impl<const WRONG: u8> Latch<WRONG> {
    fn count_down(&self) {
        let mut counted = self.0.lock().unwrap();
        if WRONG == 1 {
            let seen = *counted;
            drop(counted);
            counted = self.0.lock().unwrap();
            *counted = seen + 1;
        } else {
            *counted += 1;
        }
        if WRONG != 2 && *counted == 2 {
            self.1.notify_one();
        }
    }

    fn wait(&self) {
        let counted = self.0.lock().unwrap();
        drop(self.1.wait_while(counted, |counted| *counted < 2).unwrap()); //~ bug of a_latch_counted_under_two_locks, a_latch_that_does_not_notify
    }
}

fn two_count_down<const WRONG: u8>() {
    let latch = Arc::new(Latch::<WRONG>::default());
    let threads = [(); 2].map(|()| {
        let latch = Arc::clone(&latch);
        spawn(move || latch.count_down())
    });
    latch.wait();
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ verified
#[test]
fn a_latch() {
    two_count_down::<0>();
}

//@ failed deadlock
#[test]
fn a_latch_counted_under_two_locks() {
    two_count_down::<1>();
}

//@ failed deadlock
#[test]
fn a_latch_that_does_not_notify() {
    two_count_down::<2>();
}

/// A semaphore with one permit. Wrong are: 1, which waits once; 2, which notifies too early.
struct Semaphore<const WRONG: u8>(Mutex<usize>, Condvar);

impl<const WRONG: u8> Semaphore<WRONG> {
    fn acquire(&self) {
        let mut permits = self.0.lock().unwrap();
        if WRONG == 1 {
            if *permits == 0 {
                permits = self.1.wait(permits).unwrap();
            }
            *permits = permits.saturating_sub(1);
        } else {
            permits = self.1.wait_while(permits, |permits| *permits == 0).unwrap();
            *permits -= 1;
        }
    }

    fn release(&self) {
        if WRONG == 2 {
            self.1.notify_one();
            *self.0.lock().unwrap() += 1;
        } else {
            *self.0.lock().unwrap() += 1;
            self.1.notify_one();
        }
    }
}

/// So many threads, main among them, go through the semaphore.
fn take_turns<const WRONG: u8>(threads: usize) {
    let semaphore = Semaphore::<WRONG>(Mutex::new(1), Condvar::new());
    let shared = Arc::new((semaphore, Shared::new(0)));
    let pass = |(semaphore, count): &(Semaphore<WRONG>, Shared<usize>)| {
        semaphore.acquire();
        unsafe { *count.ptr() += 1 }; //~ bug of a_semaphore_that_waits_once
        semaphore.release();
    };
    let start = |_| {
        let shared = Arc::clone(&shared);
        spawn(move || pass(&shared))
    };
    let others: Vec<_> = (1..threads).map(start).collect();
    pass(&shared);
    for thread in others {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { *shared.1.ptr() }, threads);
}

//@ verified
#[test]
fn a_semaphore_of_two() {
    take_turns::<0>(2);
}

//@ verified
#[test]
fn a_semaphore_of_three() {
    take_turns::<0>(3);
}

// A third comes between the notification and the one that was notified.
//@ failed data-race
#[test]
fn a_semaphore_that_waits_once() {
    take_turns::<1>(3);
}

// Who looks between the notification and the permit waits for ever.
//@ failed deadlock
#[test]
fn a_semaphore_that_notifies_too_early() {
    take_turns::<2>(2);
}

// Two hand a value over, and wait for each other by flags.
//@ verified
#[test]
fn a_hand_shake() {
    let shared = Arc::new(([AtomicBool::new(false), AtomicBool::new(false)], Shared::new(0)));
    let other = Arc::clone(&shared);
    let wait = |flag: &AtomicBool| {
        while !flag.load(SeqCst) {
            spin_loop();
        }
    };
    let thread = spawn(move || {
        wait(&other.0[0]);
        unsafe { *other.1.ptr() += 1 };
        other.0[1].store(true, SeqCst);
    });
    unsafe { *shared.1.ptr() = 1 };
    shared.0[0].store(true, SeqCst);
    wait(&shared.0[1]);
    assert_eq!(unsafe { *shared.1.ptr() }, 2);
    thread.join().unwrap();
}
