//! Programs that sleep, and what may overtake them.

use super::hooks::Words;
use super::looks::{now, right_but_timed};
use super::{Program, complete, explore, kinds, minimise, replay, right, search, search_in, wrong};
use crate::scheduler::looks;
use lockred_protocol::codes::{AssumptionKind, BugKind};
use lockred_protocol::hooks::How;
use lockred_protocol::message::{Exploration, Minimised, Timed};
use lockred_protocol::session::{Environment, Strategy, Time};

pub const SECOND: u64 = 1_000_000_000;

pub fn sleep(nanoseconds: i64) {
    let second = SECOND as i64;
    let time = libc::timespec { tv_sec: nanoseconds / second, tv_nsec: nanoseconds % second };
    crate::hooks::time::__lr_libc_nanosleep(&raw const time, std::ptr::null_mut());
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

const ORDERED: Environment = Environment { time: Time::Ordered, ..Environment::USUAL };

/// What is found where time is ordered, by each strategy.
pub fn in_order(program: Program) -> Vec<Exploration> {
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
    fn after_something(words: Words) -> i32 {
        words.lock(0);
        let thread = words.spawn(|words| {
            words.lock(1);
            words.lock(0);
            words.unlock(0);
            words.unlock(1);
        });
        sleep(1_000_000);
        words.unlock(0);
        words.join(thread);
        0
    }
    for program in [program, after_something] {
        in_order(program).iter().for_each(complete);
        right(program, 1);
    }
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

#[test]
fn a_sleep_that_nobody_is_beside_bounds_nothing() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.join(thread);
        sleep(1_000_000);
        0
    }
    for found in in_order(program) {
        complete(&found);
        assert_eq!(kinds(&found), []);
    }
}

#[test]
fn a_sleep_lasts_and_time_never_goes_back() {
    fn program(words: Words) -> i32 {
        let before = now();
        let thread = words.spawn(|_| sleep(1_000_000));
        sleep(5_000_000);
        words.join(thread);
        i32::from(now() - before < 5_000_000)
    }
    let found = explore(program);
    complete(&found);
    in_order(program).iter().for_each(complete);
}

#[test]
fn sleeps_that_end_nearly_at_once_end_in_any_order() {
    fn after(words: Words, nanoseconds: i64) -> i32 {
        let thread = words.spawn(|words| {
            sleep(1_000_000);
            words.store(0, 1);
        });
        sleep(nanoseconds);
        let seen = words.load(0) as i32;
        words.join(thread);
        1 - seen
    }
    fn nearly(words: Words) -> i32 {
        after(words, 1_400_000)
    }
    fn later(words: Words) -> i32 {
        after(words, 1_500_000)
    }
    for found in in_order(nearly) {
        assert_eq!(found.findings.len(), 1, "{found:?}");
    }
    in_order(later).iter().for_each(complete);
}

#[test]
fn who_only_times_out_in_a_loop_holds_up_no_sleep() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            while words.load(0) == 0 {
                words.wait(0, 0, Some(1_000_000));
            }
        });
        sleep(900_000_000);
        words.store(0, 1);
        words.join(thread);
        0
    }
    in_order(program).iter().for_each(complete);
}

#[test]
fn a_sleep_ends_the_wait_that_it_is_in() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.load_as(0, How::PRIMITIVE | How::OPENS_REGION | How::DEADLINE);
        sleep(1_000_000);
        now();
        now();
        words.join(thread);
        0
    }
    // So what is looked at after it makes no deadline.
    right_but_timed(program, 2);
}

/// What is overtaken in the least schedule of the bug that is found, if it is one thing, and by
/// whom; `shown`: what its replay shows of that.
#[track_caller]
pub fn overtaken(program: Program, shown: &str) -> (Timed, u64, Option<u32>) {
    let least = least(program);
    assert_eq!((least.measure.overtaken, least.only_overtaken), (1, true));
    let replay = replay(program, least.schedule);
    assert!(replay.steps.iter().any(|step| step.operation == shown), "{:?}", replay.steps);
    let [overtaken] = &replay.overtaken[..] else { panic!("{:?}", replay.overtaken) };
    (overtaken.what, overtaken.nanoseconds, overtaken.by.map(|(by, _)| by))
}

#[test]
fn what_is_overtaken_is_reported_with_who_is_slower() {
    fn by_a_sleeper(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            sleep(1_000_000);
            words.store(0, 1);
        });
        sleep(5_000_000);
        let seen = words.load(0);
        words.join(thread);
        i32::from(seen == 0)
    }
    fn look(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
        });
        now();
        let before = now();
        words.load(0);
        let passed = now() - before;
        words.join(thread);
        i32::from(passed > 1_000_000)
    }
    assert_eq!(overtaken(by_a_sleeper, "sleep 5 ms"), (Timed::Sleep, 5_000_000, Some(1)));
    assert_eq!(
        overtaken(look, "looks at a clock: 24 h have passed"),
        (Timed::Look, looks::LATE, Some(1))
    );
}

#[test]
fn what_was_overtaken_distinguishes_no_states() {
    fn sleeps(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.add(0, 1);
        });
        sleep(1_000_000);
        words.add(0, 1);
        words.join(thread);
        let thread = words.spawn(|words| words.store(1, 1));
        words.store(1, 2);
        words.join(thread);
        0
    }
    let found = search(sleeps, Strategy::Stateful, false);
    complete(&found);
    assert_eq!(found.counts.executions, 2);
}
