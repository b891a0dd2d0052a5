//! Queues without locks: Michael and Scott's, Vyukov's bounded one, and Chase and Lev's deque; and each with steps left out.
//!
//! Steps have numbers. `Queue<0>` leaves none out, `Queue<N>` step N, or does it too early, too late or relaxed.

use crate::shared::Shared;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use std::thread::spawn;

fn two<T: Default>() -> (Arc<T>, Arc<T>) {
    let one = Arc::new(T::default());
    (Arc::clone(&one), one)
}

struct Node {
    value: u32,
    next: AtomicPtr<Node>,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(null_mut()) }))
}

/// Michael and Scott's queue. Its first node has been taken already; what was taken is kept to the end.
struct Queue<const LEFT_OUT: u8> {
    all: *mut Node,
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}

unsafe impl<const LEFT_OUT: u8> Send for Queue<LEFT_OUT> {}
unsafe impl<const LEFT_OUT: u8> Sync for Queue<LEFT_OUT> {}

impl<const LEFT_OUT: u8> Default for Queue<LEFT_OUT> {
    fn default() -> Self {
        let all = node(0);
        Self { all, head: AtomicPtr::new(all), tail: AtomicPtr::new(all) }
    }
}

impl<const LEFT_OUT: u8> Drop for Queue<LEFT_OUT> {
    fn drop(&mut self) {
        if LEFT_OUT != 3 {
            while !self.all.is_null() {
                let mut first = unsafe { Box::from_raw(self.all) };
                self.all = *first.next.get_mut();
            }
        }
    }
}

impl<const LEFT_OUT: u8> Queue<LEFT_OUT> {
    fn push(&self, value: u32) {
        let node = node(value);
        loop {
            let tail = self.tail.load(Acquire);
            let link = unsafe { &(*tail).next };
            let next = link.load(Acquire);
            if !next.is_null() {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
                continue;
            }
            let linked = if LEFT_OUT == 1 {
                link.store(node, Release);
                true
            } else {
                let order = if LEFT_OUT == 2 { Relaxed } else { Release };
                link.compare_exchange(null_mut(), node, order, Relaxed).is_ok()
            };
            if linked {
                let order = if LEFT_OUT == 2 { Relaxed } else { Release };
                let _ = self.tail.compare_exchange(tail, node, order, Relaxed);
                return;
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            let next = unsafe { (*head).next.load(Acquire) };
            if next.is_null() {
                return None;
            }
            if head == tail {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
                continue;
            }
            let value = unsafe { (*next).value }; //~ bug of published_relaxed
            if LEFT_OUT == 4 {
                self.head.store(next, Release);
                return Some(value);
            }
            if self.head.compare_exchange(head, next, Release, Relaxed).is_ok() {
                if LEFT_OUT == 3 {
                    drop(unsafe { Box::from_raw(head) });
                }
                return Some(value);
            }
        }
    }
}

fn two_pushes<const LEFT_OUT: u8>() {
    let (mine, theirs) = two::<Queue<LEFT_OUT>>();
    let thread = spawn(move || theirs.push(1));
    mine.push(2);
    thread.join().unwrap();
    let mut values = [mine.pop(), mine.pop()];
    values.sort_unstable();
    assert_eq!(values, [Some(1), Some(2)]); //~ bug of linked_by_a_store
    assert_eq!(mine.pop(), None);
}

fn a_push_and_a_pop<const LEFT_OUT: u8>() {
    let (mine, theirs) = two::<Queue<LEFT_OUT>>();
    let thread = spawn(move || theirs.push(1));
    let value = mine.pop();
    thread.join().unwrap();
    assert_eq!(value.or_else(|| mine.pop()), Some(1));
}

fn two_pops<const LEFT_OUT: u8>() {
    let (mine, theirs) = two::<Queue<LEFT_OUT>>();
    mine.push(1);
    mine.push(2);
    let thread = spawn(move || theirs.pop());
    let mut values = [mine.pop(), thread.join().unwrap()];
    values.sort_unstable();
    assert_eq!(values, [Some(1), Some(2)]); //~ bug of taken_by_a_store
}

//@ passed memory-model-sc
#[test]
fn queue_of_two_pushes() {
    two_pushes::<0>();
}

// Four: the pop finds nothing, an element behind a tail that it moves, or fails to, or all in order.
//@ passed memory-model-sc
//@ executions <= 5
#[test]
fn queue_of_a_push_and_a_pop() {
    a_push_and_a_pop::<0>();
}

//@ passed memory-model-sc
#[test]
fn queue_of_two_pops() {
    two_pops::<0>();
}

//@ passed memory-model-sc
//@ with --leaks passed memory-model-sc
#[test]
fn queue_keeps_the_order() {
    let (mine, theirs) = two::<Queue<0>>();
    let thread = spawn(move || {
        theirs.push(1);
        theirs.push(2);
    });
    let values = [mine.pop(), mine.pop()];
    assert!([[None, None], [None, Some(1)], [Some(1), None], [Some(1), Some(2)]].contains(&values));
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn linked_by_a_store() {
    two_pushes::<1>();
}

//@ failed data-race
#[test]
fn published_relaxed() {
    a_push_and_a_pop::<2>();
}

//@ failed use-after-free|data-race
#[test]
fn freed_by_the_pop() {
    two_pops::<3>();
}

//@ failed panic
#[test]
fn taken_by_a_store() {
    two_pops::<4>();
}

/// A cell of Vyukov's queue: its number says whose turn it is.
struct Cell {
    number: AtomicUsize,
    value: Shared<usize>,
}

/// Vyukov's bounded queue, for two.
struct Ring<const LEFT_OUT: u8> {
    cells: [Cell; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl<const LEFT_OUT: u8> Default for Ring<LEFT_OUT> {
    fn default() -> Self {
        let cells =
            [0, 1].map(|number| Cell { number: AtomicUsize::new(number), value: Shared::new(0) });
        Self { cells, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }
}

impl<const LEFT_OUT: u8> Ring<LEFT_OUT> {
    /// The next place, claimed, where cells have the number of their place and `ahead` more; None if the next cell is not so far.
    fn claim(&self, end: &AtomicUsize, ahead: usize) -> Option<usize> {
        loop {
            let place = end.load(Relaxed);
            let order = if LEFT_OUT == 4 { Relaxed } else { Acquire };
            let number = self.cells[place % 2].number.load(order);
            if number < place + ahead {
                return None;
            }
            if LEFT_OUT == 1 {
                end.store(place + 1, Relaxed);
                return Some(place);
            }
            if number == place + ahead
                && end.compare_exchange(place, place + 1, Relaxed, Relaxed).is_ok()
            {
                return Some(place);
            }
        }
    }

    fn push(&self, value: usize) -> bool {
        let Some(place) = self.claim(&self.tail, 0) else { return false };
        let cell = &self.cells[place % 2];
        if LEFT_OUT == 2 {
            cell.number.store(place + 1, Release);
        }
        unsafe { *cell.value.ptr() = value }; //~ bug of ring_claimed_by_a_store, ring_says_too_early, ring_reads_its_number_relaxed, ring_gives_back_too_early
        if LEFT_OUT != 2 {
            cell.number.store(place + 1, Release);
        }
        true
    }

    fn pop(&self) -> Option<usize> {
        let place = self.claim(&self.head, 1)?;
        let cell = &self.cells[place % 2];
        if LEFT_OUT == 3 {
            cell.number.store(place + 2, Release);
        }
        let value = unsafe { *cell.value.ptr() };
        if LEFT_OUT != 3 {
            cell.number.store(place + 2, Release);
        }
        Some(value)
    }
}

fn two_producers<const LEFT_OUT: u8>() {
    let (mine, theirs) = two::<Ring<LEFT_OUT>>();
    let thread = spawn(move || assert!(theirs.push(1)));
    assert!(mine.push(2));
    thread.join().unwrap();
    assert!(!mine.push(3));
    assert_eq!(mine.pop().unwrap() + mine.pop().unwrap(), 3);
    assert_eq!(mine.pop(), None);
}

fn a_producer_and_a_consumer<const LEFT_OUT: u8>() {
    let (mine, theirs) = two::<Ring<LEFT_OUT>>();
    assert!(mine.push(1) && mine.push(2));
    let thread = spawn(move || theirs.push(3));
    assert_eq!(mine.pop(), Some(1));
    assert_eq!(mine.pop(), Some(2));
    let next = if thread.join().unwrap() { 3 } else { 4 };
    assert!(mine.push(4));
    assert_eq!(mine.pop(), Some(next));
}

//@ passed memory-model-sc
#[test]
fn ring_of_two_producers() {
    two_producers::<0>();
}

//@ passed memory-model-sc
#[test]
fn ring_of_a_producer_and_a_consumer() {
    a_producer_and_a_consumer::<0>();
}

//@ passed memory-model-sc
#[test]
fn ring_of_two_consumers() {
    let (mine, theirs) = two::<Ring<0>>();
    assert!(mine.push(1) && mine.push(2));
    let thread = spawn(move || theirs.pop());
    let mut values = [mine.pop(), thread.join().unwrap()];
    values.sort_unstable();
    assert_eq!(values, [Some(1), Some(2)]);
}

//@ failed data-race
#[test]
fn ring_claimed_by_a_store() {
    two_producers::<1>();
}

//@ failed data-race
#[test]
fn ring_says_too_early() {
    let (mine, theirs) = two::<Ring<2>>();
    let thread = spawn(move || theirs.push(1));
    let value = mine.pop();
    assert!(value.is_none() || value == Some(1));
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn ring_gives_back_too_early() {
    a_producer_and_a_consumer::<3>();
}

//@ failed data-race
#[test]
fn ring_reads_its_number_relaxed() {
    a_producer_and_a_consumer::<4>();
}

/// Chase and Lev's deque: its owner pushes and pops at the bottom, thieves steal from the top. It has no more than four elements in all.
#[derive(Default)]
struct Deque<const LEFT_OUT: u8> {
    top: AtomicUsize,
    bottom: AtomicUsize,
    items: [Shared<usize>; 4],
    taken: [AtomicBool; 4],
}

impl<const LEFT_OUT: u8> Deque<LEFT_OUT> {
    fn push(&self, item: usize) {
        let bottom = self.bottom.load(Relaxed);
        unsafe { *self.items[bottom].ptr() = item }; //~ bug of deque_pushes_relaxed
        self.bottom.store(bottom + 1, if LEFT_OUT == 1 { Relaxed } else { Release });
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed);
        if bottom == 0 {
            return None;
        }
        let last = bottom - 1;
        let early = self.top.load(SeqCst);
        self.bottom.store(last, SeqCst);
        let top = if LEFT_OUT == 2 { early } else { self.top.load(SeqCst) };
        if top > last {
            self.bottom.store(bottom, Relaxed);
            return None;
        }
        let item = unsafe { *self.items[last].ptr() };
        if top < last || LEFT_OUT == 3 {
            return Some(item);
        }
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom, Relaxed);
        won.then_some(item)
    }

    fn steal(&self) -> Option<usize> {
        let early = self.bottom.load(SeqCst);
        let top = self.top.load(SeqCst);
        let bottom = if LEFT_OUT == 4 { early } else { self.bottom.load(SeqCst) };
        if top >= bottom {
            return None;
        }
        let item = unsafe { *self.items[top].ptr() }; //~ bug of deque_pushes_relaxed
        if LEFT_OUT == 5 {
            self.top.store(top + 1, SeqCst);
            return Some(item);
        }
        self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok().then_some(item)
    }

    /// Nobody else has taken it.
    fn take(&self, item: Option<usize>) {
        if let Some(item) = item {
            assert!(!self.taken[item].swap(true, Relaxed)); //~ bug of deque_looks_at_the_top_too_early, deque_takes_its_last_for_granted, deque_looks_at_the_bottom_too_early, deque_steals_by_a_store
        }
    }

    /// How many were taken.
    fn all_taken(&self) -> usize {
        self.taken.iter().filter(|taken| taken.load(Relaxed)).count()
    }
}

/// Its owner pushes and pops so many elements beside thieves.
fn owner_and_thieves<const LEFT_OUT: u8>(elements: usize, thieves: usize) {
    let deque = Arc::new(Deque::<LEFT_OUT>::default());
    (0..elements).for_each(|item| deque.push(item));
    let steal = |_| {
        let deque = Arc::clone(&deque);
        spawn(move || deque.take(deque.steal()))
    };
    let thieves: Vec<_> = (0..thieves).map(steal).collect();
    (0..elements).for_each(|_| deque.take(deque.pop()));
    for thief in thieves {
        thief.join().unwrap();
    }
    assert_eq!(deque.all_taken(), elements);
}

//@ passed memory-model-sc
#[test]
fn deque_of_one_and_a_thief() {
    owner_and_thieves::<0>(1, 1);
}

//@ passed memory-model-sc
#[test]
fn deque_of_two_and_a_thief() {
    owner_and_thieves::<0>(2, 1);
}

//@ passed memory-model-sc
#[test]
fn deque_of_two_and_two_thieves() {
    owner_and_thieves::<0>(2, 2);
}

//@ passed memory-model-sc
#[test]
fn deque_that_is_filled_meanwhile() {
    let (mine, theirs) = two::<Deque<0>>();
    let thread = spawn(move || theirs.take(theirs.steal()));
    mine.push(0);
    mine.push(1);
    mine.take(mine.pop());
    thread.join().unwrap();
    mine.take(mine.pop());
    assert_eq!(mine.all_taken(), 2);
}

//@ failed data-race
#[test]
fn deque_pushes_relaxed() {
    let (mine, theirs) = two::<Deque<1>>();
    let thread = spawn(move || theirs.take(theirs.steal()));
    mine.push(0);
    thread.join().unwrap();
}

//@ failed panic
#[test]
fn deque_looks_at_the_top_too_early() {
    owner_and_thieves::<2>(2, 2);
}

//@ failed panic
#[test]
fn deque_takes_its_last_for_granted() {
    owner_and_thieves::<3>(1, 1);
}

//@ failed panic
#[test]
fn deque_looks_at_the_bottom_too_early() {
    owner_and_thieves::<4>(2, 1);
}

//@ failed panic
#[test]
fn deque_steals_by_a_store() {
    owner_and_thieves::<5>(2, 2);
}
