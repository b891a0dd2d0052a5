//! The examples of the manual: `docs/codes` shows each of them on the page of the code that it gives.

use crate::shared::Shared;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn, yield_now};
use std::time::{Duration, Instant};

//@ failed data-race
#[test]
fn published_too_early() {
    let (ready, message) = (AtomicU32::new(0), Shared::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *message.ptr() = 42 };
            ready.store(1, Relaxed);
        });
        if ready.load(Relaxed) == 1 {
            assert_eq!(unsafe { *message.ptr() }, 42);
        }
    });
}

//@ failed deadlock
#[test]
fn locked_in_two_orders() {
    let (first, second) = (Mutex::new(1), Mutex::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let first = first.lock().unwrap();
            *second.lock().unwrap() += *first;
        });
        let second = second.lock().unwrap();
        *first.lock().unwrap() += *second;
    });
}

//@ failed panic
#[test]
fn counted_in_two_steps() {
    let count = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(count.into_inner(), 2);
}

//@ failed use-after-free
#[test]
fn freed_by_the_other_thread() {
    let block = Arc::new(Shared::new(Box::into_raw(Box::new(3_u32))));
    let theirs = Arc::clone(&block);
    let thread = spawn(move || drop(unsafe { Box::from_raw(*theirs.ptr()) }));
    thread.join().unwrap();
    assert_eq!(unsafe { **block.ptr() }, 3);
}

//@ failed double-free
#[test]
fn freed_by_both_threads() {
    let block = Arc::new(Shared::new(Box::into_raw(Box::new(3_u32))));
    let theirs = Arc::clone(&block);
    spawn(move || drop(unsafe { Box::from_raw(*theirs.ptr()) })).join().unwrap();
    drop(unsafe { Box::from_raw(*block.ptr()) });
}

//@ failed livelock
#[test]
fn waiting_for_what_never_comes() {
    let (sender, receiver) = channel::<()>();
    let thread = spawn(move || while receiver.try_recv().is_err() {});
    thread.join().unwrap();
    drop(sender);
}

//@ failed abort
#[test]
fn aborted_when_the_other_was_first() {
    let turn = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| turn.store(1, SeqCst));
        if turn.load(SeqCst) == 1 {
            std::process::abort();
        }
    });
}

//@ failed signal
#[test]
fn written_to_nowhere() {
    let target = AtomicU32::new(64);
    std::thread::scope(|scope| {
        scope.spawn(|| target.store(128, SeqCst));
        let nowhere = std::ptr::without_provenance_mut::<u32>(target.load(SeqCst) as usize);
        unsafe { nowhere.write(1) };
    });
}

//@ failed exit
#[test]
fn exits_inside_of_a_test() {
    let thread = spawn(|| std::process::exit(0));
    let _: Result<(), _> = thread.join();
}

//@ failed out-of-bounds
#[test]
fn written_behind_the_end() {
    let layout = Layout::array::<u32>(4).unwrap();
    let length = AtomicU32::new(3);
    std::thread::scope(|scope| {
        scope.spawn(|| length.fetch_add(1, SeqCst));
        let index = length.load(SeqCst) as usize;
        let block = unsafe { alloc(layout).cast::<u32>() };
        unsafe { block.add(index).write(7) };
        unsafe { dealloc(block.cast(), layout) };
    });
}

/// A node of a ring: nobody drops what it holds.
#[derive(Default)]
struct Node {
    next: RefCell<Option<Rc<Node>>>,
}

//@ warned lock-order
#[test]
fn kept_apart_by_a_message() {
    let (first, second) = (Mutex::new(1), Mutex::new(2));
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut first = first.lock().unwrap();
            *first += *second.lock().unwrap();
            drop(first);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        let second = second.lock().unwrap();
        *first.lock().unwrap() += *second;
    });
}

//@ verified
//@ with --leaks warned leak
#[test]
fn a_ring_of_counted_references() {
    let thread = spawn(|| {
        let node = Rc::new(Node::default());
        *node.next.borrow_mut() = Some(Rc::clone(&node));
    });
    thread.join().unwrap();
}

//@ warned thread-panicked
#[test]
fn a_panic_that_nobody_sees() {
    let (sender, receiver) = channel();
    spawn(move || {
        sender.send(1).unwrap();
        panic!("nobody joins me");
    });
    assert_eq!(receiver.recv(), Ok(1));
}

//@ warned thread-stuck
#[test]
fn a_thread_that_waits_for_ever() {
    let (sender, receiver) = channel::<u32>();
    spawn(move || receiver.recv());
    std::mem::forget(sender);
}

//@ passed memory-model-sc
#[test]
fn relaxed_counters() {
    let (requests, failures) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            failures.store(1, Relaxed);
            requests.store(1, Relaxed);
        });
        let (_requests, _failures) = (requests.load(Relaxed), failures.load(Relaxed));
    });
}

//@ clean
//@ with --search=states passed data-races
#[test]
fn handed_over_by_a_flag() {
    let (ready, message) = (AtomicU32::new(0), Shared::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *message.ptr() = 42 };
            ready.store(1, Release);
        });
        if ready.load(Acquire) == 1 {
            assert_eq!(unsafe { *message.ptr() }, 42);
        }
    });
}

//@ passed external-write
#[test]
fn a_large_file() {
    let path = std::env::temp_dir().join("large");
    let file = std::fs::File::create(path).unwrap();
    file.set_len(65 << 20).unwrap();
    spawn(move || (&file).write_all(b"text").unwrap()).join().unwrap();
}

//@ passed file-change
#[test]
fn a_temporary_file() {
    let path = std::env::temp_dir().join(format!("manual-{}", std::process::id()));
    let theirs = path.clone();
    spawn(move || std::fs::write(theirs, "text").unwrap()).join().unwrap();
    std::fs::remove_file(path).unwrap();
}

//@ passed bounded-spin
#[test]
fn a_loop_that_gives_up() {
    let (asked, answered) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..1000 {
                if asked.load(SeqCst) == 1 {
                    break;
                }
                yield_now();
            }
            answered.store(1, SeqCst);
        });
        while answered.load(SeqCst) == 0 {
            yield_now();
        }
    });
}

//@ passed detached-thread-cut
#[test]
fn a_thread_that_never_ends() {
    static TICKS: AtomicU32 = AtomicU32::new(0);
    spawn(|| {
        loop {
            TICKS.fetch_add(1, SeqCst);
        }
    });
}

//@ passed randomness-fixed
//@ with --random=explore passed randomness-sampled
#[test]
fn a_map_with_a_random_seed() {
    let thread = spawn(|| HashMap::from([(1, "one"), (2, "two")]).into_keys().next());
    assert!(thread.join().unwrap().is_some());
}

//@ passed virtual-time
#[test]
fn two_threads_with_a_clock() {
    let thread = spawn(Instant::now);
    let _mine = Instant::now();
    let _theirs = thread.join().unwrap();
}

//@ clean
//@ with --spurious passed bounded-spurious
#[test]
fn a_few_attempts() {
    let slot = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| slot.load(SeqCst));
        for _ in 0..5 {
            if slot.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
    });
}

//@ verified
//@ with --scale-loops=2 passed scaled-loops
#[test]
fn a_stress_test() {
    let count = Mutex::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| *count.lock().unwrap() += 1);
        for _ in 0..100 {
            *count.lock().unwrap() += 1;
        }
    });
}

struct Stock(Mutex<u32>);

impl Stock {
    #[lockred::atomic]
    fn take_half(&self) {
        let there = *self.0.lock().unwrap();
        *self.0.lock().unwrap() = there / 2;
    }
}

//@ warned atomicity
#[test]
fn halved_twice() {
    let stock = Stock(Mutex::new(8));
    std::thread::scope(|scope| {
        scope.spawn(|| stock.take_half());
        scope.spawn(|| stock.take_half());
    });
}

//@ passed assumed-conditions
#[test]
fn two_different_accounts() {
    let (from, to) = (lockred::choose(3), 2 - lockred::choose(3));
    lockred::assume!(from != to);
    let accounts = [0; 3].map(|_| Mutex::new(()));
    std::thread::scope(|scope| {
        let _from = accounts[from].lock().unwrap();
        scope.spawn(|| drop(accounts[to].lock().unwrap()));
        let _to = accounts[to].lock().unwrap();
    });
}

//@ passed system-files
#[test]
fn how_busy_the_machine_is() {
    let load = spawn(|| std::fs::read_to_string("/proc/loadavg").unwrap());
    assert!(!load.join().unwrap().is_empty());
}

//@ warned timing
//@ with --time=ordered passed time-ordered
#[test]
fn a_sleep_that_is_to_be_long_enough() {
    let done = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&done);
    let thread = spawn(move || theirs.store(true, SeqCst));
    sleep(Duration::from_millis(250));
    assert!(done.load(SeqCst));
    thread.join().unwrap();
}
