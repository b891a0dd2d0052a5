//! Programs that wait: futexes and their queues, joins.

use super::hooks::Words;
use super::{complete, explore, right, wrong};
use lockred_protocol::codes::BugKind;

#[test]
fn a_waiter_that_is_woken_goes_on() {
    fn program(words: Words) -> i32 {
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
    complete(&explore(program));
}

#[test]
fn a_wake_up_before_the_wait_is_lost() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.wake(0, 1);
        });
        words.wait(0, 0, None);
        words.join(thread);
        0
    }
    wrong(program, BugKind::Deadlock);
}

#[test]
fn a_wait_compares_and_enters_the_queue_in_one() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            words.wake(0, 1);
        });
        words.wait(0, 0, None);
        words.join(thread);
        0
    }
    complete(&explore(program));
}

#[test]
fn any_waiter_may_be_woken() {
    fn wait(words: Words, mine: usize) {
        words.wait(0, 0, None);
        // Who is woken first?
        if words.load(1) == 0 {
            words.store(1, mine as u64);
        }
    }
    fn program(words: Words) -> i32 {
        let threads = [words.spawn(|words| wait(words, 1)), words.spawn(|words| wait(words, 2))];
        while words.wake(0, 1) == 0 {
            words.pause();
        }
        let _ = words.load(1);
        while words.wake(0, 1) == 0 {
            words.pause();
        }
        words.join_all(&threads);
        // The second waiter may be first: that is the bug here.
        i32::from(words.load(1) == 2)
    }
    fn other(words: Words) -> i32 {
        let status = program(words);
        1 - status
    }
    wrong(program, BugKind::Exit);
    wrong(other, BugKind::Exit);
}

#[test]
fn a_timeout_may_fire_and_need_not() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.wake(0, 1);
        });
        let woken = words.wait(0, 0, Some(1000));
        words.join(thread);
        i32::from(woken)
    }
    fn other(words: Words) -> i32 {
        1 - program(words)
    }
    wrong(program, BugKind::Exit);
    wrong(other, BugKind::Exit);
}

#[test]
fn a_thread_that_waits_for_itself_or_for_nobody_is_reported() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.wait(3, 0, None);
        });
        words.join(thread);
        0
    }
    let replay = wrong(program, BugKind::Deadlock);
    assert_eq!(replay.bug.unwrap().places.len(), 2);
}

#[test]
fn joins_are_no_choice() {
    fn program(words: Words) -> i32 {
        let threads = [(); 4].map(|()| words.spawn(|_| {}));
        words.join_all(&threads);
        0
    }
    right(program, 1);
}
