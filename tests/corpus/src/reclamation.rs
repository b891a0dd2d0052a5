//! When what others may still look at is freed or written: hazard pointers, epochs, counted readers, grace periods, left-right, tags
//! against ABA; and each with steps left out.
//!
//! Steps have numbers. `Cell<0>` leaves none out, `Cell<N>` step N, or does it too early or too late.

use crate::shared::Shared;
use std::hint::spin_loop;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use std::thread::spawn;

/// A cell whose value readers look at while a writer replaces it.
trait Cell: Default + Send + Sync + 'static {
    fn read(&self) -> u32;
    fn replace(&self, value: u32);
}

/// A reader and a writer that replaces the value so often.
fn a_reader_and_a_writer<C: Cell>(times: u32) {
    let cell = Arc::new(C::default());
    let other = Arc::clone(&cell);
    let thread = spawn(move || assert!(other.read() <= times));
    (1..=times).for_each(|value| cell.replace(value));
    thread.join().unwrap();
    assert_eq!(cell.read(), times);
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        spin_loop();
    }
}

/// The value on the heap.
struct Value(AtomicPtr<u32>);

impl Default for Value {
    fn default() -> Self {
        Self(AtomicPtr::new(Box::into_raw(Box::new(0))))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        free(*self.0.get_mut());
    }
}

impl Value {
    fn swap(&self, value: u32) -> *mut u32 {
        self.0.swap(Box::into_raw(Box::new(value)), SeqCst)
    }
}

fn free(value: *mut u32) {
    drop(unsafe { Box::from_raw(value) });
}

/// A reader says what it looks at, and looks whether it is still there; the writer frees nothing that somebody looks at.
#[derive(Default)]
struct Hazard<const LEFT_OUT: u8> {
    value: Value,
    hazard: AtomicPtr<u32>,
}

impl<const LEFT_OUT: u8> Cell for Hazard<LEFT_OUT> {
    fn read(&self) -> u32 {
        let pointer = loop {
            let pointer = self.value.0.load(SeqCst);
            self.hazard.store(pointer, SeqCst);
            if LEFT_OUT == 1 || self.value.0.load(SeqCst) == pointer {
                break pointer;
            }
        };
        if LEFT_OUT == 2 {
            self.hazard.store(null_mut(), SeqCst);
        }
        let value = unsafe { *pointer }; //~ bug of hazard_without_a_second_look, hazard_given_up_too_early, hazard_that_nobody_asks_for
        self.hazard.store(null_mut(), if LEFT_OUT == 3 { Relaxed } else { SeqCst });
        value
    }

    fn replace(&self, value: u32) {
        if LEFT_OUT == 4 {
            until(|| self.hazard.load(SeqCst).is_null());
        }
        let old = self.value.swap(value);
        if LEFT_OUT != 4 {
            until(|| self.hazard.load(SeqCst) != old);
        }
        free(old);
    }
}

//@ verified
#[test]
fn hazard() {
    a_reader_and_a_writer::<Hazard<0>>(1);
}

//@ verified
#[test]
fn hazard_replaced_twice() {
    a_reader_and_a_writer::<Hazard<0>>(2);
}

//@ failed use-after-free|data-race
#[test]
fn hazard_without_a_second_look() {
    a_reader_and_a_writer::<Hazard<1>>(1);
}

//@ failed use-after-free|data-race
#[test]
fn hazard_given_up_too_early() {
    a_reader_and_a_writer::<Hazard<2>>(1);
}

//@ failed data-race
#[test]
fn hazard_given_up_relaxed() {
    a_reader_and_a_writer::<Hazard<3>>(1);
}

//@ failed use-after-free|data-race
#[test]
fn hazard_that_nobody_asks_for() {
    a_reader_and_a_writer::<Hazard<4>>(1);
}

/// A reader says in which epoch it came; what was replaced is freed two epochs later.
#[derive(Default)]
struct Epochs<const LEFT_OUT: u8> {
    value: Value,
    epoch: AtomicUsize,
    /// One more than the epoch of the reader that is inside.
    inside: AtomicUsize,
}

impl<const LEFT_OUT: u8> Epochs<LEFT_OUT> {
    /// Begins another epoch, when who is inside has seen this one.
    fn advance(&self) {
        let epoch = self.epoch.load(SeqCst);
        until(|| {
            let inside = self.inside.load(SeqCst);
            inside == 0 || inside == epoch + 1
        });
        self.epoch.store(epoch + 1, SeqCst);
    }
}

impl<const LEFT_OUT: u8> Cell for Epochs<LEFT_OUT> {
    fn read(&self) -> u32 {
        let early = self.value.0.load(SeqCst);
        self.inside.store(self.epoch.load(SeqCst) + 1, SeqCst);
        let pointer = if LEFT_OUT == 2 { early } else { self.value.0.load(SeqCst) };
        if LEFT_OUT == 3 {
            self.inside.store(0, SeqCst);
        }
        let value = unsafe { *pointer }; //~ bug of epochs_one_later, epochs_with_what_was_seen_before, epochs_left_too_early
        self.inside.store(0, SeqCst);
        value
    }

    fn replace(&self, value: u32) {
        let old = self.value.swap(value);
        self.advance();
        if LEFT_OUT != 1 {
            self.advance();
        }
        free(old);
    }
}

//@ verified
#[test]
fn epochs() {
    a_reader_and_a_writer::<Epochs<0>>(1);
}

// The reader may be in the epoch in which the value was replaced.
//@ failed use-after-free|data-race
#[test]
fn epochs_one_later() {
    a_reader_and_a_writer::<Epochs<1>>(1);
}

//@ failed use-after-free|data-race
#[test]
fn epochs_with_what_was_seen_before() {
    a_reader_and_a_writer::<Epochs<2>>(1);
}

//@ failed use-after-free|data-race
#[test]
fn epochs_left_too_early() {
    a_reader_and_a_writer::<Epochs<3>>(1);
}

/// Readers are counted; what was replaced is freed when there are none.
#[derive(Default)]
struct Counted<const LEFT_OUT: u8> {
    value: Value,
    readers: AtomicUsize,
}

impl<const LEFT_OUT: u8> Cell for Counted<LEFT_OUT> {
    fn read(&self) -> u32 {
        let early = self.value.0.load(SeqCst);
        self.readers.fetch_add(1, SeqCst);
        let pointer = if LEFT_OUT == 1 { early } else { self.value.0.load(SeqCst) };
        let value = unsafe { *pointer }; //~ bug of counted_too_late, counted_before_it_is_replaced
        self.readers.fetch_sub(1, if LEFT_OUT == 2 { Relaxed } else { SeqCst });
        value
    }

    fn replace(&self, value: u32) {
        if LEFT_OUT == 3 {
            until(|| self.readers.load(SeqCst) == 0);
        }
        let old = self.value.swap(value);
        if LEFT_OUT != 3 {
            until(|| self.readers.load(SeqCst) == 0);
        }
        free(old);
    }
}

//@ verified
#[test]
fn counted() {
    a_reader_and_a_writer::<Counted<0>>(1);
}

//@ verified
#[test]
fn counted_with_two_readers() {
    let cell = Arc::new(Counted::<0>::default());
    let threads = [(); 2].map(|()| {
        let cell = Arc::clone(&cell);
        spawn(move || assert!(cell.read() <= 1))
    });
    cell.replace(1);
    for thread in threads {
        thread.join().unwrap();
    }
}

//@ failed use-after-free|data-race
#[test]
fn counted_too_late() {
    a_reader_and_a_writer::<Counted<1>>(1);
}

//@ failed data-race
#[test]
fn counted_out_relaxed() {
    a_reader_and_a_writer::<Counted<2>>(1);
}

//@ failed use-after-free|data-race
#[test]
fn counted_before_it_is_replaced() {
    a_reader_and_a_writer::<Counted<3>>(1);
}

/// Readers are counted in one of two places, so that the writer need not wait for those that come later: a grace period ends when those of
/// both places have been waited for, one after the other.
#[derive(Default)]
struct Grace<const LEFT_OUT: u8> {
    value: Value,
    phase: AtomicUsize,
    readers: [AtomicUsize; 2],
}

impl<const LEFT_OUT: u8> Grace<LEFT_OUT> {
    fn flip(&self) {
        let phase = self.phase.load(SeqCst);
        if LEFT_OUT != 2 {
            self.phase.store(1 - phase, SeqCst);
        }
        until(|| self.readers[phase].load(SeqCst) == 0);
        if LEFT_OUT == 2 {
            self.phase.store(1 - phase, SeqCst);
        }
    }
}

impl<const LEFT_OUT: u8> Cell for Grace<LEFT_OUT> {
    fn read(&self) -> u32 {
        let readers = &self.readers[self.phase.load(SeqCst)];
        readers.fetch_add(1, SeqCst);
        let value = unsafe { *self.value.0.load(SeqCst) }; //~ bug of grace_of_one_flip
        readers.fetch_sub(1, SeqCst);
        value
    }

    fn replace(&self, value: u32) {
        let old = self.value.swap(value);
        self.flip();
        if LEFT_OUT != 1 {
            self.flip();
        }
        free(old);
    }
}

//@ verified
//@ executions = 6
#[test]
fn grace() {
    a_reader_and_a_writer::<Grace<0>>(1);
}

//@ verified
//@ executions = 15
#[test]
fn grace_replaced_twice() {
    a_reader_and_a_writer::<Grace<0>>(2);
}

// Once, one flip is enough.
//@ verified
//@ executions = 4
#[test]
fn grace_of_one_flip_replaced_once() {
    a_reader_and_a_writer::<Grace<1>>(1);
}

// The reader looked at the phase before the first flip, and counts itself behind it: the second looks at the other place.
//@ failed use-after-free|data-race
#[test]
fn grace_of_one_flip() {
    a_reader_and_a_writer::<Grace<1>>(2);
}

/// Two copies: readers look at the one, the writer writes the other, changes them, waits for the readers, and writes again.
#[derive(Default)]
struct LeftRight<const LEFT_OUT: u8> {
    copies: [Shared<u32>; 2],
    side: AtomicUsize,
    version: AtomicUsize,
    readers: [AtomicUsize; 2],
}

impl<const LEFT_OUT: u8> Cell for LeftRight<LEFT_OUT> {
    fn read(&self) -> u32 {
        let early = self.side.load(SeqCst);
        let readers = &self.readers[self.version.load(SeqCst)];
        readers.fetch_add(1, SeqCst);
        let side = if LEFT_OUT == 1 { early } else { self.side.load(SeqCst) };
        let value = unsafe { *self.copies[side].ptr() }; //~ bug of left_right_looks_before_it_is_counted, left_right_changes_before_it_writes, left_right_does_not_wait, left_right_waits_once
        readers.fetch_sub(1, SeqCst);
        value
    }

    fn replace(&self, value: u32) {
        let side = self.side.load(SeqCst);
        let copy = |side: usize| unsafe { *self.copies[side].ptr() = value }; //~ bug of left_right_looks_before_it_is_counted, left_right_changes_before_it_writes, left_right_does_not_wait, left_right_waits_once
        if LEFT_OUT == 2 {
            self.side.store(1 - side, SeqCst);
        }
        copy(1 - side);
        self.side.store(1 - side, SeqCst);
        let version = self.version.load(SeqCst);
        if LEFT_OUT != 4 {
            until(|| self.readers[1 - version].load(SeqCst) == 0);
        }
        self.version.store(1 - version, SeqCst);
        if LEFT_OUT != 3 {
            until(|| self.readers[version].load(SeqCst) == 0);
        }
        copy(side);
    }
}

//@ verified
#[test]
fn left_right() {
    a_reader_and_a_writer::<LeftRight<0>>(1);
}

//@ verified
#[test]
fn left_right_replaced_twice() {
    a_reader_and_a_writer::<LeftRight<0>>(2);
}

//@ failed data-race
#[test]
fn left_right_looks_before_it_is_counted() {
    a_reader_and_a_writer::<LeftRight<1>>(1);
}

//@ failed data-race
#[test]
fn left_right_changes_before_it_writes() {
    a_reader_and_a_writer::<LeftRight<2>>(1);
}

//@ failed data-race
#[test]
fn left_right_does_not_wait() {
    a_reader_and_a_writer::<LeftRight<3>>(1);
}

// Its first wait is for a reader that is late since the time before.
//@ failed data-race
#[test]
fn left_right_waits_once() {
    a_reader_and_a_writer::<LeftRight<4>>(2);
}

/// A stack of four numbered blocks, each with what its owner writes. Its head has a number that is one more after each change.
struct Tagged<const LEFT_OUT: u8> {
    head: AtomicU64,
    next: [AtomicU64; 5],
    blocks: [Shared<u32>; 5],
}

impl<const LEFT_OUT: u8> Default for Tagged<LEFT_OUT> {
    fn default() -> Self {
        let next = [0, 2, 3, 4, 0].map(AtomicU64::new);
        Self { head: AtomicU64::new(1), next, blocks: Default::default() }
    }
}

impl<const LEFT_OUT: u8> Tagged<LEFT_OUT> {
    /// The head behind a change: the block, and the number.
    fn changed(head: u64, block: u64) -> u64 {
        let number = (head >> 32) + u64::from(LEFT_OUT != 1);
        number << 32 | block
    }

    fn push(&self, block: usize) {
        loop {
            let head = self.head.load(SeqCst);
            self.next[block].store(head & 0xff, SeqCst);
            let new = Self::changed(head, block as u64);
            if self.head.compare_exchange(head, new, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> usize {
        loop {
            let head = self.head.load(SeqCst);
            let block = (head & 0xff) as usize;
            let next = self.next[block].load(SeqCst);
            let new = Self::changed(head, next);
            if self.head.compare_exchange(head, new, SeqCst, SeqCst).is_ok() {
                return block;
            }
        }
    }

    fn write(&self, block: usize) {
        unsafe { *self.blocks[block].ptr() += 1 }; //~ bug of a_stack_without_tags
    }
}

/// One pops two blocks and writes them, the other meanwhile two more, of which it gives the first back.
fn blocks_come_back<const LEFT_OUT: u8>() {
    let stack = Arc::new(Tagged::<LEFT_OUT>::default());
    let other = Arc::clone(&stack);
    let thread = spawn(move || {
        let [first, second] = [other.pop(), other.pop()];
        other.push(first);
        other.write(second);
    });
    stack.write(stack.pop());
    stack.write(stack.pop());
    thread.join().unwrap();
}

//@ verified
#[test]
fn a_stack_with_tags() {
    blocks_come_back::<0>();
}

//@ failed data-race
//@ preemptions = 1
#[test]
fn a_stack_without_tags() {
    blocks_come_back::<1>();
}
