//! Blocks of memory whose address reaches other threads by something that orders nothing: their allocation is an access.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;

type Words = [u64; 4];

const LAYOUT: Layout = Layout::new::<Words>();

/// One thread makes a block and stores its address with the first order; the other one, which loads it with the second, if it is there,
/// does with it what is to be done.
fn pass(orders: (Ordering, Ordering), makes: impl Fn() -> *mut u8 + Sync, with: impl Fn(*mut u8)) {
    let slot = AtomicPtr::new(null_mut());
    scope(|scope| {
        scope.spawn(|| slot.store(makes(), orders.0));
        let block = slot.load(orders.1);
        if !block.is_null() {
            with(block);
        }
    });
    // What nobody has taken is lost.
}

const WEAK: (Ordering, Ordering) = (Relaxed, Relaxed);
const STRONG: (Ordering, Ordering) = (Release, Acquire);

fn zeroed() -> *mut u8 {
    unsafe { alloc_zeroed(LAYOUT) } //~ bug of zeroed_memory_is_updated
}

fn fresh() -> *mut u8 {
    unsafe { alloc(LAYOUT) } //~ bug of a_block_is_freed, a_block_is_written, half_of_a_block_is_written_by_its_maker
}

fn grown() -> *mut u8 {
    unsafe { realloc(zeroed(), LAYOUT, 2 * LAYOUT.size()) } //~ bug of what_has_grown_is_read
}

fn free(block: *mut u8) {
    unsafe { dealloc(block, LAYOUT) } //~ bug of a_block_is_freed
}

fn read(block: *mut u8) {
    assert_eq!(unsafe { *block.add(8) }, 0); //~ bug of zeroed_memory_is_read
}

fn read_behind(block: *mut u8) {
    let _ = unsafe { block.add(LAYOUT.size()).read() }; //~ bug of what_has_grown_is_read
}

fn write(block: *mut u8) {
    unsafe { *block.cast::<Words>() = [1; 4] };
}

fn update(block: *mut u8) {
    let flag = unsafe { AtomicBool::from_ptr(block.cast()) };
    assert!(!flag.swap(true, Relaxed)); //~ bug of zeroed_memory_is_updated
}

//@ failed data-race
//@ with --search=dpor failed data-race
//@ with --search=naive failed data-race
//@ with --search=bounded failed data-race
//@ with --search=sample failed data-race
//@ with --search=states passed data-races
//@ with --reuse failed data-race
#[test]
fn zeroed_memory_is_read() {
    pass(WEAK, zeroed, read);
}

//@ failed data-race
//@ with --search=dpor failed data-race
//@ with --search=states passed data-races
//@ with --reuse failed data-race
#[test]
fn a_block_is_freed() {
    pass(WEAK, fresh, free);
}

//@ failed data-race
#[test]
fn a_block_is_written() {
    pass(WEAK, fresh, write);
}

//@ failed data-race
#[test]
fn zeroed_memory_is_updated() {
    pass(WEAK, zeroed, update);
}

//@ failed data-race
#[test]
fn what_has_grown_is_read() {
    pass(WEAK, grown, read_behind);
}

//@ clean
//@ with --search=dpor clean
//@ with --reuse clean
#[test]
fn zeroed_memory_is_read_behind_an_acquire() {
    pass(STRONG, zeroed, read);
}

//@ clean
//@ with --search=dpor clean
//@ with --reuse clean
#[test]
fn a_block_is_freed_behind_an_acquire() {
    pass(STRONG, fresh, free);
}

//@ clean
#[test]
fn a_block_is_written_behind_an_acquire() {
    pass(STRONG, fresh, write);
    pass(STRONG, zeroed, update);
}

// What the maker wrote is ordered no more than the allocation, of which nothing is told beside that.
//@ failed data-race
#[test]
fn half_of_a_block_is_written_by_its_maker() {
    let make = || {
        let block = fresh();
        unsafe { block.write(1) };
        block
    };
    pass(WEAK, make, |block| unsafe { block.add(16).write(1) }); //~ bug
}

// A block that comes back is another one: its second life begins where it is allocated again.
//@ failed data-race
//@ with --reuse failed data-race
#[test]
fn a_block_that_comes_back() {
    let (slot, ready) = (AtomicPtr::new(null_mut()), AtomicBool::new(false));
    scope(|scope| {
        scope.spawn(|| {
            free(zeroed());
            ready.store(true, Release);
            slot.store(unsafe { alloc_zeroed(LAYOUT) }, Relaxed); //~ bug
        });
        if ready.load(Acquire) {
            let block = slot.load(Relaxed);
            if !block.is_null() {
                let _ = unsafe { block.add(8).read() }; //~ bug
            }
        }
    });
}

//@ clean
//@ with --reuse clean
#[test]
fn a_block_that_comes_back_behind_an_acquire() {
    let slot = AtomicPtr::new(null_mut());
    scope(|scope| {
        scope.spawn(|| {
            free(zeroed());
            slot.store(zeroed(), Release);
        });
        let block = slot.load(Acquire);
        if !block.is_null() {
            read(block);
            free(block);
        }
    });
}

//@ verified
#[test]
fn a_block_that_is_handed_over_under_a_lock() {
    let slot = Mutex::new(None);
    let take = || slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    scope(|scope| {
        scope.spawn(|| {
            let made: Vec<u32> = Vec::with_capacity(4);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
        });
        if let Some(mut made) = take() {
            made.push(1);
        }
    });
}

//@ verified
#[test]
fn blocks_from_before_the_first_thread() {
    let block = AtomicPtr::new(zeroed());
    scope(|scope| {
        scope.spawn(|| read(block.load(Relaxed)));
        read(block.load(Relaxed));
    });
    free(block.into_inner());
}
