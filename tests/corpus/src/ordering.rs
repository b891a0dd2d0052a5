//! Memory orders: what each order of atomics and fences orders, told by whether plain memory races.

use crate::shared::Shared;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, fence};
use std::thread::spawn;

/// Data that is published by a flag.
struct Published {
    data: Shared<u32>,
    flag: AtomicU32,
}

fn published() -> (Arc<Published>, Arc<Published>) {
    let published = Arc::new(Published { data: Shared::new(0), flag: AtomicU32::new(0) });
    (Arc::clone(&published), published)
}

//@ failed data-race
#[test]
fn relaxed_publication() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Relaxed);
    });
    if mine.flag.load(Relaxed) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn release_without_acquire() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Release);
    });
    if mine.flag.load(Relaxed) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn acquire_without_release() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Relaxed);
    });
    if mine.flag.load(Acquire) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}

//@ passed memory-model-sc
//@ executions = 2
#[test]
fn release_and_acquire() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        theirs.flag.store(1, Release);
    });
    if mine.flag.load(Acquire) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
}

//@ verified
//@ executions = 2
#[test]
fn sequentially_consistent_publication() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        theirs.flag.store(1, SeqCst);
    });
    if mine.flag.load(SeqCst) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_flag_set_too_early() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        theirs.flag.store(1, SeqCst);
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
    });
    if mine.flag.load(SeqCst) == 1 {
        assert!(unsafe { *mine.data.ptr() } <= 7); //~ bug
    }
    thread.join().unwrap();
}

//@ passed memory-model-sc
//@ executions = 2
#[test]
fn fences_around_relaxed_accesses() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        fence(Release);
        theirs.flag.store(1, Relaxed);
    });
    if mine.flag.load(Relaxed) == 1 {
        fence(Acquire);
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
}

//@ passed memory-model-sc
//@ executions = 2
#[test]
fn fences_in_assembly() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        locked_update();
        theirs.flag.store(1, Relaxed);
    });
    if mine.flag.load(Relaxed) == 1 {
        unsafe { std::arch::asm!("mfence", options(nostack, preserves_flags)) };
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
}

/// As event-listener has it: faster than `mfence`.
fn locked_update() {
    let word = UnsafeCell::new(0_u64);
    unsafe {
        std::arch::asm!("lock not qword ptr [{0}]", in(reg) word.get(), options(nostack, preserves_flags));
    }
}

//@ failed data-race
#[test]
fn the_release_fence_is_missing() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Relaxed);
    });
    if mine.flag.load(Relaxed) == 1 {
        fence(Acquire);
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn the_acquire_fence_is_missing() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        fence(Release);
        theirs.flag.store(1, Relaxed);
    });
    if mine.flag.load(Relaxed) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn the_acquire_fence_comes_too_early() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Release);
    });
    fence(Acquire);
    if mine.flag.load(Relaxed) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}

//@ passed memory-model-sc
#[test]
fn a_fence_and_a_release_store() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        theirs.flag.store(1, Release);
    });
    if mine.flag.load(Relaxed) == 1 {
        fence(SeqCst);
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
}

//@ passed memory-model-sc
#[test]
fn a_release_sequence_through_a_relaxed_update() {
    let (mine, theirs) = published();
    let relay = Arc::clone(&mine);
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        theirs.flag.store(1, Release);
    });
    let middle = spawn(move || relay.flag.compare_exchange(1, 2, Relaxed, Relaxed).is_ok());
    if mine.flag.load(Acquire) == 2 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
    middle.join().unwrap();
}

//@ failed data-race
#[test]
fn a_release_sequence_broken_by_a_relaxed_store() {
    let (mine, theirs) = published();
    let relay = Arc::clone(&mine);
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Release);
    });
    let middle = spawn(move || {
        if relay.flag.load(Relaxed) == 1 {
            relay.flag.store(2, Relaxed);
        }
    });
    if mine.flag.load(Acquire) == 2 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
    middle.join().unwrap();
}

// An update reads the newest value, and each of these synchronises with the one before it: no pair is unordered.
//@ verified
//@ executions = 2
#[test]
fn an_update_acquires_and_releases() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 };
        theirs.flag.fetch_add(1, AcqRel);
    });
    if mine.flag.fetch_add(1, AcqRel) == 1 {
        assert_eq!(unsafe { *mine.data.ptr() }, 7);
    }
    thread.join().unwrap();
}

//@ failed data-race
#[test]
fn a_failed_exchange_with_a_relaxed_failure_order() {
    let (mine, theirs) = published();
    let thread = spawn(move || {
        unsafe { *theirs.data.ptr() = 7 }; //~ bug
        theirs.flag.store(1, Release);
    });
    if mine.flag.compare_exchange(2, 3, AcqRel, Relaxed) == Err(1) {
        assert_eq!(unsafe { *mine.data.ptr() }, 7); //~ bug
    }
    thread.join().unwrap();
}
