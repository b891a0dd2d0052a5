//! What is large, deep, or ends badly: crashes of every kind in threads, many threads, large heaps, long executions.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{Builder, JoinHandle, spawn};

/// Runs `act` on a thread, in the interleavings in which main comes first.
fn in_some_orders(act: fn()) -> JoinHandle<()> {
    let flag = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&flag);
    let thread = spawn(move || {
        if other.load(SeqCst) == 1 {
            act();
        }
    });
    flag.store(1, SeqCst);
    thread
}

/// Recursion that no optimisation removes: some 100 bytes and more a level.
#[inline(never)]
fn deep(levels: u64) -> u64 {
    let frame = black_box([levels; 8]);
    if levels == 0 { frame[0] } else { deep(levels - 1) + black_box(frame)[7] }
}

/// The same, with calls at each level that lockred answers: the stack ends inside of lockred.
#[inline(never)]
#[expect(unconditional_recursion, reason = "it overflows the stack")]
fn deep_with_hooks(levels: u64, lock: &Mutex<u64>, any: &AtomicU64) -> u64 {
    let frame = black_box([levels; 2]);
    if levels.is_multiple_of(64) {
        *lock.lock().unwrap() += 1;
        any.fetch_add(1, SeqCst);
    }
    let boxed = Box::new(frame);
    deep_with_hooks(levels + 1, lock, any) + black_box(boxed)[1]
}

//@ failed signal
#[test]
fn writes_to_constant_memory() {
    let thread = in_some_orders(|| {
        static CONSTANT: u64 = 5;
        let constant = (&raw const CONSTANT).cast_mut();
        unsafe { black_box(constant).write_volatile(1) }; //~ bug
    });
    let _ = thread.join();
}

//@ failed signal
#[test]
fn illegal_instruction() {
    let thread = in_some_orders(|| unsafe { std::arch::asm!("ud2") }); //~ bug
    let _ = thread.join();
}

//@ failed signal
#[test]
fn divides_by_zero_in_assembly() {
    let thread = in_some_orders(|| unsafe {
        std::arch::asm!("div {0:e}", in(reg) 0, inout("eax") 1 => _, inout("edx") 0 => _); //~ bug
    });
    let _ = thread.join();
}

//@ failed signal
#[test]
fn jumps_nowhere() {
    let thread = in_some_orders(|| {
        let nowhere: fn() = unsafe { std::mem::transmute(black_box(64_usize)) };
        nowhere(); //~ bug
    });
    let _ = thread.join();
}

//@ failed signal
#[test]
fn a_thread_overflows_its_stack_between_calls() {
    let thread = in_some_orders(|| {
        black_box(deep(u64::MAX));
    });
    let _ = thread.join();
}

//@ failed signal
#[test]
fn a_thread_overflows_its_stack_inside_of_calls() {
    let thread = in_some_orders(|| {
        deep_with_hooks(0, &Mutex::new(0), &AtomicU64::new(0));
    });
    let _ = thread.join();
}

//@ failed abort
#[test]
fn a_panic_while_panicking() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in the destructor");
        }
    }
    let thread = in_some_orders(|| {
        let _first = Panics;
        panic!("the first");
    });
    let _ = thread.join();
}

//@ verified
#[test]
fn recursion_that_fits() {
    let thread = spawn(|| deep(4_000));
    assert!(deep(4_000) > 0);
    assert!(thread.join().unwrap() > 0);
    let large = Builder::new().stack_size(16 << 20).spawn(|| deep(25_000)).unwrap();
    assert!(large.join().unwrap() > 0);
}

//@ verified
#[test]
fn sixty_four_threads() {
    let threads: Vec<_> = (0..64_u32).map(|number| spawn(move || number)).collect();
    let sum: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(sum, 63 * 32);
}

//@ verified
#[test]
fn a_gigabyte_of_heap() {
    let thread = spawn(|| {
        let mut large = vec![0_u8; 1 << 30];
        for page in (0..large.len()).step_by(1 << 24) {
            large[page] = 1;
        }
        large.iter().step_by(1 << 24).map(|byte| u32::from(*byte)).sum::<u32>()
    });
    let mut mine = Vec::<u8>::with_capacity(1 << 30);
    mine.push(1);
    assert_eq!(thread.join().unwrap(), 64);
}

/// In whole pages that no execution wrote before, in some that others wrote, and in a dead block that is handed out again: what an
/// execution finds is what there was before the first thread.
//@ verified
#[test]
fn memory_that_was_large_before_the_first_thread() {
    static GLOBAL: [AtomicU64; 1 << 16] = [const { AtomicU64::new(0) }; 1 << 16];
    const WORDS: u64 = 1 << 20;
    for (number, word) in (0..).zip(&GLOBAL) {
        word.store(number, SeqCst);
    }
    let words: Arc<Mutex<Vec<u64>>> = Arc::new(Mutex::new((0..WORDS).collect()));
    drop(black_box(vec![7_u64; WORDS as usize]));
    let mut on_stack = [3_u8; 400 << 10];
    let threads = [1, 2].map(|number| {
        let words = Arc::clone(&words);
        spawn(move || {
            let mut words = words.lock().unwrap();
            // Where it writes depends on who was here before.
            let first = words[0] != 0;
            words[0] = number;
            let stride = if first { 1 << 12 } else { 1 << 14 };
            let at = (stride * number..WORDS).step_by(stride as usize);
            for at in at.map(|at| at as usize) {
                assert!(first || words[at] == at as u64);
                words[at] += 1;
            }
            let global = &GLOBAL[1 << (number + 12)];
            assert_eq!(global.swap(1, SeqCst), 1 << (number + 12));
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(on_stack.iter().all(|&byte| byte == 3));
    black_box(&mut on_stack).fill(4);
    assert!(vec![0_u64; WORDS as usize].iter().all(|&word| word == 0));
}

//@ verified
#[test]
fn a_thread_local_that_spawns() {
    struct Spawns(mpsc::Sender<u32>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let sender = self.0.clone();
            spawn(move || sender.send(1).unwrap()).join().unwrap();
        }
    }
    thread_local!(static LOCAL: RefCell<Option<Spawns>> = const { RefCell::new(None) });
    let (sender, receiver) = mpsc::channel();
    let thread = spawn(move || LOCAL.with(|local| *local.borrow_mut() = Some(Spawns(sender))));
    thread.join().unwrap();
    assert_eq!(receiver.recv(), Ok(1));
}

//@ verified
#[test]
fn a_destructor_that_locks() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let count = Arc::new(Mutex::new(0));
    let other = Locks(Arc::clone(&count));
    let thread = spawn(move || drop(other));
    drop(Locks(Arc::clone(&count)));
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}

//@ clean
#[test]
fn detached_threads() {
    let count = Arc::new(AtomicU32::new(0));
    for _ in 0..2 {
        let count = Arc::clone(&count);
        drop(spawn(move || count.fetch_add(1, SeqCst)));
    }
    assert!(count.load(SeqCst) <= 2);
}

/// A program's own allocator on top of the system's, which counts.
mod allocators {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    pub struct Counting(pub AtomicUsize);

    // SAFETY: everything is the system's.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            self.0.fetch_add(1, Relaxed);
            // SAFETY: by the caller's promise.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: by the caller's promise.
            unsafe { System.dealloc(block, layout) }
        }
    }
}

//@ verified
#[test]
fn an_allocator_that_counts() {
    use std::alloc::{GlobalAlloc, Layout};
    static COUNTING: allocators::Counting =
        allocators::Counting(std::sync::atomic::AtomicUsize::new(0));
    let use_it = || unsafe {
        let layout = Layout::new::<[u64; 4]>();
        let block = COUNTING.alloc(layout);
        block.write(1);
        COUNTING.dealloc(block, layout);
    };
    let thread = spawn(use_it);
    use_it();
    thread.join().unwrap();
    assert_eq!(COUNTING.0.load(SeqCst), 2);
}

//@ failed signal
#[test]
fn overwrites_the_explorer() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let thread = in_some_orders(|| {
        // From the page of a static of the program's up to the end of what is mapped there, lockred's own memory included.
        let first = COUNT.as_ptr().expose_provenance() & !0xfff;
        for address in (first..first + (1 << 20)).step_by(8) {
            let word = std::ptr::with_exposed_provenance_mut::<u64>(address);
            unsafe { word.write_volatile(0x4141_4141_4141_4141) }; //~ bug
        }
    });
    let _ = thread.join();
}
