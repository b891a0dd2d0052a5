//! Tests of which variant an enum has: they read its tag and nothing else, whatever rustc loads for
//! them; copies read all of a value.
//!
//! rustc keeps an enum of a tag and one scalar as a pair, and loads both halves where a program
//! asks for the variant only.

use crate::shared::Shared;
use crossbeam_utils::atomic::AtomicCell;
use std::sync::{Arc, Mutex};
use std::thread::spawn;

/// Has two threads do this with one value.
fn twice<T: Send + Sync + 'static>(value: T, does: fn(&T)) {
    let value = Arc::new(value);
    let other = Arc::clone(&value);
    let thread = spawn(move || does(&other));
    does(&value);
    thread.join().unwrap();
}

/// Has a thread do the one with a value, and the main thread the other.
fn both<T: 'static>(value: T, writes: fn(*mut T), reads: fn(*const T)) {
    let value = Arc::new(Shared::new(value));
    let other = Arc::clone(&value);
    let thread = spawn(move || writes(other.ptr()));
    reads(value.ptr());
    thread.join().unwrap();
}

/// A value in an enum, for which there is a lock.
struct Guarded<T> {
    lock: Mutex<()>,
    value: T,
}

impl<T> Guarded<T> {
    const fn new(value: T) -> Self {
        Self { lock: Mutex::new(()), value }
    }

    fn add(&self, count: &Shared<u64>) {
        let _held = self.lock.lock().unwrap();
        unsafe { *count.ptr() += 1 };
    }
}

//@ verified
//@ executions = 2
#[test]
fn if_let_beside_a_locked_payload() {
    twice(Guarded::new(Some(Shared::new(0))), |guarded| {
        if let Some(count) = &guarded.value {
            guarded.add(count);
        }
    });
}

//@ verified
#[test]
fn an_optional_atomic_cell() {
    twice(Some(AtomicCell::new(0_u64)), |cell| {
        if let Some(hits) = cell {
            hits.fetch_add(1);
        }
    });
}

//@ verified
#[test]
fn all_ways_to_ask_for_the_variant() {
    twice(Guarded::new(Some(Shared::new(0))), |guarded| {
        assert!(guarded.value.is_some());
        assert!(matches!(guarded.value, Some(_)));
        assert!(guarded.value.iter().count() == 1);
        assert!(std::mem::discriminant(&guarded.value) != std::mem::discriminant(&None));
        let Some(count) = guarded.value.as_ref() else { return };
        guarded.add(count);
    });
}

//@ verified
#[test]
fn a_result_with_a_payload_in_both_variants() {
    twice(Guarded::new(Result::<_, usize>::Ok(Shared::new(0))), |guarded| match &guarded.value {
        Ok(count) => guarded.add(count),
        Err(_) => unreachable!(),
    });
}

//@ verified
#[test]
fn a_nested_enum_whose_tags_are_one() {
    twice(Guarded::new(Some(Ok::<_, ()>(Shared::new(0)))), |guarded| {
        if let Some(Ok(count)) = &guarded.value {
            guarded.add(count);
        }
    });
}

//@ verified
#[test]
fn a_tag_in_a_bool_beside_the_payload() {
    twice(Guarded::new(Some((true, Shared::new(0)))), |guarded| {
        if let Some((true, count)) = &guarded.value {
            guarded.add(count);
        }
    });
}

/// Writes the payload alone, by no reference to all of it. (What a block ends with is copied:
/// patterns are inside of `unsafe`.)
fn write_payload<T>(p: *mut Option<T>, value: T) {
    let payload = unsafe {
        let Some(ref mut payload) = *p else { return };
        payload
    };
    *payload = value; //~ bug of a_payload_is_written_beside_a_copy_of_the_whole, a_payload_is_written_where_it_is_the_tag, a_payload_is_bound_and_not_used
}

//@ verified
//@ executions = 1
#[test]
fn a_payload_is_written_beside_a_test_of_the_variant() {
    let reads = |p: *const Option<u64>| assert!(unsafe { matches!(*p, Some(_)) });
    both(Some(0_u64), |p| write_payload(p, 1), reads);
}

//@ failed data-race
#[test]
fn a_payload_is_written_beside_a_copy_of_the_whole() {
    let reads = |p: *const Option<u64>| {
        let copy = unsafe { *p }; //~ bug
        assert!(copy.is_some());
    };
    both(Some(0_u64), |p| write_payload(p, 1), reads);
}

//@ failed data-race
#[test]
fn a_payload_is_written_where_it_is_the_tag() {
    let reads = |p: *const Option<bool>| {
        assert!(unsafe { matches!(*p, Some(_)) }); //~ bug
    };
    both(Some(false), |p| write_payload(p, true), reads);
}

//@ failed data-race
#[test]
fn a_payload_is_bound_and_not_used() {
    let reads = |p: *const Option<u64>| unsafe {
        let Some(_payload) = *p else { return }; //~ bug
    };
    both(Some(0_u64), |p| write_payload(p, 1), reads);
}

//@ failed data-race
#[test]
fn a_copy_is_bound_and_not_used() {
    let writes = |p: *mut (u64, u64)| unsafe { (*p).1 = 1 }; //~ bug
    let reads = |p: *const (u64, u64)| {
        let _copy = unsafe { *p }; //~ bug
    };
    both((0_u64, 0_u64), writes, reads);
}

//@ failed data-race
#[test]
fn what_is_read_is_thrown_away() {
    let writes = |p: *mut u64| unsafe { *p = 1 }; //~ bug
    let reads = |p: *const u64| {
        let _ = unsafe { p.read() }; //~ bug
    };
    both(0_u64, writes, reads);
}

//@ verified
//@ executions = 1
#[test]
fn a_place_is_named_and_not_read() {
    let reads = |p: *const u64| unsafe {
        let _ = *p;
    };
    both(0_u64, |p| unsafe { *p = 1 }, reads);
}

//@ verified
//@ executions = 1
#[test]
fn a_field_is_read_beside_another_one() {
    let reads = |p: *const (u64, u64)| unsafe {
        let (first, _) = *p;
        assert_eq!(first, 0);
    };
    both((0_u64, 0_u64), |p| unsafe { (*p).1 = 1 }, reads);
}
