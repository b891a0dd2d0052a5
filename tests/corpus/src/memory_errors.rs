//! Uses of memory that is gone or was never there, double frees, leaks and ABA, each beside a
//! program that does it right; and what must not be taken for such a mistake.

use crate::shared::Shared;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};
use std::thread::{scope, spawn};

/// A block that nobody owns.
fn block<T>(value: T) -> Arc<Shared<*mut T>> {
    Arc::new(Shared::new(Box::into_raw(Box::new(value))))
}

//@ failed use-after-free
#[test]
fn used_behind_the_join_of_the_thread_that_freed_it() {
    let block = block(3_u32);
    let other = Arc::clone(&block);
    let thread = spawn(move || drop(unsafe { Box::from_raw(*other.ptr()) })); //~ bug
    thread.join().unwrap();
    assert_eq!(unsafe { **block.ptr() }, 3); //~ bug
}

//@ verified
//@ with --leaks verified
#[test]
fn freed_behind_the_join_of_the_thread_that_used_it() {
    let block = block(3_u32);
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { **other.ptr() += 1 });
    thread.join().unwrap();
    assert_eq!(unsafe { *Box::from_raw(*block.ptr()) }, 4);
}

//@ failed use-after-free|data-race
#[test]
fn freed_while_another_writes() {
    let block = block(3_u32);
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { **other.ptr() = 4 }); //~ bug
    drop(unsafe { Box::from_raw(*block.ptr()) }); //~ bug
    thread.join().unwrap();
}

//@ failed use-after-free
#[test]
fn an_atomic_in_freed_memory() {
    let block = block(AtomicU32::new(0));
    let other = Arc::clone(&block);
    let done = Arc::new(AtomicBool::new(false));
    let freed = Arc::clone(&done);
    let thread = spawn(move || {
        drop(unsafe { Box::from_raw(*other.ptr()) });
        freed.store(true, SeqCst);
    });
    if done.load(SeqCst) {
        unsafe { (**block.ptr()).store(1, SeqCst) }; //~ bug
    }
    thread.join().unwrap();
}

/// What two threads share: the one that comes last frees it.
struct Owned {
    block: AtomicPtr<u32>,
    freed: AtomicBool,
}

impl Owned {
    fn new() -> Arc<Self> {
        let block = AtomicPtr::new(Box::into_raw(Box::new(3)));
        Arc::new(Self { block, freed: AtomicBool::new(false) })
    }
}

//@ failed double-free|data-race
#[test]
fn freed_by_two_owners() {
    let owned = Owned::new();
    let free = |owned: &Owned| {
        if !owned.freed.load(SeqCst) {
            owned.freed.store(true, SeqCst);
            drop(unsafe { Box::from_raw(owned.block.load(SeqCst)) });
        }
    };
    let other = Arc::clone(&owned);
    let thread = spawn(move || free(&other));
    free(&owned);
    thread.join().unwrap();
}

//@ verified
//@ with --leaks verified
#[test]
fn freed_by_one_of_two_owners() {
    let owned = Owned::new();
    let free = |owned: &Owned| {
        if !owned.freed.swap(true, SeqCst) {
            drop(unsafe { Box::from_raw(owned.block.load(SeqCst)) });
        }
    };
    let other = Arc::clone(&owned);
    let thread = spawn(move || free(&other));
    free(&owned);
    thread.join().unwrap();
}

//@ failed double-free
#[test]
fn freed_twice_in_order() {
    let block = block([0_u64; 5]);
    let other = Arc::clone(&block);
    spawn(move || drop(unsafe { Box::from_raw(*other.ptr()) })).join().unwrap(); //~ bug
    drop(unsafe { Box::from_raw(*block.ptr()) }); //~ bug
}

//@ failed double-free
#[test]
fn freed_from_its_middle() {
    let block = block([0_u64; 5]);
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe {
        dealloc((*other.ptr()).cast::<u8>().add(8), Layout::new::<u64>()); //~ bug
    });
    thread.join().unwrap();
}

/// A block behind a lock, and how it is taken away.
fn behind_a_lock() -> Arc<Mutex<Shared<*mut u32>>> {
    Arc::new(Mutex::new(Shared::new(Box::into_raw(Box::new(3)))))
}

fn take_away(slot: &Mutex<Shared<*mut u32>>) {
    let mut slot = slot.lock().unwrap();
    let block = std::mem::replace(&mut *slot, Shared::new(ptr::null_mut()));
    drop(unsafe { Box::from_raw(*block.ptr()) });
}

//@ failed use-after-free|data-race
#[test]
fn freed_under_a_lock_and_used_without() {
    let slot = behind_a_lock();
    let other = Arc::clone(&slot);
    let thread = spawn(move || take_away(&other));
    let block = unsafe { *slot.lock().unwrap().ptr() };
    if !block.is_null() {
        assert_eq!(unsafe { *block }, 3); //~ bug
    }
    thread.join().unwrap();
}

//@ verified
//@ with --leaks verified
#[test]
fn freed_and_used_under_a_lock() {
    let slot = behind_a_lock();
    let other = Arc::clone(&slot);
    let thread = spawn(move || take_away(&other));
    {
        let slot = slot.lock().unwrap();
        let block = unsafe { *slot.ptr() };
        if !block.is_null() {
            assert_eq!(unsafe { *block }, 3);
        }
    }
    thread.join().unwrap();
}

//@ failed use-after-free
#[test]
fn a_local_of_a_thread_that_has_ended() {
    let shared = Arc::new(Shared::new(ptr::null_mut()));
    let other = Arc::clone(&shared);
    let thread = spawn(move || {
        let mut local = 7_u64;
        unsafe { *other.ptr() = &raw mut local };
    });
    thread.join().unwrap();
    assert_eq!(unsafe { **shared.ptr() }, 7); //~ bug
}

thread_local! {
    static OWN: Shared<u64> = const { Shared::new(7) };
}

//@ failed use-after-free
#[test]
fn a_thread_local_of_a_thread_that_has_ended() {
    let shared = Arc::new(Shared::new(ptr::null_mut()));
    let other = Arc::clone(&shared);
    let thread = spawn(move || OWN.with(|own| unsafe { *other.ptr() = own.ptr() }));
    thread.join().unwrap();
    assert_eq!(unsafe { **shared.ptr() }, 7); //~ bug
}

//@ verified
#[test]
fn a_thread_local_of_a_thread_that_waits() {
    let theirs = OWN.with(|own| own.ptr() as usize);
    let read = move || unsafe { *(theirs as *const u64) };
    assert_eq!(spawn(read).join().unwrap(), 7);
}

//@ verified
#[test]
fn a_local_of_a_thread_that_waits() {
    let mut local = [1, 2, 3];
    scope(|s| {
        let middle = s.spawn(|| {
            let mine = 4;
            local[1] += scope(|s| s.spawn(|| mine + 1).join().unwrap());
        });
        middle.join().unwrap();
    });
    assert_eq!(local, [1, 7, 3]);
}

//@ failed out-of-bounds
#[test]
fn written_behind_the_end() {
    let thread = spawn(|| {
        let mut items = vec![0_u32; 6];
        let len = items.len();
        unsafe { *items.as_mut_ptr().add(len) = 1 }; //~ bug
    });
    thread.join().unwrap();
}

//@ failed out-of-bounds
#[test]
fn read_before_the_beginning() {
    let items = Arc::new(vec![1_u64; 3]);
    let other = Arc::clone(&items);
    let thread = spawn(move || unsafe { *other.as_ptr().wrapping_sub(1) }); //~ bug
    let _ = thread.join();
}

//@ verified
#[test]
fn read_and_written_to_the_last_byte() {
    let thread = spawn(|| {
        let mut items = vec![0_u8; 21];
        for index in 0..21 {
            unsafe { *items.as_mut_ptr().add(index) = index as u8 };
        }
        items
    });
    assert_eq!(thread.join().unwrap()[20], 20);
}

//@ failed out-of-bounds
#[test]
fn copied_across_the_end() {
    let thread = spawn(|| {
        let from = [7_u8; 64];
        let count = std::hint::black_box(41);
        let mut to = Box::new([0_u8; 40]);
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), count) }; //~ bug
        to
    });
    let _ = thread.join();
}

//@ failed use-after-free
#[test]
fn a_vector_that_has_moved() {
    let items = Arc::new(Mutex::new(vec![1_u64, 2, 3]));
    let first = items.lock().unwrap().as_ptr();
    let other = Arc::clone(&items);
    let thread = spawn(move || other.lock().unwrap().push(4));
    thread.join().unwrap();
    assert_eq!(unsafe { *first }, 1); //~ bug
}

//@ verified
#[test]
fn a_vector_that_has_room() {
    let items = Arc::new(Mutex::new(Vec::with_capacity(8)));
    items.lock().unwrap().push(1_u64);
    let first = items.lock().unwrap().as_ptr();
    let other = Arc::clone(&items);
    let thread = spawn(move || other.lock().unwrap().push(4));
    thread.join().unwrap();
    assert_eq!(unsafe { *first }, 1);
}

/// A node of [`Stack`].
struct Node {
    next: *mut Node,
}

/// Treiber's stack. What threads look into is not freed meanwhile, but may have come back by the
/// time that they exchange the head.
struct Stack {
    head: AtomicPtr<Node>,
    /// Held while a node is looked into, or freed.
    looking: Mutex<()>,
}

impl Stack {
    /// Of two nodes.
    fn new() -> Self {
        let stack = Self { head: AtomicPtr::default(), looking: Mutex::new(()) };
        stack.push();
        stack.push();
        stack
    }

    fn push(&self) {
        let node = Box::into_raw(Box::new(Node { next: ptr::null_mut() }));
        loop {
            let head = self.head.load(SeqCst);
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    /// Tries once.
    fn pop(&self) -> *mut Node {
        let (head, next) = {
            let _looking = self.looking.lock().unwrap();
            let head = self.head.load(SeqCst);
            if head.is_null() {
                return head;
            }
            (head, unsafe { (*head).next })
        };
        match self.head.compare_exchange(head, next, SeqCst, SeqCst) {
            Ok(head) => head,
            Err(_) => ptr::null_mut(),
        }
    }

    fn free(&self, node: *mut Node) {
        if !node.is_null() {
            let _looking = self.looking.lock().unwrap();
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

//@ verified
//@ with --reuse failed use-after-free|double-free
//@ with --leaks verified
#[test]
fn a_node_that_comes_back_to_the_stack() {
    let stack = Arc::new(Stack::new());
    let other = Arc::clone(&stack);
    let thread = spawn(move || {
        let (first, second) = (other.pop(), other.pop());
        other.free(first);
        // At the address of the first, if that is given out again.
        other.push();
        other.free(second);
    });
    let mine = stack.pop();
    thread.join().unwrap();
    stack.free(mine);
    while !stack.head.load(SeqCst).is_null() {
        stack.free(stack.pop());
    }
}

/// A member of a cycle.
#[derive(Default)]
struct Member {
    next: Mutex<Option<Arc<Member>>>,
    before: Mutex<Weak<Member>>,
}

//@ verified
//@ with --leaks warned leak
#[test]
fn a_cycle_of_counted_references() {
    let thread = spawn(|| {
        let (first, second) = (Arc::new(Member::default()), Arc::new(Member::default()));
        *first.next.lock().unwrap() = Some(Arc::clone(&second));
        *second.next.lock().unwrap() = Some(first);
    });
    thread.join().unwrap();
}

//@ verified
//@ with --leaks verified
#[test]
fn a_cycle_with_a_weak_reference() {
    let thread = spawn(|| {
        let (first, second) = (Arc::new(Member::default()), Arc::new(Member::default()));
        *first.next.lock().unwrap() = Some(Arc::clone(&second));
        *second.before.lock().unwrap() = Arc::downgrade(&first);
    });
    thread.join().unwrap();
}

//@ verified
//@ with --leaks warned leak
#[test]
fn a_block_that_one_order_of_two_forgets() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    FLAG.store(false, SeqCst);
    let thread = spawn(|| FLAG.store(true, SeqCst));
    let block = Box::new([0_u8; 100]);
    if FLAG.load(SeqCst) {
        std::mem::forget(block);
    }
    thread.join().unwrap();
}

/// Of the crate's own, for the whole life of the program.
static NAMES: LazyLock<Mutex<HashMap<u32, String>>> = LazyLock::new(Mutex::default);
static KEPT: OnceLock<&'static [u64]> = OnceLock::new();

//@ clean
//@ with --leaks clean
//@ with --reuse clean
#[test]
fn what_statics_keep_is_not_lost() {
    let thread = spawn(|| {
        KEPT.get_or_init(|| Box::leak(vec![1, 2, 3].into_boxed_slice()));
        NAMES.lock().unwrap().insert(1, "one, which is longer than a pointer".to_owned());
    });
    thread.join().unwrap();
    assert_eq!(KEPT.get().unwrap()[2], 3);
    assert_eq!(NAMES.lock().unwrap()[&1].len(), 35);
}

thread_local! {
    static SEEN: RefCell<Vec<Box<u64>>> = const { RefCell::new(Vec::new()) };
}

//@ verified
//@ with --leaks verified
//@ with --reuse verified
#[test]
fn what_thread_locals_keep_is_dropped() {
    let keep = || SEEN.with_borrow_mut(|seen| seen.extend([Box::new(1), Box::new(2)]));
    let thread = spawn(keep);
    keep();
    thread.join().unwrap();
    assert_eq!(SEEN.with_borrow(Vec::len), 2);
}

//@ verified
//@ with --leaks verified
//@ with --reuse verified
#[test]
fn growing_and_shrinking() {
    let grow = || {
        let mut items: Vec<u8> = (0..70).collect();
        items.shrink_to_fit();
        items.truncate(3);
        items.shrink_to_fit();
        items.extend_from_slice(&[9; 1000]);
        let text: String = items.iter().map(|item| char::from(b'a' + item % 26)).collect();
        text.len() + items[2] as usize
    };
    let thread = spawn(grow);
    assert_eq!(grow(), 1005);
    assert_eq!(thread.join().unwrap(), 1005);
}

#[repr(align(512))]
struct Aligned([u8; 512]);

//@ verified
//@ with --leaks verified
//@ with --reuse verified
#[test]
fn aligned_large_and_empty_blocks() {
    let thread = spawn(|| {
        let aligned = Box::new(Aligned([1; 512]));
        let large = vec![2_u8; 5 << 20];
        let nothing: Vec<[(); 3]> = vec![[(); 3]; 100];
        let empty: Box<[u64]> = Box::default();
        let layout = Layout::from_size_align(24, 4096).unwrap();
        let page = unsafe { alloc(layout) };
        unsafe { ptr::write_bytes(page, 3, 24) };
        let sum = aligned.0[511] + large[(5 << 20) - 1] + unsafe { *page.add(23) };
        unsafe { dealloc(page, layout) };
        usize::from(sum) + nothing.len() + empty.len()
    });
    assert_eq!(thread.join().unwrap(), 106);
}
