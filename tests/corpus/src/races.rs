//! Data races on plain memory, of every width and kind of access.

use crate::shared::Shared;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

static mut COUNT: u32 = 0;

//@ failed data-race
#[test]
fn two_writes() {
    let cell = Arc::new(Shared::new(0));
    let other = Arc::clone(&cell);
    let thread = spawn(move || unsafe { *other.ptr() = 1 }); //~ bug
    unsafe { *cell.ptr() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_read_and_a_write() {
    let cell = Arc::new(Shared::new(0));
    let other = Arc::clone(&cell);
    let thread = spawn(move || unsafe { *other.ptr() }); //~ bug
    unsafe { *cell.ptr() = 2 }; //~ bug
    assert!(thread.join().unwrap() <= 2);
}

//@ verified
//@ executions = 1
#[test]
fn two_reads() {
    let cell = Arc::new(Shared::new(5));
    let other = Arc::clone(&cell);
    let thread = spawn(move || unsafe { *other.ptr() });
    assert_eq!(unsafe { *cell.ptr() }, 5);
    assert_eq!(thread.join().unwrap(), 5);
}

//@ verified
//@ executions = 1
#[test]
fn a_write_before_spawn_and_one_after_join() {
    let cell = Arc::new(Shared::new(0));
    let other = Arc::clone(&cell);
    unsafe { *cell.ptr() = 1 };
    let thread = spawn(move || unsafe { *other.ptr() += 1 });
    thread.join().unwrap();
    unsafe { *cell.ptr() += 1 };
    assert_eq!(unsafe { *cell.ptr() }, 3);
}

//@ failed data-race
#[test]
fn a_static_mut() {
    let thread = spawn(|| unsafe { COUNT += 1 }); //~ bug
    unsafe { COUNT += 1 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn protected_by_two_different_locks() {
    let shared = Arc::new((Mutex::new(()), Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        let _guard = other.0.lock().unwrap();
        unsafe { *other.2.ptr() += 1 }; //~ bug
    });
    let guard = shared.1.lock().unwrap();
    unsafe { *shared.2.ptr() += 1 }; //~ bug
    drop(guard);
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn ordered_by_the_lock_in_some_orders_only() {
    let shared = Arc::new((Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        unsafe { *other.1.ptr() = 1 }; //~ bug
        drop(other.0.lock().unwrap());
    });
    drop(shared.0.lock().unwrap());
    unsafe { *shared.1.ptr() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_word_and_a_byte_inside_it() {
    let word = Arc::new(Shared::new(0_u32));
    let other = Arc::clone(&word);
    let thread = spawn(move || unsafe { *other.ptr().cast::<u8>().add(2) = 1 }); //~ bug
    unsafe { *word.ptr() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn an_atomic_written_plainly() {
    let value = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&value);
    let thread = spawn(move || other.store(1, SeqCst)); //~ bug
    unsafe { *value.as_ptr() = 2 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_copy_of_a_block() {
    let block = Arc::new(Shared::new([0_u64; 16]));
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { (*other.ptr())[9] = 1 }); //~ bug
    let copy = unsafe { *block.ptr() }; //~ bug
    assert_eq!(copy[0], 0);
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_write_behind_spawn() {
    let cell = Arc::new(Shared::new(0));
    let other = Arc::clone(&cell);
    let thread = spawn(move || assert!(unsafe { *other.ptr() } < 9)); //~ bug
    unsafe { *cell.ptr() = 1 }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_shared_cell() {
    let cell = Arc::new(Shared::new(Cell::new(0)));
    let other = Arc::clone(&cell);
    let thread = spawn(move || unsafe { (*other.ptr()).set(1) }); //~ bug
    unsafe { (*cell.ptr()).set(2) }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_shared_ref_cell() {
    let cell = Arc::new(Shared::new(RefCell::new(0)));
    let other = Arc::clone(&cell);
    let thread = spawn(move || unsafe { (*other.ptr()).replace(1) }); //~ bug
    unsafe { (*cell.ptr()).replace(2) }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_vector_pushed_by_two() {
    let items = Arc::new(Shared::new(Vec::with_capacity(4)));
    let other = Arc::clone(&items);
    let thread = spawn(move || unsafe { (*other.ptr()).push(1) }); //~ bug
    unsafe { (*items.ptr()).push(2) }; //~ bug
    thread.join().unwrap();
}

//@ failed data-race|use-after-free
#[test]
fn freed_while_the_other_reads() {
    let block = Arc::new(Shared::new(Box::into_raw(Box::new(3))));
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { **other.ptr() }); //~ bug
    drop(unsafe { Box::from_raw(*block.ptr()) });
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_borrowed_local_outlived() {
    let mut local = 0_u32;
    let pointer = Arc::new(Shared::new(&raw mut local));
    let other = Arc::clone(&pointer);
    let thread = spawn(move || unsafe { **other.ptr() = 1 }); //~ bug
    local += 2; //~ bug
    thread.join().unwrap();
    assert!(local <= 3);
}
