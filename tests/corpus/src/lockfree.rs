//! Data structures without locks: right ones, and ones with an order or a check missing.

use crate::shared::Shared;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, fence};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

struct Node {
    value: u32,
    next: *mut Node,
}

/// A stack that never frees a node.
struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self, value: u32, order: std::sync::atomic::Ordering) {
        let node = Box::into_raw(Box::new(Node { value, next: null_mut() }));
        let mut head = self.0.load(Relaxed);
        loop {
            unsafe { (*node).next = head };
            match self.0.compare_exchange(head, node, order, Relaxed) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
    }

    fn pop(&self) -> Option<*mut Node> {
        let mut head = self.0.load(Acquire);
        loop {
            if head.is_null() {
                return None;
            }
            let next = unsafe { (*head).next };
            match self.0.compare_exchange(head, next, Acquire, Acquire) {
                Ok(_) => return Some(head),
                Err(now) => head = now,
            }
        }
    }
}

fn stack() -> (Arc<Stack>, Arc<Stack>) {
    let stack = Arc::new(Stack(AtomicPtr::new(null_mut())));
    (Arc::clone(&stack), stack)
}

//@ passed memory-model-sc
#[test]
fn two_pushes_onto_a_stack() {
    let (mine, theirs) = stack();
    let thread = spawn(move || theirs.push(1, AcqRel));
    mine.push(2, AcqRel);
    thread.join().unwrap();
    let values = [mine.pop(), mine.pop()].map(|node| unsafe { (*node.unwrap()).value });
    assert_eq!(values.iter().sum::<u32>(), 3);
}

//@ passed memory-model-sc
#[test]
fn a_push_and_a_pop() {
    let (mine, theirs) = stack();
    let thread = spawn(move || theirs.push(1, Release));
    if let Some(node) = mine.pop() {
        assert_eq!(unsafe { (*node).value }, 1);
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_relaxed_push() {
    let (mine, theirs) = stack();
    let thread = spawn(move || theirs.push(1, Relaxed));
    if let Some(node) = mine.pop() {
        assert_eq!(unsafe { (*node).value }, 1);
    }
    thread.join().unwrap();
}

//@ failed use-after-free|data-race
//@ preemptions = 2
#[test]
fn a_node_freed_at_once() {
    let (mine, theirs) = stack();
    mine.push(1, Release);
    let thread = spawn(move || theirs.pop().is_some());
    if let Some(node) = mine.pop() {
        drop(unsafe { Box::from_raw(node) });
    }
    thread.join().unwrap();
}

/// A ring for one producer and one consumer.
struct Ring {
    items: [Shared<u32>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}

fn ring() -> (Arc<Ring>, Arc<Ring>) {
    let items = [Shared::new(0), Shared::new(0)];
    let ring = Arc::new(Ring { items, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) });
    (Arc::clone(&ring), ring)
}

//@ passed memory-model-sc
#[test]
fn a_ring() {
    let (mine, theirs) = ring();
    let thread = spawn(move || {
        for item in 1..=2 {
            let tail = theirs.tail.load(Relaxed);
            if tail - theirs.head.load(Acquire) < 2 {
                unsafe { *theirs.items[tail % 2].ptr() = item };
                theirs.tail.store(tail + 1, Release);
            }
        }
    });
    let head = mine.head.load(Relaxed);
    if head < mine.tail.load(Acquire) {
        assert_eq!(unsafe { *mine.items[head % 2].ptr() }, 1);
        mine.head.store(head + 1, Release);
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_ring_with_a_relaxed_tail() {
    let (mine, theirs) = ring();
    let thread = spawn(move || {
        unsafe { *theirs.items[0].ptr() = 1 }; //~ bug
        theirs.tail.store(1, Relaxed);
    });
    if mine.tail.load(Acquire) == 1 {
        assert_eq!(unsafe { *mine.items[0].ptr() }, 1); //~ bug
    }
    thread.join().unwrap();
}

/// Two numbers that belong together, and a sequence number that is odd while they change.
struct SeqLock {
    sequence: AtomicU32,
    pair: (AtomicU32, AtomicU32),
}

fn seq_lock() -> (Arc<SeqLock>, Arc<SeqLock>) {
    let pair = (AtomicU32::new(0), AtomicU32::new(0));
    let lock = Arc::new(SeqLock { sequence: AtomicU32::new(0), pair });
    (Arc::clone(&lock), lock)
}

impl SeqLock {
    fn write(&self, value: u32) {
        let sequence = self.sequence.load(Relaxed);
        self.sequence.store(sequence + 1, Relaxed);
        fence(Release);
        self.pair.0.store(value, Relaxed);
        self.pair.1.store(value, Relaxed);
        self.sequence.store(sequence + 2, Release);
    }
}

//@ passed memory-model-sc
//@ executions = 18
#[test]
fn a_sequence_lock() {
    let (mine, theirs) = seq_lock();
    let thread = spawn(move || theirs.write(1));
    let before = mine.sequence.load(Acquire);
    let pair = (mine.pair.0.load(Relaxed), mine.pair.1.load(Relaxed));
    fence(Acquire);
    let after = mine.sequence.load(Relaxed);
    if before % 2 == 0 && before == after {
        assert_eq!(pair.0, pair.1);
    }
    thread.join().unwrap();
}

//@ failed panic
//@ preemptions = 1
#[test]
fn a_sequence_lock_checked_once() {
    let (mine, theirs) = seq_lock();
    let thread = spawn(move || theirs.write(1));
    let before = mine.sequence.load(Acquire);
    let pair = (mine.pair.0.load(Relaxed), mine.pair.1.load(Relaxed));
    if before % 2 == 0 {
        assert_eq!(pair.0, pair.1); //~ bug
    }
    thread.join().unwrap();
}

// An update reads the newest value, and each of these synchronises with the one before it: no pair is unordered.
//@ verified
//@ executions = 2
#[test]
fn the_first_pointer_wins() {
    let slot = Arc::new(AtomicPtr::new(null_mut()));
    let other = Arc::clone(&slot);
    let get = |slot: &AtomicPtr<u32>, value| {
        let mine = Box::into_raw(Box::new(value));
        match slot.compare_exchange(null_mut(), mine, AcqRel, Acquire) {
            Ok(_) => unsafe { *mine },
            Err(theirs) => {
                drop(unsafe { Box::from_raw(mine) });
                unsafe { *theirs }
            }
        }
    };
    let thread = spawn(move || get(&other, 1));
    let mine = get(&slot, 2);
    assert_eq!(thread.join().unwrap(), mine);
}

//@ passed memory-model-sc
#[test]
fn double_checked_locking() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let get = |(ready, lock, value): &(AtomicBool, Mutex<()>, Shared<u32>)| {
        if !ready.load(Acquire) {
            let _guard = lock.lock().unwrap();
            if !ready.load(Relaxed) {
                unsafe { *value.ptr() += 1 };
                ready.store(true, Release);
            }
        }
        unsafe { *value.ptr() }
    };
    let thread = spawn(move || get(&other));
    assert_eq!(get(&shared), 1);
    assert_eq!(thread.join().unwrap(), 1);
}

//@ failed data-race
#[test]
fn double_checked_locking_relaxed() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        let _guard = other.1.lock().unwrap();
        unsafe { *other.2.ptr() = 1 }; //~ bug
        other.0.store(true, Relaxed);
    });
    if shared.0.load(Relaxed) {
        assert_eq!(unsafe { *shared.2.ptr() }, 1); //~ bug
    }
    thread.join().unwrap();
}

/// A counted block, as Arc has it inside.
struct Counted {
    count: AtomicU32,
    value: Shared<u32>,
}

//@ passed memory-model-sc
#[test]
fn a_count_that_frees() {
    let block = Box::leak(Box::new(Counted { count: AtomicU32::new(2), value: Shared::new(5) }));
    let block: &Counted = block;
    let leave = |block: &Counted| {
        assert!(unsafe { *block.value.ptr() } == 5);
        if block.count.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            unsafe { *block.value.ptr() = 0 };
        }
    };
    let thread = spawn(move || leave(block));
    leave(block);
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_count_that_frees_without_a_fence() {
    let block = Box::leak(Box::new(Counted { count: AtomicU32::new(2), value: Shared::new(5) }));
    let block: &Counted = block;
    let leave = |block: &Counted| {
        assert!(unsafe { *block.value.ptr() } == 5); //~ bug
        if block.count.fetch_sub(1, Release) == 1 {
            unsafe { *block.value.ptr() = 0 }; //~ bug
        }
    };
    let thread = spawn(move || leave(block));
    leave(block);
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn a_swap_elects_one() {
    let shared = Arc::new((AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&shared);
    let claim = |(taken, value): &(AtomicBool, Shared<u32>)| {
        if !taken.swap(true, SeqCst) {
            unsafe { *value.ptr() += 1 };
        }
    };
    let thread = spawn(move || claim(&other));
    claim(&shared);
    thread.join().unwrap();
    assert_eq!(unsafe { *shared.1.ptr() }, 1);
}
