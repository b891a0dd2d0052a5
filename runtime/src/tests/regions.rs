//! Functions that are atomic regions: one step, two where they wait, and none after a panic or
//! their end.

use super::hooks::Words;
use super::{explore, right, search};
use crate::machine::region::__lr_region_enter;
use crate::machine::region::__lr_region_leave;
use crate::machine::region::unwinds;
use lockred_protocol::codes::BugKind;
use lockred_protocol::hooks::{How, Test};
use lockred_protocol::message::Stop;
use lockred_protocol::session::Strategy;

/// An addition in two halves.
fn halves(words: Words) {
    let seen = words.load_as(0, How::PRIMITIVE);
    words.store_as(0, seen + 1, How::PRIMITIVE);
}

fn region(words: Words) {
    __lr_region_enter();
    halves(words);
    __lr_region_leave();
}

#[test]
fn nobody_comes_in_between() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(region);
        region(words);
        words.join(thread);
        assert_eq!(words.load(0), 2);
        0
    }
    right(program, 2);
}

/// Both threads lose an addition in some order, unless they are in regions.
fn is_interleaved(program: fn(Words) -> i32) -> bool {
    let found = search(program, Strategy::Dpor, false);
    assert!(matches!(found.stop, Stop::Complete | Stop::Bug), "{found:?}");
    found.findings.iter().any(|finding| finding.kind == BugKind::Exit)
}

#[test]
fn a_region_ends_with_its_function_and_with_a_panic_and_takes_what_is_recognised() {
    fn after_its_end(words: Words) -> i32 {
        let body = |words: Words| {
            __lr_region_enter();
            words.load_as(1, How::PRIMITIVE);
            __lr_region_leave();
            halves(words);
        };
        let thread = words.spawn(body);
        body(words);
        words.join(thread);
        i32::from(words.load(0) != 2)
    }
    fn after_a_panic(words: Words) -> i32 {
        let body = |words: Words| {
            __lr_region_enter();
            words.load_as(1, How::PRIMITIVE);
            crate::machine::hook::with(unwinds);
            halves(words);
        };
        let thread = words.spawn(body);
        body(words);
        words.join(thread);
        i32::from(words.load(0) != 2)
    }
    fn of_nothing_recognised(words: Words) -> i32 {
        let body = |words: Words| {
            __lr_region_enter();
            words.store(0, words.load(0) + 1);
            __lr_region_leave();
        };
        let thread = words.spawn(body);
        body(words);
        words.join(thread);
        i32::from(words.load(0) != 2)
    }
    fn inside_of_two(words: Words) -> i32 {
        let body = |words: Words| {
            __lr_region_enter();
            words.load_as(1, How::PRIMITIVE);
            region(words);
            __lr_region_leave();
        };
        let thread = words.spawn(body);
        body(words);
        words.join(thread);
        i32::from(words.load(0) != 2)
    }
    assert!(is_interleaved(after_its_end) && is_interleaved(after_a_panic));
    assert!(is_interleaved(of_nothing_recognised) && !is_interleaved(inside_of_two));
}

#[test]
fn a_region_that_waits_is_two_steps() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            __lr_region_enter();
            words.load_as(0, How::PRIMITIVE);
            crate::hooks::atomics::__lr_await(1, 1, Test::Equal as u32);
            words.load_as(1, How::PRIMITIVE);
            halves(words);
            __lr_region_leave();
        });
        words.store(1, 1);
        halves(words);
        words.join(thread);
        0
    }
    let found = explore(program);
    assert_eq!((found.stop, found.findings), (Stop::Complete, vec![]));
}

#[test]
fn a_loop_without_an_end_in_a_region_waits_for_the_others() {
    fn pausing(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            __lr_region_enter();
            while words.load_as(0, How::PRIMITIVE) == 0 {
                words.pause();
            }
            __lr_region_leave();
        });
        words.store(0, 1);
        words.join(thread);
        0
    }
    fn reading(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            __lr_region_enter();
            while words.load_as(0, How::PRIMITIVE) == 0 {}
            __lr_region_leave();
        });
        words.store(0, 1);
        words.join(thread);
        0
    }
    for program in [pausing, reading] {
        let found = explore(program);
        assert_eq!((found.stop, found.findings), (Stop::Complete, vec![]));
    }
}

#[test]
fn an_operation_on_another_word_is_in_no_region_that_was_left_open() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.load_as(1, How::OPENS_REGION);
            words.load_as(0, How::IN_REGION);
        });
        words.store(1, 1);
        words.store(0, 1);
        words.join(thread);
        0
    }
    // Each load before or after the store to its word; three ways if the loads were one step.
    let found = search(program, Strategy::Transactions, false);
    assert_eq!((found.stop, found.counts.executions), (Stop::Complete, 4));
}
