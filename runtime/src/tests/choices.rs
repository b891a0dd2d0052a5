//! Programs with choices of their own, and with what the environment does for no reason.

use super::hooks::Words;
use super::{complete, explore, explore_in, kinds, prepare, right, search_in, wrong, wrong_in};
use crate::hooks::choices::__lr_choose;
use crate::tasks::response;
use lockred_protocol::codes::{AssumptionKind, BugKind};
use lockred_protocol::message::{Message, Stop};
use lockred_protocol::session::{Environment, Limits, Random, Share, Strategy, Task};

const SPURIOUS: Environment = Environment { spurious: true, ..Environment::USUAL };
const RANDOM: Environment = Environment { random: Random::Explore, ..Environment::USUAL };

#[test]
fn all_combinations_of_choices_are_explored() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {
            __lr_choose(3);
        });
        __lr_choose(2);
        words.join(thread);
        0
    }
    right(program, 6);
}

#[test]
fn main_may_choose_before_it_has_threads_and_after_them() {
    fn alone(_: Words) -> i32 {
        i32::from(__lr_choose(5) == 4)
    }
    fn again(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.join(thread);
        i32::from(__lr_choose(5) + __lr_choose(5) == 8)
    }
    wrong(alone, BugKind::Exit);
    wrong(again, BugKind::Exit);
}

#[test]
fn one_value_is_no_choice() {
    fn program(_: Words) -> i32 {
        __lr_choose(1) as i32
    }
    right(program, 1);
}

#[test]
fn a_choice_under_a_lock_meets_every_order() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.lock(0);
            words.write(1, __lr_choose(2));
            words.unlock(0);
        });
        words.lock(0);
        let early = words.read(1);
        words.unlock(0);
        words.join(thread);
        i32::from(early == 1)
    }
    wrong(program, BugKind::Exit);
}

#[test]
fn a_loop_of_choices_is_cut() {
    fn program(_: Words) -> i32 {
        loop {
            __lr_choose(2);
        }
    }
    let limits =
        Limits { executions: Some(2), seconds: None, operations: 100, share: Share::default() };
    for strategy in [Strategy::Dpor, Strategy::Transactions, Strategy::Naive] {
        let task = Task::Explore { strategy, limits, keep_going: false };
        let (_guard, rooted) = prepare(program, task, Environment::default());
        let Message::Explored(found) = response::explore(strategy, limits, false, rooted) else {
            panic!("an exploration did not get one as its response")
        };
        assert_eq!((found.stop, found.findings.len()), (Stop::Executions, 0), "{strategy:?}");
    }
}

/// Waits once for a word to be set, and expects it to be.
fn waits_once(words: Words) -> i32 {
    let thread = words.spawn(|words| {
        words.store(0, 1);
        words.wake(0, 1);
    });
    words.wait(0, 0, None);
    let early = words.load(0) == 0;
    words.join(thread);
    i32::from(early)
}

/// Waits for a word to be set.
fn waits_in_a_loop(words: Words) -> i32 {
    let thread = words.spawn(|words| {
        words.store(0, 1);
        words.wake(0, 1);
    });
    while words.load(0) == 0 {
        words.wait(0, 0, None);
    }
    words.join(thread);
    0
}

#[test]
fn a_wait_returns_for_no_reason_only_when_asked_for() {
    complete(&explore(waits_once));
    wrong_in(waits_once, SPURIOUS, BugKind::Exit);
}

#[test]
fn a_loop_that_waits_is_right_and_the_search_ends() {
    let found = explore_in(waits_in_a_loop, SPURIOUS);
    complete(&found);
    assert_eq!(found.assumptions, []);
    assert!(found.counts.executions > explore(waits_in_a_loop).counts.executions);
}

#[test]
fn a_wait_with_a_timeout_may_return_for_no_reason_too() {
    fn program(words: Words) -> i32 {
        i32::from(words.wait(0, 0, Some(1000)))
    }
    complete(&explore(program));
    wrong_in(program, SPURIOUS, BugKind::Exit);
}

#[test]
fn rounds_that_are_counted_are_bounded_and_that_is_said() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            words.wake(0, 1);
        });
        let mut rounds = 0;
        while words.load(0) == 0 && rounds < 5 {
            words.wait(0, 0, None);
            rounds += 1;
        }
        words.join(thread);
        i32::from(rounds == 2)
    }
    fn more(words: Words) -> i32 {
        program(words);
        0
    }
    wrong_in(program, SPURIOUS, BugKind::Exit);
    let found = explore_in(more, SPURIOUS);
    complete(&found);
    assert_eq!(kinds(&found), [AssumptionKind::BoundedSpurious]);
}

#[test]
fn two_waits_in_a_row_may_both_return_for_no_reason() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            words.wake(0, 1);
        });
        words.wait(0, 0, None);
        words.wait(0, 0, None);
        let early = words.load(0) == 0;
        words.join(thread);
        i32::from(early)
    }
    wrong_in(program, SPURIOUS, BugKind::Exit);
}

#[test]
fn what_comes_a_third_time_in_a_row_is_left_out_and_that_is_said() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            words.wake(0, 1);
        });
        words.wait(0, 0, None);
        words.wait(0, 0, None);
        words.wait(0, 0, None);
        words.join(thread);
        0
    }
    let found = explore_in(program, SPURIOUS);
    complete(&found);
    assert_eq!(kinds(&found), [AssumptionKind::BoundedSpurious]);
}

#[test]
fn what_happens_for_a_reason_ends_a_row() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        let mut failed = 0;
        for value in 0..3 {
            while !words.exchange_weak(0, value, value + 1) {
                failed += 1;
            }
        }
        words.join(thread);
        i32::from(failed == 5)
    }
    wrong_in(program, SPURIOUS, BugKind::Exit);
}

#[test]
fn a_weak_exchange_may_fail_and_a_strong_one_may_not() {
    fn weak(words: Words) -> i32 {
        words.join(words.spawn(|_| {}));
        i32::from(!words.exchange_weak(0, 0, 1) || words.load(0) != 1)
    }
    fn strong(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        let old = words.exchange(0, 0, 1);
        words.join(thread);
        old as i32
    }
    fn failed_writes_nothing(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        let wrote = words.exchange_weak(0, 0, 1);
        words.join(thread);
        i32::from(words.load(0) != u64::from(wrote))
    }
    complete(&explore(weak));
    wrong_in(weak, SPURIOUS, BugKind::Exit);
    right(strong, 1);
    assert_eq!(explore_in(strong, SPURIOUS).counts.executions, 1);
    complete(&explore_in(failed_writes_nothing, SPURIOUS));
}

#[test]
fn a_loop_of_weak_exchanges_ends() {
    fn program(words: Words) -> i32 {
        let count = |words: Words| {
            let mut old = words.load(0);
            while !words.exchange_weak(0, old, old + 1) {
                old = words.load(0);
            }
        };
        let thread = words.spawn(|words| {
            let mut old = words.load(0);
            while !words.exchange_weak(0, old, old + 1) {
                old = words.load(0);
            }
        });
        count(words);
        words.join(thread);
        i32::from(words.load(0) != 2)
    }
    let found = explore_in(program, SPURIOUS);
    complete(&found);
    assert_eq!(found.assumptions, []);
}

#[test]
fn randomness_is_a_sample_when_it_is_explored() {
    fn draw() -> u64 {
        let mut word = 0_u64;
        crate::hooks::randomness::__lr_libc_getrandom((&raw mut word).cast(), 8, 0);
        word
    }
    fn zero(_: Words) -> i32 {
        i32::from(draw() == 0)
    }
    fn ones(words: Words) -> i32 {
        let thread = words.spawn(|words| words.write(0, draw()));
        words.join(thread);
        i32::from(words.read(0) == u64::MAX)
    }
    fn any(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        draw();
        words.join(thread);
        0
    }
    wrong_in(zero, RANDOM, BugKind::Exit);
    wrong_in(ones, RANDOM, BugKind::Exit);
    let fixed = explore(any);
    assert_eq!(
        (fixed.counts.executions, kinds(&fixed)),
        (1, vec![AssumptionKind::RandomnessFixed])
    );
    let explored = explore_in(any, RANDOM);
    assert_eq!(explored.counts.executions, 4);
    assert_eq!(kinds(&explored), [AssumptionKind::RandomnessSampled]);
}

#[test]
fn random_walks_make_choices_too() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.wait(0, 0, None);
        words.join(thread);
        i32::from(__lr_choose(7) == 6)
    }
    let strategy = Strategy::Random { seed: 1 };
    let found = search_in(program, SPURIOUS, strategy, true);
    let found: Vec<BugKind> = found.findings.iter().map(|finding| finding.kind).collect();
    assert!(found.contains(&BugKind::Exit) && found.contains(&BugKind::Deadlock), "{found:?}");
}
