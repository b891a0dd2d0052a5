//! Programs over shared words: how many executions there are, and which of them race.

use super::hooks::Words;
use super::{explore, right, right_but_weak, wrong};
use lockred_protocol::codes::BugKind;
use lockred_protocol::hooks::{Class, Order};
use lockred_protocol::message::Role;

#[test]
fn additions_whose_results_are_used_have_an_order() {
    fn program(words: Words) -> i32 {
        let threads = [(); 3].map(|()| {
            words.spawn(|words| {
                words.add(0, 1);
            })
        });
        words.join_all(&threads);
        assert_eq!(words.load(0), 3);
        0
    }
    right(program, 6);
}

#[test]
fn additions_whose_results_are_unused_commute_unless_they_synchronise() {
    fn relaxed(words: Words) -> i32 {
        let add = |words: Words| words.add_as(0, 1, Class::Unused, Order::Relaxed);
        let threads = [(); 3].map(|()| words.spawn(add));
        words.join_all(&threads);
        0
    }
    fn synchronising(words: Words) -> i32 {
        let add = |words: Words| words.add_as(0, 1, Class::Unused, Order::AcqRel);
        let threads = [(); 3].map(|()| words.spawn(add));
        words.join_all(&threads);
        0
    }
    right(relaxed, 1);
    let found = explore(synchronising);
    assert_eq!((found.findings.len(), found.counts.executions), (0, 6));
}

#[test]
fn reference_counts_commute_but_for_who_is_last() {
    fn program(words: Words) -> i32 {
        words.store(0, 1);
        let thread = words.spawn(|words| {
            words.add_as(0, 1, Class::RefInc, Order::Relaxed);
            words.add_as(0, u64::MAX, Class::RefDec, Order::Release);
        });
        words.add_as(0, 1, Class::RefInc, Order::Relaxed);
        words.add_as(0, u64::MAX, Class::RefDec, Order::Release);
        words.join(thread);
        0
    }
    let found = explore(program);
    assert_eq!(found.findings, []);
    assert!(found.counts.executions <= 4, "{:?}", found.counts);
}

#[test]
fn store_buffering_has_three_outcomes_under_sequential_consistency() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.store(0, 1);
            let _ = words.load(1);
        });
        words.store(1, 1);
        let _ = words.load(0);
        words.join(thread);
        0
    }
    right(program, 3);
}

#[test]
fn weak_orders_that_matter_are_reported() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.store_with(0, 1, Order::Relaxed));
        let _ = words.load_with(0, Order::Relaxed);
        words.join(thread);
        0
    }
    right_but_weak(program, 2);
}

#[test]
fn an_unordered_write_races_and_both_accesses_are_shown() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.write(0, 1));
        let _ = words.read(0);
        words.join(thread);
        0
    }
    let replay = wrong(program, BugKind::DataRace);
    let bug = replay.bug.unwrap();
    let mut places: Vec<_> = bug.places.iter().map(|place| (place.thread, place.role)).collect();
    places.sort_by_key(|place| place.0);
    assert_eq!(places, [(0, Role::Read), (1, Role::Write)]);
    assert!(bug.places.iter().all(|place| !place.stack.is_empty() && place.site.0 != 0));
}

#[test]
fn a_join_orders() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| words.write(0, 1));
        assert_eq!(words.join(thread), 7, "what the thread returned");
        assert_eq!(words.read(0), 1);
        0
    }
    right(program, 1);
}

#[test]
fn a_message_orders_only_with_release_and_acquire() {
    fn reader(words: Words, order: Order) {
        if words.load_with(1, order) == 1 {
            let _ = words.read(0);
        }
    }
    fn strong(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.write(0, 1);
            words.store_with(1, 1, Order::Release);
        });
        reader(words, Order::Acquire);
        words.join(thread);
        0
    }
    fn weak(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.write(0, 1);
            words.store_with(1, 1, Order::Relaxed);
        });
        reader(words, Order::Acquire);
        words.join(thread);
        0
    }
    right_but_weak(strong, 2);
    wrong(weak, BugKind::DataRace);
}

#[test]
fn a_failed_exchange_only_reads() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            assert_eq!(words.exchange(0, 5, 6), 0);
        });
        assert_eq!(words.exchange(0, 5, 6), 0);
        words.join(thread);
        0
    }
    right(program, 1);
}
