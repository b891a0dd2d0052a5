//! Atomic accesses of different sizes to common bytes: undefined behaviour where nothing orders them and one writes.

use crate::shared::Shared;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32};
use std::sync::{Mutex, PoisonError};
use std::thread::{scope, spawn};

/// Four bytes, which are operated on in the whole and in parts.
#[derive(Default)]
struct Parts(Shared<u32>);

impl Parts {
    fn whole(&self) -> &AtomicU32 {
        // SAFETY: the memory is there, and aligned for it.
        unsafe { AtomicU32::from_ptr(self.0.ptr()) }
    }

    fn half(&self, number: usize) -> &AtomicU16 {
        // SAFETY: as above.
        unsafe { AtomicU16::from_ptr(self.0.ptr().cast::<u16>().add(number)) }
    }

    fn byte(&self, number: usize) -> &AtomicU8 {
        // SAFETY: as above.
        unsafe { AtomicU8::from_ptr(self.0.ptr().cast::<u8>().add(number)) }
    }
}

//@ failed data-race
//@ with --search=dpor failed data-race
//@ with --search=naive failed data-race
//@ with --search=bounded failed data-race
//@ with --search=sample failed data-race
//@ with --search=states passed data-races
#[test]
fn a_store_of_a_half_and_one_of_a_byte() {
    let parts = Arc::new(Parts::default());
    let other = Arc::clone(&parts);
    let thread = spawn(move || other.half(0).store(0x0101, SeqCst)); //~ bug
    parts.byte(1).store(2, SeqCst); //~ bug
    thread.join().unwrap();
}

//@ failed data-race
//@ with --search=dpor failed data-race
//@ with --search=naive failed data-race
//@ with --search=bounded failed data-race
//@ with --search=sample failed data-race
//@ with --search=states passed data-races
#[test]
fn a_store_of_a_byte_and_a_load_of_the_whole() {
    let parts = Parts::default();
    scope(|scope| {
        scope.spawn(|| parts.byte(3).store(1, Relaxed)); //~ bug
        parts.whole().load(Relaxed); //~ bug
    });
}

//@ failed data-race
#[test]
fn an_update_of_the_whole_and_a_load_of_a_half() {
    let parts = Parts::default();
    scope(|scope| {
        scope.spawn(|| parts.whole().fetch_add(1, SeqCst)); //~ bug
        parts.half(1).load(SeqCst); //~ bug
    });
}

// What reads a half of what was released learns nothing from that: such a read is the race.
//@ failed data-race
#[test]
fn a_byte_that_tells_of_a_released_half() {
    let (parts, data) = (Parts::default(), Shared::new(0));
    scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.ptr() = 1 };
            parts.half(0).store(0x0101, Release); //~ bug
        });
        while parts.byte(0).load(Acquire) == 0 {} //~ bug
    });
}

//@ verified
#[test]
fn loads_of_all_sizes() {
    let parts = Parts::default();
    parts.whole().store(0x0101_0101, Relaxed);
    scope(|scope| {
        scope.spawn(|| assert_eq!(parts.half(1).load(SeqCst), 0x0101));
        scope.spawn(|| assert_eq!(parts.byte(2).load(SeqCst), 1));
        assert_eq!(parts.whole().load(SeqCst), 0x0101_0101);
    });
    parts.byte(0).store(0, SeqCst);
    assert_eq!(parts.half(0).load(SeqCst), 0x0100);
}

//@ verified
#[test]
fn parts_that_do_not_overlap() {
    let parts = Parts::default();
    scope(|scope| {
        scope.spawn(|| parts.half(0).store(1, SeqCst));
        scope.spawn(|| parts.byte(2).store(1, SeqCst));
        parts.byte(3).store(1, SeqCst);
    });
    assert_eq!(parts.whole().load(SeqCst), 0x0101_0001);
}

//@ clean
#[test]
fn sizes_that_a_lock_keeps_apart() {
    let (parts, lock) = (Parts::default(), Mutex::new(()));
    scope(|scope| {
        scope.spawn(|| {
            let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
            parts.half(0).store(0x0303, Relaxed);
        });
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        parts.byte(0).store(1, Relaxed);
        parts.whole().fetch_or(0x0100, Relaxed);
    });
}

//@ clean
#[test]
fn a_flag_orders_two_sizes() {
    let (parts, ready) = (Parts::default(), AtomicBool::new(false));
    scope(|scope| {
        scope.spawn(|| {
            parts.half(0).store(0x0101, Relaxed);
            ready.store(true, Release);
        });
        if ready.load(Acquire) {
            assert_eq!(parts.byte(0).fetch_add(1, Relaxed), 1);
        }
    });
}

//@ failed data-race
#[test]
fn a_flag_that_orders_no_two_sizes() {
    let (parts, ready) = (Parts::default(), AtomicBool::new(false));
    scope(|scope| {
        scope.spawn(|| {
            parts.half(0).store(0x0101, Relaxed); //~ bug
            ready.store(true, Relaxed);
        });
        if ready.load(Relaxed) {
            parts.byte(0).fetch_add(1, Relaxed); //~ bug
        }
    });
}
