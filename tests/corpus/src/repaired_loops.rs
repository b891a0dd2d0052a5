//! Wrong programs of `other_loops`, `clocks` and the manual, repaired, where no right one stands beside them. A name is that of the module and that of
//! the program there.

use crate::shared::Shared;
use std::alloc::{Layout, alloc, dealloc};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, fence};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread::{park_timeout, scope, spawn};
use std::time::{Duration, Instant};

fn two<T: Default>() -> (Arc<T>, Arc<T>) {
    let one = Arc::new(T::default());
    (Arc::clone(&one), one)
}

//@ verified
#[test]
fn other_loops_it_counts_its_rounds() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || other.store(true, SeqCst));
    while !flag.load(SeqCst) {
        spin_loop();
    }
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_it_remembers_what_it_saw() {
    let (state, other) = two::<AtomicUsize>();
    let thread = spawn(move || other.store(2, SeqCst));
    let seen = loop {
        let now = state.load(SeqCst);
        if now == 2 {
            break now;
        }
    };
    assert_eq!(seen, 2);
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_it_waits_for_something_else_inside() {
    let (flags, other) = two::<[AtomicBool; 2]>();
    let thread = spawn(move || {
        while other[0].swap(true, SeqCst) {
            while !other[1].load(SeqCst) {}
        }
        other[0].store(false, SeqCst);
    });
    while flags[0].swap(true, SeqCst) {}
    flags[0].store(false, SeqCst);
    // What the other one may wait for inside.
    flags[1].store(true, SeqCst);
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_its_word_is_written_plainly_meanwhile() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || {
        other.store(false, SeqCst);
        other.store(true, SeqCst);
    });
    while !flag.load(SeqCst) {}
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_its_word_goes_away() {
    let (flag, other) = two::<AtomicBool>();
    let thread = spawn(move || while !other.load(SeqCst) {});
    flag.store(true, SeqCst);
    drop(flag);
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_the_way_to_its_word_changes() {
    let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(true), AtomicUsize::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        other.2.store(1, SeqCst);
        other.0.store(true, SeqCst);
    });
    let flags = [&shared.0, &shared.1];
    while !flags[shared.2.load(SeqCst)].load(SeqCst) {}
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_it_reads_something_in_vain_rounds_only() {
    let shared = Arc::new((AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        // SAFETY: nobody reads it before the flag is set.
        unsafe { *other.1.ptr() = 1 };
        other.0.store(true, SeqCst);
    });
    while !shared.0.load(SeqCst) {
        spin_loop();
    }
    // SAFETY: it was written before the flag was set.
    assert_eq!(unsafe { *shared.1.ptr() }, 1);
    thread.join().unwrap();
}

//@ verified
#[test]
fn other_loops_its_exchange_in_vain_meets_a_plain_read() {
    let (flag, other) = two::<AtomicBool>();
    flag.store(true, SeqCst);
    let thread = spawn(move || {
        assert!(other.load(SeqCst));
        other.store(false, SeqCst);
    });
    while flag.swap(true, SeqCst) {}
    thread.join().unwrap();
}

//@ passed memory-model-sc
#[test]
fn other_loops_a_fence_behind_it_acquires_only_what_it_found() {
    let words: [AtomicUsize; 2] = Default::default();
    let shared = Arc::new((words, AtomicBool::new(false), Shared::new(0)));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        // SAFETY: nobody reads it before the last store.
        unsafe { *other.2.ptr() = 7 };
        other.0[0].store(1, Release);
        other.0[1].store(1, Relaxed);
        while !other.1.load(Relaxed) {}
        other.0[0].store(2, Release);
    });
    while shared.0[1].load(Relaxed) != 1 {}
    shared.1.store(true, Relaxed);
    while shared.0[0].load(Relaxed) != 2 {}
    fence(Acquire);
    // SAFETY: what was found releases.
    assert_eq!(unsafe { *shared.2.ptr() }, 7);
    thread.join().unwrap();
}

//@ passed virtual-time
#[test]
fn clocks_a_look_may_come_behind_another_thread_s_sleep() {
    let start = Instant::now();
    let thread = spawn(|| std::thread::sleep(Duration::from_millis(1)));
    thread.join().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(1));
}

//@ verified
#[test]
fn clocks_a_park_with_a_timeout_may_be_ended_early() {
    let (flag, other) = two::<AtomicBool>();
    let main = std::thread::current();
    let thread = spawn(move || {
        other.store(true, SeqCst);
        main.unpark();
    });
    while !flag.load(SeqCst) {
        park_timeout(Duration::from_secs(3600));
    }
    thread.join().unwrap();
}

//@ passed virtual-time
#[test]
fn clocks_a_receiver_may_time_out() {
    let (sender, receiver) = channel();
    let thread = spawn(move || sender.send(1).is_ok());
    let received = receiver.recv_timeout(Duration::from_secs(3600));
    // It is there at last, whoever was first.
    thread.join().unwrap();
    assert_eq!(received.or_else(|_| receiver.recv()), Ok(1));
}

//@ passed memory-model-sc
#[test]
fn manual_published_too_early() {
    let (ready, message) = (AtomicU32::new(0), Shared::new(0));
    scope(|scope| {
        scope.spawn(|| {
            // SAFETY: nobody reads it before it is ready.
            unsafe { *message.ptr() = 42 };
            ready.store(1, Release);
        });
        if ready.load(Acquire) == 1 {
            // SAFETY: it is ready.
            assert_eq!(unsafe { *message.ptr() }, 42);
        }
    });
}

//@ verified
#[test]
fn manual_locked_in_two_orders() {
    let (first, second) = (Mutex::new(1), Mutex::new(2));
    scope(|scope| {
        scope.spawn(|| {
            let first = first.lock().unwrap();
            *second.lock().unwrap() += *first;
        });
        let mut first = first.lock().unwrap();
        *first += *second.lock().unwrap();
    });
}

//@ verified
#[test]
fn manual_counted_in_two_steps() {
    let count = AtomicU32::new(0);
    scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.fetch_add(1, SeqCst));
        }
    });
    assert_eq!(count.into_inner(), 2);
}

//@ verified
//@ executions = 1
#[test]
fn manual_freed_by_the_other_thread() {
    let block = Arc::new(Shared::new(Box::into_raw(Box::new(3_u32))));
    let theirs = Arc::clone(&block);
    // SAFETY: the block lives.
    assert_eq!(unsafe { **block.ptr() }, 3);
    // SAFETY: nobody else frees it.
    spawn(move || drop(unsafe { Box::from_raw(*theirs.ptr()) })).join().unwrap();
}

//@ verified
#[test]
fn manual_freed_by_both_threads() {
    let block = Mutex::new(Some(Box::new(3_u32)));
    let take = || drop(block.lock().unwrap_or_else(PoisonError::into_inner).take());
    scope(|scope| {
        scope.spawn(take);
        take();
    });
}

//@ verified
#[test]
fn manual_waiting_for_what_never_comes() {
    let (sender, receiver) = channel();
    let thread = spawn(move || receiver.recv());
    sender.send(()).unwrap();
    thread.join().unwrap().unwrap();
}

//@ verified
#[test]
fn manual_written_to_nowhere() {
    let target = AtomicU32::new(0);
    let mut words = [0; 2];
    scope(|scope| {
        scope.spawn(|| target.store(1, SeqCst));
        words[target.load(SeqCst) as usize] = 1;
    });
    assert_eq!(words.iter().sum::<u32>(), 1);
}

//@ verified
#[test]
fn manual_written_behind_the_end() {
    let layout = Layout::array::<u32>(5).unwrap();
    let length = AtomicU32::new(3);
    scope(|scope| {
        scope.spawn(|| length.fetch_add(1, SeqCst));
        let index = length.load(SeqCst) as usize;
        // SAFETY: the block has five words, and the length is at most 4.
        unsafe {
            let block = alloc(layout).cast::<u32>();
            block.add(index).write(7);
            dealloc(block.cast(), layout);
        }
    });
}
