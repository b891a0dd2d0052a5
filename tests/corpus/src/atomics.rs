//! Atomic operations of every kind and size, and the counts that exploring them takes.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
use std::thread::spawn;

//@ verified
//@ executions = 3
#[test]
fn store_buffering() {
    let flags = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let other = Arc::clone(&flags);
    let thread = spawn(move || {
        other.0.store(1, SeqCst);
        other.1.load(SeqCst)
    });
    flags.1.store(1, SeqCst);
    let mine = flags.0.load(SeqCst);
    assert!(mine + thread.join().unwrap() > 0);
}

//@ passed memory-model-sc
//@ executions = 3
#[test]
fn relaxed_store_buffering() {
    let flags = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let other = Arc::clone(&flags);
    let thread = spawn(move || {
        other.0.store(1, Relaxed);
        other.1.load(Relaxed)
    });
    flags.1.store(1, Relaxed);
    let mine = flags.0.load(Relaxed);
    assert!(mine + thread.join().unwrap() <= 2);
}

//@ verified
//@ executions = 1
#[test]
fn readers_alone_need_one_execution() {
    let value = Arc::new(AtomicU32::new(3));
    let other = Arc::clone(&value);
    let thread = spawn(move || other.load(SeqCst));
    assert_eq!(value.load(SeqCst), 3);
    assert_eq!(thread.join().unwrap(), 3);
}

//@ verified
//@ executions = 2
#[test]
fn two_additions() {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || other.fetch_add(1, SeqCst));
    let before = count.fetch_add(1, SeqCst);
    assert_eq!(before + thread.join().unwrap(), 1);
    assert_eq!(count.load(SeqCst), 2);
}

//@ verified
//@ executions = 6
#[test]
fn three_additions() {
    let count = Arc::new(AtomicU32::new(0));
    let threads = [(); 3].map(|()| {
        let count = Arc::clone(&count);
        spawn(move || count.fetch_add(1, SeqCst))
    });
    let sum: u32 = threads.map(|thread| thread.join().unwrap()).iter().sum();
    assert_eq!(sum, 3);
}

//@ failed panic
#[test]
fn an_update_in_two_halves() {
    let count = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&count);
    let thread = spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    count.store(count.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    assert_eq!(count.load(SeqCst), 2); //~ bug
}

//@ failed panic
#[test]
fn check_then_act() {
    let seats = Arc::new(AtomicU32::new(1));
    let other = Arc::clone(&seats);
    let thread = spawn(move || other.load(SeqCst) > 0 && other.fetch_sub(1, SeqCst) > 0);
    if seats.load(SeqCst) > 0 {
        assert_eq!(seats.fetch_sub(1, SeqCst), 1); //~ bug
    }
    thread.join().unwrap();
}

//@ verified
#[test]
fn an_exchange_loop() {
    let count = Arc::new(AtomicU32::new(0));
    let add = |count: &AtomicU32| {
        let mut seen = count.load(SeqCst);
        while let Err(now) = count.compare_exchange(seen, seen + 1, SeqCst, SeqCst) {
            seen = now;
        }
    };
    let other = Arc::clone(&count);
    let thread = spawn(move || add(&other));
    add(&count);
    thread.join().unwrap();
    assert_eq!(count.load(SeqCst), 2);
}

//@ clean
#[test]
fn a_weak_exchange_loop() {
    let count = Arc::new(AtomicU32::new(1));
    let other = Arc::clone(&count);
    let thread = spawn(move || other.fetch_update(SeqCst, SeqCst, |n| Some(n * 3)));
    count.fetch_update(SeqCst, SeqCst, |n| Some(n * 5)).unwrap();
    thread.join().unwrap().unwrap();
    assert_eq!(count.load(SeqCst), 15);
}

//@ verified
//@ executions = 2
#[test]
fn one_exchange_wins() {
    let owner = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&owner);
    let thread = spawn(move || other.compare_exchange(0, 1, SeqCst, SeqCst).is_ok());
    let mine = owner.compare_exchange(0, 2, SeqCst, SeqCst).is_ok();
    assert!(mine != thread.join().unwrap());
    assert_eq!(owner.load(SeqCst), if mine { 2 } else { 1 });
}

//@ verified
//@ executions = 1
#[test]
fn every_operation() {
    let value = Arc::new(AtomicU32::new(0b1100));
    let other = Arc::clone(&value);
    let thread = spawn(move || {
        assert_eq!(other.fetch_or(0b0011, SeqCst), 0b1100);
        assert_eq!(other.fetch_and(0b0110, SeqCst), 0b1111);
        assert_eq!(other.fetch_xor(0b0101, SeqCst), 0b0110);
        assert_eq!(other.fetch_nand(0b0010, SeqCst), 0b0011);
        assert_eq!(other.fetch_min(9, SeqCst), !0b0010);
        assert_eq!(other.fetch_max(12, SeqCst), 9);
        assert_eq!(other.fetch_sub(2, SeqCst), 12);
        assert_eq!(other.fetch_add(3, SeqCst), 10);
        assert_eq!(other.swap(1, SeqCst), 13);
        assert_eq!(other.compare_exchange(2, 3, SeqCst, SeqCst), Err(1));
    });
    thread.join().unwrap();
    assert_eq!(Arc::into_inner(value).unwrap().into_inner(), 1);
}

//@ verified
#[test]
fn every_size() {
    let values = Arc::new((
        (AtomicU8::new(255), AtomicU16::new(65535), AtomicU32::new(0), AtomicU64::new(1 << 40)),
        (AtomicI8::new(-128), AtomicI16::new(-1), AtomicI32::new(-5), AtomicI64::new(i64::MIN)),
        (AtomicUsize::new(1), AtomicIsize::new(-1), AtomicBool::new(false)),
    ));
    let other = Arc::clone(&values);
    let thread = spawn(move || {
        let (unsigned, signed, sized) = &*other;
        assert_eq!(unsigned.0.fetch_add(1, SeqCst), 255);
        assert_eq!(unsigned.1.fetch_add(1, SeqCst), 65535);
        assert_eq!(unsigned.2.fetch_sub(1, SeqCst), 0);
        assert_eq!(unsigned.3.swap(3, SeqCst), 1 << 40);
        assert_eq!(signed.0.fetch_sub(1, SeqCst), -128);
        assert_eq!(signed.1.fetch_max(4, SeqCst), -1);
        assert_eq!(signed.2.fetch_min(-7, SeqCst), -5);
        assert_eq!(signed.3.compare_exchange(i64::MIN, 0, SeqCst, SeqCst), Ok(i64::MIN));
        assert_eq!(sized.0.fetch_or(6, SeqCst), 1);
        assert_eq!(sized.1.fetch_and(1, SeqCst), -1);
        assert!(!sized.2.fetch_not(SeqCst));
    });
    thread.join().unwrap();
    let (unsigned, signed, sized) = &*values;
    assert_eq!((unsigned.0.load(SeqCst), unsigned.1.load(SeqCst)), (0, 0));
    assert_eq!((unsigned.2.load(SeqCst), unsigned.3.load(SeqCst)), (u32::MAX, 3));
    assert_eq!((signed.0.load(SeqCst), signed.1.load(SeqCst)), (127, 4));
    assert_eq!((signed.2.load(SeqCst), signed.3.load(SeqCst)), (-7, 0));
    assert_eq!((sized.0.load(SeqCst), sized.1.load(SeqCst)), (7, 1));
    assert!(sized.2.load(SeqCst));
}

//@ clean
#[test]
fn a_pointer_swapped() {
    let slot = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(1))));
    let other = Arc::clone(&slot);
    let swap = |slot: &AtomicPtr<u32>, value| {
        // SAFETY: every pointer in the slot comes from a box, and a swap hands it to one thread only.
        *unsafe { Box::from_raw(slot.swap(Box::into_raw(Box::new(value)), SeqCst)) }
    };
    let thread = spawn(move || swap(&other, 2));
    let mine = swap(&slot, 3);
    let theirs = thread.join().unwrap();
    assert_eq!(mine + theirs + swap(&slot, 0), 6);
}
