//! Heap, statics and output: everything that programs do to memory without racing.

use crate::shared::Shared;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};
use std::thread::{scope, spawn};

static TABLE: [u32; 4] = [1, 2, 3, 4];
static mut COUNT: u32 = 0;

//@ verified
#[test]
fn growing_vectors() {
    let grow = || {
        let mut items = Vec::new();
        for item in 0..40_u64 {
            items.push(item);
        }
        items.shrink_to_fit();
        items.iter().sum::<u64>()
    };
    let thread = spawn(grow);
    assert_eq!(grow(), 780);
    assert_eq!(thread.join().unwrap(), 780);
}

//@ clean
#[test]
fn hash_maps() {
    let map = Arc::new(Mutex::new(HashMap::new()));
    let other = Arc::clone(&map);
    let thread = spawn(move || other.lock().unwrap().insert("theirs", 1));
    map.lock().unwrap().insert("mine", 2);
    thread.join().unwrap();
    let map = map.lock().unwrap();
    assert_eq!((map.len(), map["theirs"], map["mine"]), (2, 1, 2));
}

//@ verified
#[test]
fn strings_and_trees() {
    let thread = spawn(|| {
        let tree: BTreeMap<u32, String> = (0..12).map(|n| (n, format!("number {n}"))).collect();
        tree.into_values().collect::<Vec<_>>().join(", ").len()
    });
    assert_eq!(thread.join().unwrap(), 10 * 8 + 2 * 9 + 11 * 2);
}

//@ verified
#[test]
fn trait_objects() {
    type Job = Box<dyn FnOnce(u32) -> Box<dyn std::fmt::Display> + Send>;
    let job: Job = Box::new(|n| Box::new(n + 1));
    let thread = spawn(move || job(4).to_string());
    assert_eq!(thread.join().unwrap(), "5");
}

//@ verified
#[test]
fn reference_counting_inside_one_thread() {
    let thread = spawn(|| {
        let first = Rc::new(3);
        let second = Rc::clone(&first);
        *first + *second
    });
    assert_eq!(thread.join().unwrap(), 6);
}

//@ verified
#[test]
fn zeroed_and_large_memory() {
    let thread = spawn(|| {
        let mut block = vec![0_u8; 300_000];
        block[299_999] = 1;
        block.resize(400_000, 2);
        block
    });
    let block = thread.join().unwrap();
    assert_eq!((block[0], block[299_999], block[399_999]), (0, 1, 2));
}

//@ verified
//@ executions = 1
#[test]
fn read_only_after_initialisation() {
    let table = Arc::new(vec![1, 2, 3]);
    let other = Arc::clone(&table);
    let thread = spawn(move || other.iter().sum::<u32>() + TABLE[0]);
    assert_eq!(table[2] + TABLE[3], 7);
    assert_eq!(thread.join().unwrap(), 7);
}

//@ verified
#[test]
fn a_static_handed_over_by_join() {
    let thread = spawn(|| unsafe { COUNT += 1 });
    thread.join().unwrap();
    unsafe { COUNT += 1 };
    let count = unsafe { COUNT };
    assert_eq!(count, 2);
}

//@ verified
//@ executions = 2
#[test]
fn a_cell_protected_by_a_lock() {
    let shared = Arc::new((Mutex::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        let _guard = other.0.lock().unwrap();
        unsafe { *other.1.ptr() += 1 };
    });
    let guard = shared.0.lock().unwrap();
    unsafe { *shared.1.ptr() += 1 };
    drop(guard);
    thread.join().unwrap();
    assert_eq!(unsafe { *shared.1.ptr() }, 2);
}

//@ verified
#[test]
fn a_cell_read_under_either_of_two_locks() {
    let shared = Arc::new((Mutex::new(()), RwLock::new(()), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        let _both = (other.0.lock().unwrap(), other.1.write().unwrap());
        unsafe { *other.2.ptr() += 1 };
    });
    let guard = shared.0.lock().unwrap();
    let first = unsafe { *shared.2.ptr() };
    drop(guard);
    let guard = shared.1.read().unwrap();
    let second = unsafe { *shared.2.ptr() };
    drop(guard);
    assert!(first <= second);
    thread.join().unwrap();
}

//@ verified
#[test]
fn neighbouring_bytes() {
    let bytes = Arc::new(Shared::new([0_u8; 8]));
    let other = Arc::clone(&bytes);
    let thread = spawn(move || unsafe { (*other.ptr())[3] = 1 });
    unsafe { (*bytes.ptr())[4] = 2 };
    thread.join().unwrap();
    assert_eq!(unsafe { *bytes.ptr() }, [0, 0, 0, 1, 2, 0, 0, 0]);
}

//@ clean
#[test]
fn halves_of_a_slice() {
    let mut items = vec![1, 2, 3, 4];
    let (left, right) = items.split_at_mut(2);
    scope(|scope| {
        scope.spawn(|| left.reverse());
        right.reverse();
    });
    assert_eq!(items, [2, 1, 4, 3]);
}

//@ clean
#[test]
fn printing_from_two_threads() {
    let thread = spawn(|| println!("theirs"));
    println!("mine");
    thread.join().unwrap();
    eprintln!("both");
}

//@ failed double-free
#[test]
fn a_block_freed_twice() {
    let layout = Layout::new::<u32>();
    let block = Shared::new(unsafe { alloc(layout) });
    let thread = spawn(move || unsafe {
        dealloc(*block.ptr(), layout);
        block
    });
    let block = thread.join().unwrap();
    unsafe { dealloc(*block.ptr(), layout) }; //~ bug
}
