//! Locks whose threads wait in a queue, each at a word of its own: Mellor-Crummey and Scott's, and Craig's, Landin's and Hagersten's,
//! with nodes from the heap and from a fixed array; and each with steps left out.
//!
//! Steps have numbers. `Lock<0>` leaves none out, `Lock<N>` step N, or does it too late.

use crate::shared::Shared;
use std::hint::spin_loop;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use std::thread::spawn;

/// A lock that gives its holder something to give back.
trait Lock: Default + Send + Sync + 'static {
    type Held;
    fn acquire(&self, me: usize) -> Self::Held;
    fn release(&self, held: Self::Held);
}

/// Each of the threads goes through the lock so often, and does this inside. Main is the last of them.
fn each<L: Lock>(threads: usize, times: usize, inside: fn(&Shared<usize>)) {
    let shared = Arc::new((L::default(), Shared::new(0)));
    let pass = move |(lock, count): &(L, Shared<usize>), me| {
        for _ in 0..times {
            let held = lock.acquire(me);
            inside(count);
            lock.release(held);
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

/// A place in Mellor-Crummey and Scott's queue.
struct Place {
    next: AtomicPtr<Place>,
    waits: AtomicBool,
}

/// Mellor-Crummey and Scott's lock: who comes tells the one before, who leaves tells the one behind.
#[derive(Default)]
struct Mcs<const LEFT_OUT: u8>(AtomicPtr<Place>);

impl<const LEFT_OUT: u8> Lock for Mcs<LEFT_OUT> {
    type Held = *mut Place;

    fn acquire(&self, _: usize) -> *mut Place {
        let (next, waits) = (AtomicPtr::new(null_mut()), AtomicBool::new(LEFT_OUT != 1));
        let place = Box::into_raw(Box::new(Place { next, waits }));
        let before = self.0.swap(place, AcqRel);
        if !before.is_null() {
            unsafe { (*before).next.store(place, Release) };
            if LEFT_OUT == 1 {
                unsafe { (*place).waits.store(true, Relaxed) };
            }
            while unsafe { (*place).waits.load(Acquire) } {
                spin_loop();
            }
        }
        place
    }

    fn release(&self, place: *mut Place) {
        let mut next = unsafe { (*place).next.load(Acquire) };
        if next.is_null() {
            if LEFT_OUT == 2 {
                self.0.store(null_mut(), Release);
                return;
            }
            if self.0.compare_exchange(place, null_mut(), AcqRel, Relaxed).is_ok() {
                drop(unsafe { Box::from_raw(place) });
                return;
            }
            if LEFT_OUT == 3 {
                return;
            }
            loop {
                next = unsafe { (*place).next.load(Acquire) };
                if !next.is_null() {
                    break;
                }
                spin_loop();
            }
        }
        let order = if LEFT_OUT == 4 { Relaxed } else { Release };
        unsafe { (*next).waits.store(false, order) };
        drop(unsafe { Box::from_raw(if LEFT_OUT == 5 { next } else { place }) });
    }
}

// Six: for each of two orders, the one behind comes when the first has left, says so before the first looks, or after that.
//@ passed memory-model-sc
//@ executions <= 7
//@ with --leaks passed memory-model-sc
#[test]
fn mcs() {
    each::<Mcs<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ passed memory-model-sc
//@ executions <= 91
#[test]
fn mcs_of_two_twice() {
    each::<Mcs<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ passed memory-model-sc
//@ executions <= 102
#[test]
fn mcs_of_three() {
    each::<Mcs<0>>(3, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed livelock|deadlock
#[test]
fn mcs_says_that_it_waits_behind_its_back() {
    each::<Mcs<1>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed livelock|deadlock|data-race
#[test]
fn mcs_does_not_look_who_is_last() {
    each::<Mcs<2>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed livelock|deadlock
#[test]
fn mcs_does_not_wait_to_be_told_who_is_next() {
    each::<Mcs<3>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn mcs_hands_over_relaxed() {
    each::<Mcs<4>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

//@ failed use-after-free|double-free|data-race
#[test]
fn mcs_frees_the_place_of_the_next() {
    each::<Mcs<5>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

/// Craig's, Landin's and Hagersten's lock: everybody waits at the node of the one before, and frees it.
struct Clh<const LEFT_OUT: u8>(AtomicPtr<AtomicBool>);

fn node(waits: bool) -> *mut AtomicBool {
    Box::into_raw(Box::new(AtomicBool::new(waits)))
}

impl<const LEFT_OUT: u8> Default for Clh<LEFT_OUT> {
    fn default() -> Self {
        Self(AtomicPtr::new(node(false)))
    }
}

impl<const LEFT_OUT: u8> Drop for Clh<LEFT_OUT> {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(*self.0.get_mut()) });
    }
}

impl<const LEFT_OUT: u8> Lock for Clh<LEFT_OUT> {
    type Held = *mut AtomicBool;

    fn acquire(&self, _: usize) -> *mut AtomicBool {
        let mine = node(LEFT_OUT != 1);
        let order = if LEFT_OUT == 2 { Relaxed } else { AcqRel };
        let before = self.0.swap(mine, order);
        if LEFT_OUT == 1 {
            unsafe { (*mine).store(true, Relaxed) };
        }
        while unsafe { (*before).load(Acquire) } {
            spin_loop();
        }
        if LEFT_OUT != 3 {
            drop(unsafe { Box::from_raw(before) });
        }
        mine
    }

    fn release(&self, mine: *mut AtomicBool) {
        unsafe { (*mine).store(false, Release) };
        if LEFT_OUT == 3 {
            drop(unsafe { Box::from_raw(mine) });
        }
    }
}

//@ passed memory-model-sc
//@ executions = 2
//@ with --leaks passed memory-model-sc
#[test]
fn clh() {
    each::<Clh<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ passed memory-model-sc
//@ executions = 6
#[test]
fn clh_of_three() {
    each::<Clh<0>>(3, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ passed memory-model-sc
//@ executions = 6
#[test]
fn clh_of_two_twice() {
    each::<Clh<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race|use-after-free
#[test]
fn clh_says_too_late_that_it_holds() {
    each::<Clh<1>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

// What is in the node is not published with it.
//@ failed data-race
#[test]
fn clh_publishes_its_node_relaxed() {
    each::<Clh<2>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ failed use-after-free|data-race
#[test]
fn clh_frees_its_own_node() {
    each::<Clh<3>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

/// The same with nodes in an array: whoever leaves takes the node of the one before for its next time.
struct ClhArray<const LEFT_OUT: u8> {
    nodes: [AtomicBool; 4],
    last: AtomicUsize,
    own: [Shared<usize>; 3],
}

impl<const LEFT_OUT: u8> Default for ClhArray<LEFT_OUT> {
    fn default() -> Self {
        let own = [Shared::new(1), Shared::new(2), Shared::new(3)];
        Self { nodes: Default::default(), last: AtomicUsize::new(0), own }
    }
}

impl<const LEFT_OUT: u8> Lock for ClhArray<LEFT_OUT> {
    type Held = usize;

    fn acquire(&self, me: usize) -> usize {
        let mine = unsafe { *self.own[me].ptr() };
        self.nodes[mine].store(true, Relaxed);
        let before = self.last.swap(mine, AcqRel);
        if LEFT_OUT != 1 {
            while self.nodes[before].load(Acquire) {
                spin_loop();
            }
        }
        if LEFT_OUT != 2 {
            unsafe { *self.own[me].ptr() = before };
        }
        mine
    }

    fn release(&self, mine: usize) {
        self.nodes[mine].store(false, if LEFT_OUT == 3 { Relaxed } else { Release });
    }
}

//@ passed memory-model-sc
//@ executions = 2
#[test]
fn clh_in_an_array() {
    each::<ClhArray<0>>(2, 1, |count| unsafe { *count.ptr() += 1 });
}

//@ passed memory-model-sc
//@ executions = 6
#[test]
fn clh_in_an_array_of_two_twice() {
    each::<ClhArray<0>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn clh_in_an_array_does_not_wait() {
    each::<ClhArray<1>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}

// The one behind may not have seen yet that the node was given back.
//@ failed livelock|deadlock
#[test]
fn clh_in_an_array_takes_its_own_node_again() {
    each::<ClhArray<2>>(2, 2, |count| unsafe { *count.ptr() += 1 });
}

//@ failed data-race
#[test]
fn clh_in_an_array_released_relaxed() {
    each::<ClhArray<3>>(2, 1, |count| unsafe { *count.ptr() += 1 }); //~ bug
}
