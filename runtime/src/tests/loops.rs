//! Programs that wait in loops: with and without pauses, bounded and endless, reading only and
//! under locks.

use super::hooks::Words;
use super::{complete, explore, kinds, right, wrong};
use lockred_protocol::codes::{AssumptionKind, BugKind};
use lockred_protocol::message::Role;

#[test]
fn a_loop_with_pauses_sees_the_change() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.store(0, 1));
        while words.load(0) == 0 {
            words.pause();
        }
        words.join(thread);
        0
    }
    right(program, 2);
}

#[test]
fn a_loop_without_pauses_is_finite_too() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.store(0, 1));
        while words.load(0) == 0 {}
        words.join(thread);
        0
    }
    let found = explore(program);
    complete(&found);
    assert_eq!(found.assumptions, []);
}

#[test]
fn endless_loops_are_a_livelock_of_all_who_go_round() {
    fn go_round(words: Words) {
        while words.load(0) == 0 {
            words.pause();
        }
    }
    fn program(words: Words) -> i32 {
        let thread = words.spawn(go_round);
        go_round(words);
        words.join(thread);
        0
    }
    let replay = wrong(program, BugKind::Livelock);
    let bug = replay.bug.unwrap();
    assert_eq!(bug.places.iter().filter(|place| place.role == Role::Spins).count(), 2);
    assert!(replay.steps.len() < 1000, "rounds are not reported one by one");
}

#[test]
fn a_thread_left_alone_in_a_loop_is_a_livelock() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|_| {});
        words.join(thread);
        while words.load(0) == 0 {}
        0
    }
    wrong(program, BugKind::Livelock);
}

#[test]
fn a_bounded_loop_gives_up_while_another_goes_round_for_it() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            for _ in 0..30_000 {
                if words.load(1) == 1 {
                    break;
                }
                words.pause();
            }
            words.store(0, 1);
        });
        while words.load(0) == 0 {
            words.pause();
        }
        words.join(thread);
        0
    }
    let found = explore(program);
    complete(&found);
    assert_eq!(kinds(&found), [AssumptionKind::BoundedSpin]);
}

#[test]
fn a_look_under_a_lock_in_a_loop_is_finite() {
    fn look(words: Words) -> bool {
        words.lock(0);
        let done = words.read(1) == 1;
        words.unlock(0);
        done
    }
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.lock(0);
            words.write(1, 1);
            words.unlock(0);
        });
        while !look(words) {
            words.pause();
        }
        words.join(thread);
        0
    }
    fn vain(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            let _ = look(words);
        });
        while !look(words) {
            words.pause();
        }
        words.join(thread);
        0
    }
    let found = explore(program);
    complete(&found);
    assert_eq!(found.assumptions, []);
    assert!(found.counts.executions < 10, "{:?}", found.counts);
    wrong(vain, BugKind::Livelock);
}

#[test]
fn timeouts_in_a_loop_are_finite() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            words.wake(0, 1);
        });
        while words.load(0) == 0 {
            words.wait(0, 0, Some(1000));
        }
        words.join(thread);
        0
    }
    let found = explore(program);
    complete(&found);
    assert!(found.counts.executions < 30, "{:?}", found.counts);
}

#[test]
fn a_loop_that_counts_is_explored_round_by_round() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.store(0, 1));
        let mut rounds = 0;
        while rounds < 3 && words.load(0) == 0 {
            rounds += 1;
        }
        words.join(thread);
        i32::from(rounds == 2)
    }
    wrong(program, BugKind::Exit);
}
