//! Programs that look at clocks.

use super::hooks::Words;
use super::times::in_order;
use super::{Program, complete, explore, kinds, right, search, wrong};
use crate::machine::region::__lr_region_enter;
use crate::machine::region::__lr_region_leave;
use lockred_protocol::codes::{AssumptionKind, BugKind};
use lockred_protocol::hooks::How;
use lockred_protocol::session::Strategy;

/// A look at the monotonic clock, in nanoseconds.
pub fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    crate::hooks::time::__lr_libc_clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The program is right as far as that is explored, which looks at clocks leave open, in so many
/// executions.
#[track_caller]
pub fn right_but_timed(program: Program, executions: u64) {
    let found = explore(program);
    complete(&found);
    assert_eq!(kinds(&found), [AssumptionKind::VirtualTime]);
    assert_eq!(found.counts.executions, executions);
}

#[test]
fn a_timeout_that_fired_has_passed() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.wake(0, 1);
        });
        let before = now();
        let woken = words.wait(0, 0, Some(1_000_000));
        let passed = now() - before;
        words.join(thread);
        i32::from(passed <= 0 || !woken && passed < 1_000_000)
    }
    // Of the three orders each, with the second look early and late.
    right_but_timed(program, 6);
}

#[test]
fn little_or_much_may_have_passed_between_two_looks() {
    fn passed(words: Words) -> i64 {
        let thread = words.spawn(|_| {});
        let before = now();
        let passed = now() - before;
        words.join(thread);
        passed
    }
    const HOUR: i64 = 3600 * 1_000_000_000;
    wrong(|words| i32::from(passed(words) > HOUR), BugKind::Exit);
    wrong(|words| i32::from(passed(words) < HOUR), BugKind::Exit);
}

#[test]
fn much_has_passed_at_one_of_the_first_looks_only() {
    fn one(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        now();
        words.join(thread);
        0
    }
    fn many(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        let looks: Vec<i64> = std::iter::repeat_with(now).take(100).collect();
        words.join(thread);
        let late = looks.windows(2).filter(|pair| pair[1] - pair[0] > 1_000_000).count();
        i32::from(late > 1)
    }
    right_but_timed(one, 1);
    right_but_timed(many, 5);
}

#[test]
fn looks_before_the_first_thread_decide_nothing() {
    fn program(words: Words) -> i32 {
        now();
        now();
        let thread = words.spawn(|_| {});
        words.join(thread);
        0
    }
    right(program, 1);
}

#[test]
fn the_looks_before_the_first_thread_use_up_no_late_one_and_are_what_later_ones_compare_with() {
    fn program(words: Words) -> i32 {
        for _ in 0..9 {
            now();
        }
        let thread = words.spawn(|_| {});
        now();
        words.join(thread);
        0
    }
    right_but_timed(program, 2);
}

#[test]
fn looks_of_a_program_without_threads_assume_nothing() {
    fn program(_: Words) -> i32 {
        crate::hooks::choices::__lr_choose(2);
        now();
        now();
        0
    }
    right(program, 4);
}

#[test]
fn looks_that_only_make_deadlines_decide_nothing() {
    fn looks_in(words: Words, flags: u32) {
        let thread = words.spawn(|_| {});
        words.load_as(0, How::PRIMITIVE | flags);
        now();
        now();
        words.store_as(0, 1, How::PRIMITIVE | How::CLOSES_REGION);
        words.join(thread);
    }
    fn in_a_wait(words: Words) -> i32 {
        looks_in(words, How::OPENS_REGION | How::DEADLINE);
        0
    }
    // That of a call which is over, for all that is known.
    fn in_another_region(words: Words) -> i32 {
        looks_in(words, How::OPENS_REGION);
        0
    }
    fn after_a_wait(words: Words) -> i32 {
        looks_in(words, How::OPENS_REGION | How::DEADLINE);
        now();
        now();
        0
    }
    fn in_a_function(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        __lr_region_enter();
        now();
        now();
        __lr_region_leave();
        words.join(thread);
        0
    }
    right(in_a_wait, 1);
    right(in_a_function, 1);
    right_but_timed(in_another_region, 2);
    right_but_timed(after_a_wait, 2);
}

#[test]
fn who_polls_a_deadline_while_nobody_can_help_comes_to_it() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.lock(1);
            words.unlock(1);
        });
        words.lock(1);
        let start = now();
        while words.load(0) == 0 && now() - start < 10_000_000 {
            words.pause();
        }
        words.unlock(1);
        words.join(thread);
        0
    }
    let found = explore(program);
    complete(&found);
    assert_eq!(kinds(&found), [AssumptionKind::VirtualTime, AssumptionKind::BoundedSpin]);
    assert_eq!(found.counts.executions, 10);
}

#[test]
fn a_look_of_who_cannot_be_helped_takes_a_millisecond_and_is_never_late() {
    fn program(words: Words) -> i32 {
        words.lock(1);
        let thread = words.spawn(|words| words.lock(1));
        let start = now();
        for _ in 0..200 {
            words.load(0);
            words.pause();
        }
        let passed = now() - start;
        words.unlock(1);
        words.join(thread);
        i32::from(passed != 1_000_000)
    }
    for strategy in [Strategy::Transactions, Strategy::Dpor] {
        complete(&search(program, strategy, false));
    }
}

#[test]
fn with_ordered_time_no_look_is_late_and_that_is_said() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        let passed = -now() + now();
        words.join(thread);
        i32::from(passed > 1_000_000)
    }
    for found in in_order(program) {
        complete(&found);
        assert_eq!(found.counts.executions, 1, "{found:?}");
        assert_eq!(kinds(&found), [AssumptionKind::VirtualTime, AssumptionKind::TimeOrdered]);
    }
}
