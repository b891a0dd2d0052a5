//! Programs with locks: acquisitions are ordered both ways, deadlocks are found and told.

use super::hooks::Words;
use super::{right, wrong};
use lockred_trace::codes::BugKind;
use lockred_trace::message::Role;

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
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
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
    let replay = wrong(program, BugKind::Deadlock);
    let bug = replay.bug.as_ref().unwrap();
    let mut places: Vec<_> =
        bug.places.iter().map(|place| (place.thread, place.role == Role::Holds)).collect();
    places.sort_unstable();
    assert_eq!(places, [(0, false), (0, true), (1, false), (1, true)]);
    let object = |thread, role| {
        let is =
            |place: &&lockred_trace::message::Place| place.thread == thread && place.role == role;
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
