//! Programs that ask which processors their threads may use, and are on.

use super::hooks::Words;
use super::right;
use crate::models::processors::{
    __lr_libc_getcpu, __lr_libc_sched_getaffinity, __lr_libc_sched_getcpu,
    __lr_libc_sched_setaffinity, __lr_libc_sysconf, system_call,
};
use std::ptr::null_mut;

/// What the running thread may use.
fn may_use() -> u64 {
    let mut set = [u64::MAX; 2];
    // SAFETY: a set of 16 bytes.
    let result = unsafe { __lr_libc_sched_getaffinity(0, 16, set.as_mut_ptr().cast()) };
    assert_eq!((result, set[1]), (0, 0));
    set[0]
}

/// From now on it may use these; gives 0 or -1.
fn use_only(set: u64) -> i32 {
    // SAFETY: a set of eight bytes.
    unsafe { __lr_libc_sched_setaffinity(0, 8, (&raw const set).cast()) }
}

/// Where it is, by each call that says so.
fn is_on() -> i32 {
    let mut told = [7_u32; 3];
    let [first, node, third] = &mut told;
    // SAFETY: places for the numbers.
    unsafe { __lr_libc_getcpu(first, node) };
    system_call(libc::SYS_getcpu, &raw mut *third as usize, null_mut::<u32>() as usize, 0);
    let number = __lr_libc_sched_getcpu();
    assert_eq!(told, [number as u32, 0, number as u32]);
    number
}

#[test]
fn a_thread_is_on_the_first_of_two_processors_that_it_may_use() {
    fn program(words: Words) -> i32 {
        assert_eq!(__lr_libc_sysconf(libc::_SC_NPROCESSORS_ONLN), 2);
        let thread = words.spawn(|words| {
            assert_eq!((may_use(), is_on()), (0b11, 0));
            assert_eq!(use_only(0xf0 | 0b10), 0);
            assert_eq!((may_use(), is_on()), (0b10, 1));
            // It hands that on.
            let inner = words.spawn(|_| assert_eq!((may_use(), is_on()), (0b10, 1)));
            words.join(inner);
        });
        words.join(thread);
        assert_eq!((may_use(), is_on()), (0b11, 0));
        0
    }
    right(program, 1);
}

#[test]
fn what_the_kernel_refuses_is_refused() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.join(thread);
        let mut set = 0_u64;
        let place = (&raw mut set).cast();
        // Too small a set, none of the processors, and a thread that there is not.
        // SAFETY: sets of eight bytes at least.
        unsafe {
            assert_eq!(__lr_libc_sched_getaffinity(0, 4, place), -1);
            assert_eq!(__lr_libc_sched_getaffinity(i32::MAX, 8, place), -1);
        }
        assert_eq!((use_only(0), use_only(0b100), may_use()), (-1, -1, 0b11));
        let place = place as usize;
        assert_eq!(system_call(libc::SYS_sched_getaffinity, 0, 8, place), Some(8));
        assert_eq!(system_call(libc::SYS_sched_getaffinity, 0, 4, place), Some(-1));
        assert_eq!(set, 0b11);
        0
    }
    right(program, 1);
}
