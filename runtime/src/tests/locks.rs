//! Programs with locks: acquisitions are ordered both ways, deadlocks are found and reported.

use super::hooks::Words;
use super::{replay, right, walked, wrong};
use lockred_protocol::codes::BugKind;
use lockred_protocol::message::{Role, Stop};
use lockred_protocol::session::Target;
use lockred_protocol::sites::SiteId;
use lockred_search::targeted::UNMET;

fn increment(words: Words) {
    words.lock(0);
    words.write(1, words.read(1) + 1);
    words.unlock(0);
}

#[test]
fn two_increments_under_a_lock_take_two_executions() {
    fn program(words: Words) -> i32 {
        let threads = [(); 2].map(|()| words.spawn(increment));
        words.join_all(&threads);
        assert_eq!(words.read(1), 2);
        0
    }
    right(program, 2);
}

#[test]
fn three_increments_take_six() {
    fn program(words: Words) -> i32 {
        let threads = [(); 3].map(|()| words.spawn(increment));
        words.join_all(&threads);
        assert_eq!(words.read(1), 3);
        0
    }
    right(program, 6);
}

#[test]
fn crossing_locks_deadlock_and_the_report_knows_who_holds_what() {
    let replay = wrong(crossing, BugKind::Deadlock);
    let bug = replay.bug.as_ref().unwrap();
    let mut places: Vec<_> =
        bug.places.iter().map(|place| (place.thread, place.role == Role::Holds)).collect();
    places.sort_unstable();
    assert_eq!(places, [(0, false), (0, true), (1, false), (1, true)]);
    let object = |thread, role| {
        let is = |place: &&lockred_protocol::message::Place| {
            place.thread == thread && place.role == role
        };
        bug.places.iter().find(is).and_then(|place| place.object).unwrap()
    };
    assert_eq!(object(0, Role::Waits), object(1, Role::Holds));
    assert_eq!(object(1, Role::Waits), object(0, Role::Holds));
    assert_ne!(object(0, Role::Waits), object(0, Role::Holds));
}

#[test]
fn a_lock_acquired_twice_deadlocks_even_before_the_root() {
    fn program(words: Words) -> i32 {
        words.lock(0);
        words.lock(0);
        0
    }
    let bug = wrong(program, BugKind::Deadlock).bug.unwrap();
    let roles: Vec<_> = bug.places.iter().map(|place| place.role).collect();
    assert_eq!(roles, [Role::Waits, Role::Holds]);
}

/// The line of which those after it are counted in `crossing`.
const LINE: u32 = line!();

/// Two threads that acquire locks in opposite orders, one of them after work.
fn crossing(words: Words) -> i32 {
    let thread = words.spawn(|words| {
        (0..50).for_each(|_| assert!(words.add(2, 1) < 50));
        words.lock(1);
        words.lock(0);
        words.unlock(0);
        words.unlock(1);
    });
    words.lock(0);
    words.lock(1);
    words.unlock(1);
    words.unlock(0);
    words.join(thread);
    0
}

#[test]
fn walks_towards_a_cycle_close_it() {
    let nestings = |pairs: &[[u32; 2]]| Target {
        nestings: pairs.iter().map(|pair| pair.map(|line| SiteId(LINE + line))).collect(),
    };
    let cycle = nestings(&[[6, 7], [11, 12]]);
    // Nothing that is acquired there is held at the others.
    let other = nestings(&[[8, 7], [13, 12]]);
    let found = walked(crossing, vec![other.clone()], 30);
    assert_eq!((found.findings.len(), found.counts.executions), (0, UNMET));
    let found = walked(crossing, vec![other, cycle], 30);
    assert_eq!((&found.stop, found.counts.executions), (&Stop::Bug, UNMET + 1));
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    assert_eq!(finding.kind, BugKind::Deadlock);
    let searched = wrong(crossing, BugKind::Deadlock).bug.unwrap();
    assert_eq!(finding.key, searched.key, "as the search finds it");
    let replay = replay(crossing, finding.schedule.clone());
    assert_eq!((replay.bug.map(|bug| bug.key), replay.drift), (Some(searched.key), None));
}

#[test]
fn without_a_root_nobody_walks() {
    fn program(_: Words) -> i32 {
        3
    }
    let found = walked(program, vec![Target { nestings: vec![[SiteId(1), SiteId(2)]] }], 30);
    assert_eq!((found.findings, found.counts.executions), (vec![], 0));
}

/// The line after which `lock` acquires all locks.
const SHARED_LINE: u32 = line!();

fn lock(words: Words, index: usize) {
    words.lock(index);
}

/// Acquires two locks under each other.
fn both(words: Words, one: usize, other: usize) {
    lock(words, one);
    lock(words, other);
    [other, one].into_iter().for_each(|index| words.unlock(index));
}

#[test]
fn walks_tell_locks_apart_that_one_operation_acquires() {
    /// Both threads acquire locks under each other that nobody acquires otherwise; one of them
    /// comes late to its part of the cycle.
    fn cycle(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            (0..20).for_each(|_| both(words, 2, 3));
            both(words, 1, 0);
        });
        (0..10).for_each(|_| both(words, 4, 5));
        both(words, 0, 1);
        words.join(thread);
        0
    }
    fn ordered(words: Words) -> i32 {
        let thread = words.spawn(|words| both(words, 0, 1));
        both(words, 0, 1);
        both(words, 1, 2);
        words.join(thread);
        0
    }
    let site = SiteId(SHARED_LINE + 3);
    let target = || vec![Target { nestings: vec![[site, site]] }];
    let found = walked(ordered, target(), 30);
    assert_eq!(
        (found.findings.len(), found.counts.executions),
        (0, 1 + UNMET),
        "none of it is one"
    );
    let found = walked(cycle, target(), 30);
    assert_eq!((&found.stop, found.findings.len()), (&Stop::Bug, 1));
    assert!(found.counts.executions <= 3, "{:?}", found.counts);
}
