//! Locks made of loads and stores alone: Dekker's, Lamport's two, Szymanski's, Burns's; and each with steps left out.
//!
//! Steps have numbers. `Lock<0>` leaves none out, `Lock<N>` step N.

use crate::shared::Shared;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::spawn;

/// What threads that have numbers, from 0, go through one at a time.
trait Lock: Default + Send + Sync + 'static {
    fn acquire(&self, me: usize);
    fn release(&self, me: usize);
}

/// Each of the threads goes through the lock so often, and does this inside. Main is the last of them.
fn each<L: Lock>(threads: usize, times: usize, inside: fn(&Shared<usize>)) {
    let shared = Arc::new((L::default(), Shared::new(0)));
    let pass = move |(lock, count): &(L, Shared<usize>), me| {
        for _ in 0..times {
            lock.acquire(me);
            inside(count);
            lock.release(me);
        }
    };
    let start = |me| {
        let shared = Arc::clone(&shared);
        spawn(move || pass(&shared, me))
    };
    let others: Vec<_> = (0..threads - 1).map(start).collect();
    pass(&shared, threads - 1);
    for thread in others {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { *shared.1.ptr() }, threads * times);
}

/// Waits for something that others do.
fn until(condition: impl Fn() -> bool) {
    while !condition() {
        spin_loop();
    }
}

/// Dekker's lock for two: who finds the other's flag up as well gives way, unless it is its turn.
#[derive(Default)]
struct Dekker<const LEFT_OUT: u8> {
    flags: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl<const LEFT_OUT: u8> Lock for Dekker<LEFT_OUT> {
    fn acquire(&self, me: usize) {
        let [mine, theirs] = [&self.flags[me], &self.flags[1 - me]];
        mine.store(true, SeqCst);
        while theirs.load(SeqCst) {
            if self.turn.load(SeqCst) != me {
                if LEFT_OUT != 1 {
                    mine.store(false, SeqCst);
                }
                until(|| self.turn.load(SeqCst) == me);
                if LEFT_OUT != 2 {
                    mine.store(true, SeqCst);
                }
            }
        }
    }

    fn release(&self, me: usize) {
        if LEFT_OUT != 3 {
            self.turn.store(1 - me, SeqCst);
        }
        self.flags[me].store(false, SeqCst);
    }
}

//@ verified
#[test]
fn dekker() {
    each::<Dekker<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

// The one waits for its turn with its flag up, the other for that flag.
//@ failed livelock|deadlock
#[test]
fn dekker_keeps_its_flag_up() {
    each::<Dekker<1>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

// Only the one that gave way has its flag down inside, and the other is gone by then.
//@ verified
#[test]
fn dekker_enters_once_with_its_flag_down() {
    each::<Dekker<2>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

// By its second time the other may be inside.
//@ failed data-race
#[test]
fn dekker_enters_twice_with_its_flag_down() {
    each::<Dekker<2>>(2, 2, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed livelock|deadlock
#[test]
fn dekker_keeps_the_turn() {
    each::<Dekker<3>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

/// Two flags, looked at before one's own is raised.
#[derive(Default)]
struct Polite([AtomicBool; 2]);

impl Lock for Polite {
    fn acquire(&self, me: usize) {
        until(|| !self.0[1 - me].load(SeqCst));
        self.0[me].store(true, SeqCst);
    }

    fn release(&self, me: usize) {
        self.0[me].store(false, SeqCst);
    }
}

//@ failed data-race
//@ preemptions = 1
#[test]
fn a_flag_raised_behind_the_look() {
    each::<Polite>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

/// Flags, raised first: nobody gives way.
#[derive(Default)]
struct Stubborn([AtomicBool; 2]);

impl Lock for Stubborn {
    fn acquire(&self, me: usize) {
        self.0[me].store(true, SeqCst);
        until(|| !self.0[1 - me].load(SeqCst));
    }

    fn release(&self, me: usize) {
        self.0[me].store(false, SeqCst);
    }
}

//@ failed livelock|deadlock
#[test]
fn nobody_gives_way() {
    each::<Stubborn>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

/// Lamport's bakery: everybody draws a number that is larger than all others, and the smallest goes first.
#[derive(Default)]
struct Bakery<const LEFT_OUT: u8> {
    choosing: [AtomicBool; 3],
    numbers: [AtomicUsize; 3],
}

impl<const LEFT_OUT: u8> Bakery<LEFT_OUT> {
    /// Whether the other goes first; who has no number does not.
    fn is_before(&self, other: usize, me: usize, mine: usize) -> bool {
        let theirs = self.numbers[other].load(SeqCst);
        theirs != 0 && (theirs < mine || LEFT_OUT != 2 && theirs == mine && other < me)
    }
}

impl<const LEFT_OUT: u8> Lock for Bakery<LEFT_OUT> {
    fn acquire(&self, me: usize) {
        self.choosing[me].store(true, SeqCst);
        let highest = self.numbers.iter().map(|number| number.load(SeqCst)).max().unwrap();
        let mine = highest + 1;
        self.numbers[me].store(mine, SeqCst);
        self.choosing[me].store(false, SeqCst);
        for other in (0..3).filter(|other| *other != me) {
            if LEFT_OUT != 1 {
                until(|| !self.choosing[other].load(SeqCst));
            }
            until(|| !self.is_before(other, me, mine));
        }
    }

    fn release(&self, me: usize) {
        if LEFT_OUT != 3 {
            self.numbers[me].store(0, SeqCst);
        }
    }
}

//@ verified
#[test]
fn bakery() {
    each::<Bakery<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ verified
#[test]
fn bakery_of_two_twice() {
    each::<Bakery<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ verified
#[test]
fn bakery_of_three() {
    each::<Bakery<0>>(3, 1, |count| unsafe { *count.ptr() += 1 });
}

// One draws its number, the same as the other's, but has not said so when the other looks.
//@ failed data-race
#[test]
fn bakery_without_choosing() {
    each::<Bakery<1>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed data-race
#[test]
fn bakery_where_equal_numbers_both_go_first() {
    each::<Bakery<2>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed livelock|deadlock
#[test]
fn bakery_keeps_its_number() {
    each::<Bakery<3>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

/// Lamport's fast lock: two words, and flags that are looked at only when threads met.
#[derive(Default)]
struct Fast<const LEFT_OUT: u8> {
    flags: [AtomicBool; 3],
    first: AtomicUsize,
    second: AtomicUsize,
}

impl<const LEFT_OUT: u8> Fast<LEFT_OUT> {
    /// Whether it is inside; otherwise it has to try again.
    fn tries(&self, me: usize) -> bool {
        let name = me + 1;
        self.flags[me].store(true, SeqCst);
        self.first.store(name, SeqCst);
        if self.second.load(SeqCst) != 0 {
            self.flags[me].store(false, SeqCst);
            until(|| self.second.load(SeqCst) == 0);
            return false;
        }
        self.second.store(name, SeqCst);
        if LEFT_OUT != 1 && self.first.load(SeqCst) != name {
            if LEFT_OUT != 2 {
                self.flags[me].store(false, SeqCst);
                for flag in &self.flags {
                    until(|| !flag.load(SeqCst));
                }
            }
            if LEFT_OUT != 3 && self.second.load(SeqCst) != name {
                until(|| self.second.load(SeqCst) == 0);
                return false;
            }
        }
        true
    }
}

impl<const LEFT_OUT: u8> Lock for Fast<LEFT_OUT> {
    fn acquire(&self, me: usize) {
        until(|| self.tries(me));
    }

    fn release(&self, me: usize) {
        self.second.store(0, SeqCst);
        self.flags[me].store(false, SeqCst);
    }
}

//@ verified
//@ executions = 16
#[test]
fn fast() {
    each::<Fast<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ verified
#[test]
fn fast_of_two_twice() {
    each::<Fast<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

// The traces were counted one by one, outside of lockred.
//@ verified
//@ executions = 9216
#[test]
fn fast_of_three() {
    each::<Fast<0>>(3, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn fast_does_not_look_whether_threads_met() {
    each::<Fast<1>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed data-race
#[test]
fn fast_does_not_wait_for_who_is_on_its_way() {
    each::<Fast<2>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

// Of three that met, two come out of the wait together.
//@ failed data-race
#[test]
fn fast_does_not_look_who_was_last() {
    each::<Fast<3>>(3, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

/// Szymanski's lock: who comes while the door is open waits for the others in the room behind it, and the last one closes it.
#[derive(Default)]
struct Szymanski<const LEFT_OUT: u8>([AtomicUsize; 2]);

const OUTSIDE: usize = 0;
const COMING: usize = 1;
const WAITING: usize = 2;
const IN_THE_DOOR: usize = 3;
const INSIDE: usize = 4;

impl<const LEFT_OUT: u8> Lock for Szymanski<LEFT_OUT> {
    fn acquire(&self, me: usize) {
        let [mine, theirs] = [&self.0[me], &self.0[1 - me]];
        mine.store(COMING, SeqCst);
        until(|| theirs.load(SeqCst) < IN_THE_DOOR);
        mine.store(IN_THE_DOOR, SeqCst);
        if LEFT_OUT != 1 && theirs.load(SeqCst) == COMING {
            mine.store(WAITING, SeqCst);
            until(|| theirs.load(SeqCst) == INSIDE);
        }
        mine.store(INSIDE, SeqCst);
        if LEFT_OUT != 2 && me == 1 {
            until(|| theirs.load(SeqCst) < WAITING);
        }
    }

    fn release(&self, me: usize) {
        let [mine, theirs] = [&self.0[me], &self.0[1 - me]];
        if LEFT_OUT != 3 && me == 0 {
            until(|| !(WAITING..INSIDE).contains(&theirs.load(SeqCst)));
        }
        mine.store(OUTSIDE, SeqCst);
    }
}

//@ verified
#[test]
fn szymanski() {
    each::<Szymanski<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ verified
#[test]
fn szymanski_of_two_twice() {
    each::<Szymanski<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn szymanski_without_a_waiting_room() {
    each::<Szymanski<1>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed data-race
#[test]
fn szymanski_does_not_wait_for_the_lower() {
    each::<Szymanski<2>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

// Who is in the waiting room has not seen yet that the door is closed.
//@ failed livelock|deadlock
#[test]
fn szymanski_leaves_before_all_have_come_in() {
    each::<Szymanski<3>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

/// Burns's lock: lower threads go first, and higher ones wait for them with their flags down.
#[derive(Default)]
struct Burns<const LEFT_OUT: u8>([AtomicBool; 3]);

impl<const LEFT_OUT: u8> Lock for Burns<LEFT_OUT> {
    fn acquire(&self, me: usize) {
        let lower = || self.0[..me].iter().any(|flag| flag.load(SeqCst));
        loop {
            until(|| !lower());
            self.0[me].store(true, SeqCst);
            if LEFT_OUT == 1 || !lower() {
                break;
            }
            if LEFT_OUT != 2 {
                self.0[me].store(false, SeqCst);
            }
        }
        for flag in self.0[me..].iter().skip(if LEFT_OUT == 3 { 3 } else { 1 }) {
            until(|| !flag.load(SeqCst));
        }
    }

    fn release(&self, me: usize) {
        self.0[me].store(false, SeqCst);
    }
}

//@ verified
#[test]
fn burns() {
    each::<Burns<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ verified
#[test]
fn burns_of_two_twice() {
    each::<Burns<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn burns_without_a_second_look() {
    each::<Burns<1>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed livelock|deadlock
#[test]
fn burns_waits_with_its_flag_up() {
    each::<Burns<2>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn burns_does_not_wait_for_the_higher() {
    each::<Burns<3>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

/// Dekker's flags with orders that promise less. Another memory model loses the exclusion; what is explored does not show that.
#[derive(Default)]
struct AcquireRelease([AtomicBool; 2]);

impl Lock for AcquireRelease {
    fn acquire(&self, me: usize) {
        self.0[me].store(true, Release);
    }

    fn release(&self, me: usize) {
        self.0[me].store(false, Release);
    }
}

//@ passed memory-model-sc
#[test]
fn flags_that_only_acquire_and_release() {
    let shared = Arc::new((AcquireRelease::default(), Shared::new(0)));
    let pass = |(lock, count): &(AcquireRelease, Shared<usize>), me: usize| {
        lock.acquire(me);
        if !lock.0[1 - me].load(Acquire) {
            unsafe { *count.ptr() += 1 };
        }
    };
    let other = Arc::clone(&shared);
    let thread = spawn(move || pass(&other, 0));
    pass(&shared, 1);
    thread.join().unwrap();
    assert!(unsafe { *shared.1.ptr() } <= 1);
}
