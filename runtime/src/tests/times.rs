//! Programs that look at clocks, sleep and wait with timeouts.

use super::hooks::Words;
use super::{Program, complete, explore, kinds, minimise, replay, right, search, search_in, wrong};
use lockred_trace::codes::{AssumptionKind, BugKind};
use lockred_trace::message::{Exploration, Minimised};
use lockred_trace::session::{Environment, Strategy, Time};

/// A look at the monotonic clock, in nanoseconds.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    crate::hooks::time::__lr_libc_clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn sleep(nanoseconds: i64) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds };
    crate::hooks::time::__lr_libc_nanosleep(&raw const time, std::ptr::null_mut());
}

/// The program is right as far as that is explored, which looks at clocks leave open, in so many
/// executions.
#[track_caller]
fn right_but_timed(program: Program, executions: u64) {
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
fn sleeps_alone_decide_nothing() {
    fn program(words: Words) -> i32 {
        let threads = [(); 2].map(|()| words.spawn(|_| sleep(1_000_000)));
        words.join_all(&threads);
        0
    }
    right(program, 1);
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

const ORDERED: Environment = Environment { time: Time::Ordered, ..Environment::USUAL };

/// What is found where time is ordered, by each strategy.
fn in_order(program: Program) -> Vec<Exploration> {
    let bounded = Strategy::Bounded { preemptions: 9 };
    let strategies =
        [Strategy::Transactions, Strategy::Dpor, Strategy::Stateful, bounded, Strategy::Naive];
    strategies.map(|strategy| search_in(program, ORDERED, strategy, false)).into()
}

#[test]
fn ordered_sleeps_are_long_enough_and_end_in_order() {
    fn enough(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            words.store(0, 2);
        });
        sleep(1_000_000);
        let seen = words.load(0);
        words.join(thread);
        i32::from(seen != 2)
    }
    fn shorter(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            sleep(1_000_000);
            words.store(0, 1);
            sleep(1_000_000);
            words.store(0, 2);
        });
        sleep(5_000_000);
        let seen = words.load(0);
        words.join(thread);
        i32::from(seen != 2)
    }
    fn timeout(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            sleep(1_000_000);
            words.wake(0, 1);
        });
        let woken = words.wait(0, 0, Some(5_000_000));
        words.join(thread);
        i32::from(!woken)
    }
    for program in [enough, shorter, timeout] {
        for found in in_order(program) {
            complete(&found);
            assert!(kinds(&found).contains(&AssumptionKind::TimeOrdered), "{found:?}");
        }
        wrong(program, BugKind::Exit);
    }
}

#[test]
fn a_thread_that_begins_by_waiting_for_who_sleeps_is_waited_for() {
    fn program(words: Words) -> i32 {
        words.lock(0);
        let thread = words.spawn(|words| {
            words.lock(0);
            words.unlock(0);
        });
        sleep(1_000_000);
        words.unlock(0);
        words.join(thread);
        0
    }
    in_order(program).iter().for_each(complete);
}

#[test]
fn ordered_sleeps_that_end_at_once_end_in_any_order() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            sleep(1_000_000);
            words.store(0, 1);
        });
        sleep(1_000_000);
        let seen = words.load(0) as i32;
        words.join(thread);
        seen
    }
    fn other(words: Words) -> i32 {
        1 - program(words)
    }
    for program in [program, other] {
        for found in in_order(program) {
            assert_eq!(found.findings.len(), 1, "{found:?}");
        }
    }
}

/// The least schedule of the bug that is found.
fn least(program: Program) -> Minimised {
    let found = search(program, Strategy::Transactions, false);
    minimise(program, Environment::default(), &found.findings[0]).unwrap()
}

#[test]
fn a_schedule_that_overtakes_nothing_is_looked_for() {
    fn short(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
        });
        sleep(1_000_000);
        let seen = words.load(0);
        words.join(thread);
        i32::from(seen == 0)
    }
    // The sleep does not matter.
    fn wrong_anyway(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
        });
        let seen = words.load(0);
        sleep(1_000_000);
        words.join(thread);
        i32::from(seen == 0)
    }
    let only = least(short);
    assert_eq!((only.measure.overtaken, only.ordered, only.only_overtaken), (1, false, true));
    let replay = replay(short, only.schedule);
    let [overtaken] = &replay.overtaken[..] else { panic!("{:?}", replay.overtaken) };
    let by = overtaken.by.map(|(by, _)| by);
    assert_eq!((overtaken.nanoseconds, overtaken.thread, by), (1_000_000, 0, Some(1)));
    assert_eq!(least(wrong_anyway).measure.overtaken, 0);
}
