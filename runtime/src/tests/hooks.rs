//! What instrumented programs do, by name: atomic and plain accesses to words, locks, futexes,
//! threads.

use crate::hooks::atomics::{
    __lr_atomic_cmpxchg, __lr_atomic_load, __lr_atomic_rmw, __lr_atomic_store, __lr_await,
    __lr_exchanged, __lr_spin_hint,
};
use crate::hooks::blocks::{__lr_libc_free, __lr_libc_malloc};
use crate::hooks::plain::{__lr_read, __lr_write};
use crate::hooks::pthread::{__lr_libc_pthread_create, __lr_libc_pthread_join};
use crate::machine::watch::__lr_watch;
use crate::system_calls::__lr_libc_syscall;
use lockred_protocol::hooks::{Class, How, Order, RmwOp, Test};
use std::panic::Location;
use std::ptr;

/// Zeroed words in the arena, shared by all threads of a program.
#[derive(Clone, Copy)]
pub struct Words(pub *mut u64);

/// A thread's body.
type Body = fn(Words);

/// `syscall`.
type Call = unsafe extern "C" fn(i64, usize, usize, usize, usize, usize, usize) -> i64;

/// What a new thread is handed.
struct Handed {
    body: Body,
    words: Words,
}

const SEQ_CST: u32 = Order::SeqCst as u32;

/// The caller's line is the site.
#[track_caller]
fn site() -> u32 {
    Location::caller().line()
}

impl Words {
    /// Address of a word.
    pub fn at(self, index: usize) -> usize {
        self.0 as usize + index * 8
    }

    /// Atomic load.
    #[track_caller]
    pub fn load(self, index: usize) -> u64 {
        self.load_with(index, Order::SeqCst)
    }

    /// Atomic load of an order.
    #[track_caller]
    pub fn load_with(self, index: usize, order: Order) -> u64 {
        __lr_atomic_load(self.at(index), 8, order as u32, 0, site())
    }

    /// Atomic load with flags.
    #[track_caller]
    pub fn load_as(self, index: usize, flags: u32) -> u64 {
        let how = Class::Plain as u32 | flags;
        __lr_atomic_load(self.at(index), 8, SEQ_CST, how, site())
    }

    /// Atomic store with flags.
    #[track_caller]
    pub fn store_as(self, index: usize, value: u64, flags: u32) {
        let how = Class::Plain as u32 | flags;
        __lr_atomic_store(self.at(index), value, 8, SEQ_CST, how, site());
    }

    /// Atomic store.
    #[track_caller]
    pub fn store(self, index: usize, value: u64) {
        self.store_with(index, value, Order::SeqCst);
    }

    /// Atomic store of an order.
    #[track_caller]
    pub fn store_with(self, index: usize, value: u64, order: Order) {
        __lr_atomic_store(self.at(index), value, 8, order as u32, 0, site());
    }

    /// Atomic addition; gives the old value.
    #[track_caller]
    pub fn add(self, index: usize, value: u64) -> u64 {
        __lr_atomic_rmw(self.at(index), value, RmwOp::Add as u32, 8, SEQ_CST, 0, site())
    }

    /// Atomic addition of a class and order.
    #[track_caller]
    pub fn add_as(self, index: usize, value: u64, class: Class, order: Order) {
        let (how, order) = (How::of(class).0, order as u32);
        let _ = __lr_atomic_rmw(self.at(index), value, RmwOp::Add as u32, 8, order, how, site());
    }

    /// Compare-exchange; gives the old value.
    #[track_caller]
    pub fn exchange(self, index: usize, expected: u64, new: u64) -> u64 {
        let orders = SEQ_CST | SEQ_CST << 8;
        __lr_atomic_cmpxchg(self.at(index), expected, new, 8, orders, 0, site())
    }

    /// Weak compare-exchange; gives whether it succeeded.
    #[track_caller]
    pub fn exchange_weak(self, index: usize, expected: u64, new: u64) -> bool {
        let orders = SEQ_CST | SEQ_CST << 8;
        let old = __lr_atomic_cmpxchg(self.at(index), expected, new, 8, orders, How::WEAK, site());
        // SAFETY: one thread runs the machine at a time, and the program looks at once.
        let exchanged = unsafe { __lr_exchanged } == 1;
        assert!(old == expected || !exchanged);
        exchanged
    }

    /// Acquires a lock that is known as one.
    #[track_caller]
    pub fn lock(self, index: usize) {
        let how = Class::Lock as u32 | How::PRIMITIVE;
        __lr_await(u64::MAX, 0, Test::Equal as u32);
        let orders = Order::Acquire as u32 | (Order::Relaxed as u32) << 8;
        let old = __lr_atomic_cmpxchg(self.at(index), 0, 1, 8, orders, how, site());
        assert_eq!(old, 0, "an await lets nothing else through");
    }

    /// Releases it.
    #[track_caller]
    pub fn unlock(self, index: usize) {
        let how = Class::Unlock as u32 | How::PRIMITIVE;
        let (swap, release) = (RmwOp::Xchg as u32, Order::Release as u32);
        let _ = __lr_atomic_rmw(self.at(index), 0, swap, 8, release, how, site());
    }

    /// Plain read.
    #[track_caller]
    pub fn read(self, index: usize) -> u64 {
        if watched() {
            __lr_read(self.at(index), 8, site());
        }
        // SAFETY: the words are live as long as the program runs.
        unsafe { *self.0.add(index) }
    }

    /// Plain write.
    #[track_caller]
    pub fn write(self, index: usize, value: u64) {
        if watched() {
            __lr_write(self.at(index), 8, site());
        }
        // SAFETY: as in `read`.
        unsafe { *self.0.add(index) = value };
    }

    /// A pause.
    #[track_caller]
    pub fn pause(self) {
        __lr_spin_hint(site());
    }

    /// Waits in a futex while its word has a value, with a timeout if there are nanoseconds.
    pub fn wait(self, index: usize, value: u32, timeout: Option<i64>) -> bool {
        let time = timeout.map(|tv_nsec| libc::timespec { tv_sec: 0, tv_nsec });
        let time = time.as_ref().map_or(0, |time| ptr::from_ref(time) as usize);
        let operation = libc::FUTEX_WAIT as usize;
        // As a program does, which is linked to it: not inlined.
        let call = std::hint::black_box(__lr_libc_syscall as Call);
        // SAFETY: the arguments of a futex call, with a word and a time that are live.
        0 == unsafe { call(libc::SYS_futex, self.at(index), operation, value as usize, time, 0, 0) }
    }

    /// Wakes waiters of a futex; gives their number.
    pub fn wake(self, index: usize, most: u32) -> i64 {
        crate::hooks::futex::futex(
            &mut crate::machine::hook::enter(),
            self.at(index),
            libc::FUTEX_WAKE,
            most,
            0,
            u32::MAX,
            __lr_libc_syscall as *const () as usize,
        )
    }

    /// Creates a thread.
    pub fn spawn(self, body: Body) -> usize {
        let handed = __lr_libc_malloc(size_of::<Handed>()).cast::<Handed>();
        let mut handle = 0;
        // SAFETY: a fresh block of that size, freed by the thread.
        unsafe { handed.write(Handed { body, words: self }) };
        let made =
            __lr_libc_pthread_create(&raw mut handle, ptr::null(), begin, handed.cast::<u8>());
        assert_eq!(made, 0);
        handle
    }

    /// Waits for a thread's end; gives what it returned.
    pub fn join(self, handle: usize) -> usize {
        let mut result = ptr::null_mut();
        assert_eq!(__lr_libc_pthread_join(handle, &raw mut result), 0);
        result as usize
    }

    /// Waits for the ends of threads, in order.
    pub fn join_all(self, handles: &[usize]) {
        for &handle in handles {
            self.join(handle);
        }
    }
}

fn watched() -> bool {
    // SAFETY: one thread runs the machine at a time.
    unsafe { __lr_watch != 0 }
}

unsafe extern "C" fn begin(handed: *mut u8) -> *mut u8 {
    // SAFETY: written by `spawn` for this thread.
    let Handed { body, words } = unsafe { handed.cast::<Handed>().read() };
    __lr_libc_free(handed);
    body(words);
    ptr::without_provenance_mut(7)
}
