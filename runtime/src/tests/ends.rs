//! How programs end: statuses, threads left behind, destructors.

use super::hooks::Words;
use super::{complete, explore, kinds, right, warnings, wrong};
use crate::hooks::process::{__lr_libc_atexit, __lr_libc_exit};
use crate::hooks::pthread::{
    __lr_libc___cxa_thread_atexit_impl, __lr_libc_pthread_key_create, __lr_libc_pthread_setspecific,
};
use crate::models::signals::calls::__lr_libc_abort;
use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use lockred_protocol::message::Stop;

#[test]
fn a_program_without_threads_is_one_execution() {
    right(|_| 0, 1);
    assert_eq!(wrong(|_| 3, BugKind::Exit).bug.unwrap().message, "the program exits with status 3");
}

#[test]
fn a_status_that_only_some_orders_give_is_found() {
    fn program(words: Words) -> i32 {
        words.spawn(|words| words.store(0, 1));
        i32::from(words.load(0) == 0)
    }
    wrong(program, BugKind::Exit);
}

#[test]
fn a_thread_may_end_the_process() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| __lr_libc_exit(5));
        words.join(thread);
        0
    }
    wrong(program, BugKind::Exit);
}

#[test]
fn an_abort_ends_an_execution_and_not_the_search() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.store(0, 1));
        if words.load(0) == 1 {
            __lr_libc_abort();
        }
        words.join(thread);
        0
    }
    wrong(program, BugKind::Abort);
    let found = super::search(program, lockred_protocol::session::Strategy::Dpor, true);
    assert_eq!((found.stop, found.findings.len()), (Stop::Complete, 1));
}

#[test]
fn a_thread_blocked_for_ever_after_main_s_end_is_a_warning() {
    fn program(words: Words) -> i32 {
        words.spawn(|words| {
            words.wait(0, 0, None);
        });
        0
    }
    let found = explore(program);
    complete(&found);
    assert_eq!(warnings(&found), [WarningKind::ThreadStuck]);
}

#[test]
fn a_thread_that_outlives_main_is_cut() {
    fn program(words: Words) -> i32 {
        words.spawn(|words| {
            loop {
                words.add(0, 1);
            }
        });
        0
    }
    let found = super::search(program, lockred_protocol::session::Strategy::Naive, false);
    assert_eq!(found.findings, []);
    assert!(kinds(&found).iter().all(|kind| *kind == AssumptionKind::DetachedThreadCut));
}

#[test]
fn what_a_thread_does_after_main_s_end_still_counts() {
    fn program(words: Words) -> i32 {
        words.spawn(|words| words.write(0, 1));
        let _ = words.read(0);
        0
    }
    wrong(program, BugKind::DataRace);
}

#[test]
fn destructors_run_last_registered_first_and_then_those_of_keys() {
    unsafe extern "C" fn note(argument: *mut u8) {
        let packed = argument as usize;
        let words = Words((packed & !0xff) as *mut u64);
        words.write(0, words.read(0) * 10 + (packed & 0xff) as u64);
    }
    fn program(words: Words) -> i32 {
        // The words' address leaves no room below: a multiple of 256 in the same block.
        let aligned = Words((words.at(0).next_multiple_of(256)) as *mut u64);
        words.store(40, aligned.0 as u64);
        let thread = words.spawn(|words| {
            let aligned = words.load(40) as usize;
            let mut key = 0;
            __lr_libc_pthread_key_create(&raw mut key, Some(note));
            __lr_libc_pthread_setspecific(key, (aligned | 3) as *mut u8);
            for digit in [1, 2] {
                let argument = (aligned | digit) as *mut u8;
                __lr_libc___cxa_thread_atexit_impl(note, argument, std::ptr::null_mut());
            }
        });
        words.join(thread);
        assert_eq!(aligned.read(0), 213);
        0
    }
    right(program, 1);
}

#[test]
fn exit_functions_run_at_the_end() {
    unsafe extern "C" fn leave_with_4() {
        __lr_libc_exit(4);
    }
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.join(thread);
        __lr_libc_atexit(leave_with_4);
        0
    }
    wrong(program, BugKind::Exit);
}
