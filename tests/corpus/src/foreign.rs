//! C's functions, called directly: threads, keys and memory of libc, callbacks from C, and what is said where C code that is not seen touches
//! what threads share, or blocks.

use crate::shared::Shared;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{scope, spawn};

type Compare = extern "C" fn(*const c_void, *const c_void) -> c_int;

unsafe extern "C" {
    fn pthread_create(
        thread: *mut usize,
        attributes: *const c_void,
        routine: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: usize, result: *mut *mut c_void) -> c_int;
    fn pthread_detach(thread: usize) -> c_int;
    fn pthread_exit(result: *mut c_void) -> !;
    fn pthread_key_create(key: *mut c_uint, destructor: extern "C" fn(*mut c_void)) -> c_int;
    fn pthread_key_delete(key: c_uint) -> c_int;
    fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    fn pthread_getspecific(key: c_uint) -> *mut c_void;
    fn qsort(base: *mut c_void, count: usize, size: usize, compare: Compare);
    fn memset(to: *mut c_void, byte: c_int, count: usize) -> *mut c_void;
    fn strlen(text: *const c_char) -> usize;
    fn atoi(text: *const c_char) -> c_int;
    fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    fn pthread_rwlock_rdlock(lock: *mut c_void) -> c_int;
    fn pthread_cond_wait(signal: *mut c_void, mutex: *mut c_void) -> c_int;
    fn pthread_barrier_wait(barrier: *mut c_void) -> c_int;
    fn pthread_once(once: *mut c_int, routine: extern "C" fn()) -> c_int;
    fn sem_wait(semaphore: *mut c_void) -> c_int;
}

/// Starts a thread of C, which gets this.
fn start<T>(routine: extern "C" fn(*mut c_void) -> *mut c_void, argument: &T) -> usize {
    let mut thread = 0;
    let argument = (&raw const *argument).cast_mut().cast();
    assert_eq!(unsafe { pthread_create(&raw mut thread, null(), routine, argument) }, 0);
    thread
}

fn join(thread: usize) -> *mut c_void {
    let mut result = null_mut();
    assert_eq!(unsafe { pthread_join(thread, &raw mut result) }, 0);
    result
}

/// Adds to a number, atomically.
extern "C" fn adds(number: *mut c_void) -> *mut c_void {
    unsafe { &*number.cast::<AtomicU32>() }.fetch_add(1, SeqCst);
    number
}

/// Adds to a number.
extern "C" fn adds_plainly(number: *mut c_void) -> *mut c_void {
    unsafe { *number.cast::<u32>() += 1 }; //~ bug of two_threads_of_c_add_plainly, a_detached_thread_of_c_adds_plainly
    number
}

//@ verified
//@ executions = 2
#[test]
fn two_threads_of_c() {
    let number = AtomicU32::new(0);
    let threads = [start(adds, &number), start(adds, &number)];
    for thread in threads {
        assert_eq!(join(thread).cast_const().cast(), &raw const number);
    }
    assert_eq!(number.load(Relaxed), 2);
}

//@ failed data-race
#[test]
fn two_threads_of_c_add_plainly() {
    let number = Shared::new(0_u32);
    let threads = [start(adds_plainly, &number), start(adds_plainly, &number)];
    for thread in threads {
        join(thread);
    }
}

//@ failed data-race
#[test]
fn a_detached_thread_of_c_adds_plainly() {
    static NUMBER: Shared<u32> = Shared::new(0);
    let thread = start(adds_plainly, &NUMBER);
    assert_eq!(unsafe { pthread_detach(thread) }, 0);
    assert!(unsafe { *NUMBER.ptr() } <= 1); //~ bug
}

/// Ends its thread from inside of a call.
extern "C" fn leaves(number: *mut c_void) -> *mut c_void {
    adds(number);
    unsafe { pthread_exit(null_mut()) }
}

//@ unsupported pthread_exit
#[test]
fn a_thread_of_c_that_leaves_early() {
    let number = AtomicU32::new(0);
    assert!(join(start(leaves, &number)).is_null());
    assert_eq!(number.load(Relaxed), 1);
}

/// What destructors of keys add up, with a lock and without.
static LEFT: Mutex<usize> = Mutex::new(0);
static LEFT_PLAINLY: Shared<usize> = Shared::new(0);

extern "C" fn destroys(value: *mut c_void) {
    *LEFT.lock().unwrap() += value.addr();
}

extern "C" fn destroys_plainly(value: *mut c_void) {
    unsafe { *LEFT_PLAINLY.ptr() += value.addr() }; //~ bug of a_destructor_of_a_key_without_a_lock
}

/// Two threads have a value each of a key.
fn values_of_a_key(destructor: extern "C" fn(*mut c_void)) {
    let mut key = 0;
    assert_eq!(unsafe { pthread_key_create(&raw mut key, destructor) }, 0);
    scope(|scope| {
        for value in [1_usize, 2] {
            scope.spawn(move || unsafe {
                assert!(pthread_getspecific(key).is_null());
                pthread_setspecific(key, std::ptr::without_provenance(value));
                assert_eq!(pthread_getspecific(key).addr(), value);
            });
        }
    });
    assert_eq!(unsafe { pthread_key_delete(key) }, 0);
}

//@ verified
#[test]
fn a_destructor_of_a_key_with_a_lock() {
    values_of_a_key(destroys);
}

//@ failed data-race
#[test]
fn a_destructor_of_a_key_without_a_lock() {
    values_of_a_key(destroys_plainly);
}

// What memset writes is seen.
//@ failed data-race
#[test]
fn memory_set_by_c_while_it_is_read() {
    let text = Arc::new(Shared::new([0_u8; 8]));
    let other = Arc::clone(&text);
    let thread = spawn(move || unsafe { memset(other.ptr().cast(), 7, 8) }.is_null()); //~ bug
    assert!(unsafe { (*text.ptr())[3] } <= 7); //~ bug
    thread.join().unwrap();
}

//@ verified
#[test]
fn memory_set_by_c_under_a_lock() {
    let text = Arc::new(Mutex::new([0_u8; 8]));
    let other = Arc::clone(&text);
    let thread = spawn(move || {
        let mut text = other.lock().unwrap();
        unsafe { memset(text.as_mut_ptr().cast(), 7, 7) };
    });
    let length = unsafe { strlen(text.lock().unwrap().as_ptr().cast()) };
    assert!(length == 0 || length == 7);
    thread.join().unwrap();
}

//@ failed use-after-free
#[test]
fn a_block_of_c_used_behind_its_end() {
    let block = Arc::new(Shared::new(unsafe { malloc(8) }.cast::<u64>()));
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { free((*other.ptr()).cast()) });
    thread.join().unwrap();
    unsafe { **block.ptr() = 1 }; //~ bug
}

//@ verified
#[test]
fn a_block_of_c_handed_over() {
    let block = Arc::new(Shared::new(unsafe { malloc(8) }.cast::<u64>()));
    let other = Arc::clone(&block);
    let thread = spawn(move || unsafe { **other.ptr() = 1 });
    thread.join().unwrap();
    unsafe { free((*block.ptr()).cast()) };
}

/// Comparisons, counted with a lock and without.
static COMPARISONS: Mutex<usize> = Mutex::new(0);
static COMPARISONS_PLAINLY: Shared<usize> = Shared::new(0);

extern "C" fn compare(one: *const c_void, other: *const c_void) -> c_int {
    *COMPARISONS.lock().unwrap() += 1;
    let [one, other] = [one, other].map(|number| unsafe { *number.cast::<c_int>() });
    one - other
}

extern "C" fn compare_plainly(one: *const c_void, other: *const c_void) -> c_int {
    unsafe { *COMPARISONS_PLAINLY.ptr() += 1 }; //~ bug of callbacks_of_c_that_count_plainly
    compare(one, other)
}

/// Two threads sort with C's function, which calls this.
fn sort(compare: Compare) {
    let thread = |mut numbers: [c_int; 2]| {
        spawn(move || {
            unsafe { qsort(numbers.as_mut_ptr().cast(), 2, 4, compare) };
            numbers
        })
    };
    let threads = [thread([2, 1]), thread([1, 2])];
    for thread in threads {
        assert_eq!(thread.join().unwrap(), [1, 2]);
    }
}

//@ passed native-code
#[test]
fn callbacks_of_c() {
    sort(compare);
}

//@ failed data-race
#[test]
fn callbacks_of_c_that_count_plainly() {
    sort(compare_plainly);
}

// The race is inside of C code that is not seen.
//@ passed native-code
#[test]
fn text_copied_by_c_while_it_is_read_by_c() {
    let text = Arc::new(Shared::new(*b"12345\0"));
    let other = Arc::clone(&text);
    let thread = spawn(move || unsafe { stpcpy(other.ptr().cast(), c"67".as_ptr()) }.is_null());
    assert!(unsafe { atoi(text.ptr().cast()) } > 0);
    assert!(!thread.join().unwrap());
}

/// Memory for any of C's objects, as its static initialisers leave it.
type Object = Shared<[u64; 8]>;

/// A thread calls this.
fn in_a_thread(call: impl FnOnce(*mut c_void) + Send + 'static) {
    let object = Object::new([0; 8]);
    spawn(move || call(object.ptr().cast())).join().unwrap();
}

//@ unsupported pthread_mutex_lock
#[test]
fn a_mutex_of_c() {
    in_a_thread(|mutex| assert_eq!(unsafe { pthread_mutex_lock(mutex) }, 0));
}

//@ unsupported pthread_rwlock_rdlock
#[test]
fn a_reader_writer_lock_of_c() {
    in_a_thread(|lock| assert_eq!(unsafe { pthread_rwlock_rdlock(lock) }, 0));
}

//@ unsupported pthread_cond_wait
#[test]
fn a_condition_variable_of_c() {
    in_a_thread(|signal| assert_eq!(unsafe { pthread_cond_wait(signal, signal) }, 0));
}

//@ unsupported pthread_barrier_wait
#[test]
fn a_barrier_of_c() {
    in_a_thread(|barrier| assert_eq!(unsafe { pthread_barrier_wait(barrier) }, 0));
}

//@ unsupported pthread_once
#[test]
fn a_once_of_c() {
    extern "C" fn initialises() {}
    in_a_thread(|once| assert_eq!(unsafe { pthread_once(once.cast(), initialises) }, 0));
}

//@ unsupported sem_wait
#[test]
fn a_semaphore_of_c() {
    in_a_thread(|semaphore| assert_eq!(unsafe { sem_wait(semaphore) }, 0));
}
