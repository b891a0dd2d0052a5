//! Classic litmus tests by name: which accesses race. Every one is compared with the definition,
//! too.

use super::trace::Event;
use super::trace::short::*;
use super::{check, detector};
use crate::detect::{Atomic, Detector};
use lockred_protocol::hooks::Order::{self, *};
use lockred_search::footprint::Access;

const X: usize = 0;
const Y: usize = 1;
const A: usize = 2;
const B: usize = 3;

/// A trace in which main first creates `threads - 1` others.
fn threads(threads: u32, rest: &[Event]) -> Vec<Event> {
    (1..threads).map(spawn).chain(rest.iter().copied()).collect()
}

/// The events of `rest` (counted without the spawns) that race with an earlier one.
fn racing(number: u32, rest: &[Event]) -> Vec<usize> {
    let spawns = number as usize - 1;
    check(&mut detector(), &threads(number, rest)).iter().map(|j| j - spawns).collect()
}

fn races(number: u32, rest: &[Event]) -> bool {
    !racing(number, rest).is_empty()
}

#[test]
fn message_passing_needs_release_and_acquire() {
    for (store_order, load_order, ordered) in [
        (Relaxed, Relaxed, false),
        (Relaxed, Acquire, false),
        (Release, Relaxed, false),
        (Release, Acquire, true),
        (Release, SeqCst, true),
        (SeqCst, Acquire, true),
        (SeqCst, SeqCst, true),
        (SeqCst, Relaxed, false),
        (Relaxed, SeqCst, false),
    ] {
        let trace = [write(0, X), store(0, A, store_order), load(1, A, load_order), read(1, X)];
        assert_eq!(races(2, &trace), !ordered, "{store_order:?} {load_order:?}");
    }
}

#[test]
fn message_passing_by_fences() {
    for (release, acquire, ordered) in [
        (Release, Acquire, true),
        (AcqRel, AcqRel, true),
        (SeqCst, SeqCst, true),
        (Acquire, Acquire, false),
        (Release, Release, false),
    ] {
        let trace = [
            write(0, X),
            fence(0, release),
            store(0, A, Relaxed),
            load(1, A, Relaxed),
            fence(1, acquire),
            read(1, X),
        ];
        assert_eq!(races(2, &trace), !ordered, "{release:?} {acquire:?}");
    }
}

#[test]
fn a_fence_on_one_side_meets_an_order_on_the_other() {
    let by_store = [write(0, X), store(0, A, Release), load(1, A, Relaxed)];
    let fenced = [&by_store[..], &[fence(1, Acquire), read(1, X)]].concat();
    assert!(!races(2, &fenced));
    let by_fence = [write(0, X), fence(0, Release), store(0, A, Relaxed)];
    let loaded = [&by_fence[..], &[load(1, A, Acquire), read(1, X)]].concat();
    assert!(!races(2, &loaded));
}

#[test]
fn a_release_fence_covers_only_what_is_before_it() {
    let trace =
        [fence(0, Release), write(0, X), store(0, A, Relaxed), load(1, A, Acquire), read(1, X)];
    assert_eq!(racing(2, &trace), [4]);
}

#[test]
fn an_acquire_fence_covers_only_reads_before_it() {
    let trace =
        [write(0, X), store(0, A, Release), fence(1, Acquire), load(1, A, Relaxed), read(1, X)];
    assert_eq!(racing(2, &trace), [4]);
}

#[test]
fn a_fence_covers_every_later_store_and_every_earlier_load() {
    let trace = [
        write(0, X),
        fence(0, Release),
        store(0, B, Relaxed),
        store(0, A, Relaxed),
        load(1, A, Relaxed),
        load(1, B, Relaxed),
        load(1, B, Relaxed),
        fence(1, Acquire),
        read(1, X),
    ];
    assert!(!races(2, &trace));
}

#[test]
fn a_relaxed_store_of_another_thread_ends_a_release_sequence() {
    let trace =
        [write(0, X), store(0, A, Release), store(2, A, Relaxed), load(1, A, Acquire), read(1, X)];
    assert_eq!(racing(3, &trace), [4]);
}

#[test]
fn a_relaxed_store_of_the_same_thread_ends_it_too_since_cpp20() {
    let trace =
        [write(0, X), store(0, A, Release), store(0, A, Relaxed), load(1, A, Acquire), read(1, X)];
    assert_eq!(racing(2, &trace), [4]);
}

#[test]
fn a_read_modify_write_continues_a_release_sequence() {
    for order in [Relaxed, Acquire, Release, AcqRel, SeqCst] {
        let trace = [
            write(0, X),
            store(0, A, Release),
            rmw(2, A, order),
            rmw(2, A, order),
            load(1, A, Acquire),
            read(1, X),
        ];
        assert!(!races(3, &trace), "{order:?}");
    }
}

#[test]
fn a_chain_of_updates_releases_for_all_of_its_threads() {
    let trace = [
        write(0, X),
        write(1, Y),
        rmw(0, A, Release),
        rmw(1, A, Release),
        load(2, A, Acquire),
        read(2, X),
        read(2, Y),
    ];
    assert!(!races(3, &trace));
}

#[test]
fn a_failed_compare_exchange_acquires_by_its_failure_order() {
    for (failure, ordered) in [(Acquire, true), (Relaxed, false)] {
        let trace = [write(0, X), store(0, A, Release), load(1, A, failure), read(1, X)];
        assert_eq!(races(2, &trace), !ordered);
    }
}

#[test]
fn a_plain_write_to_the_atomic_ends_its_release_sequence() {
    let trace = [
        write(0, X),
        store(0, A, Release),
        load(2, A, Acquire),
        write(2, A),
        fence(2, Relaxed),
        store(2, B, Release),
        load(1, B, Relaxed),
        load(1, A, Acquire),
        read(1, X),
    ];
    // Both the load of the plainly written atomic and the read race.
    assert_eq!(racing(3, &trace), [7, 8]);
}

#[test]
fn happens_before_is_transitive() {
    let trace = [
        write(0, X),
        store(0, A, Release),
        load(1, A, Acquire),
        store(1, B, Release),
        load(2, B, Acquire),
        write(2, X),
    ];
    assert!(!races(3, &trace));
}

#[test]
fn spawn_and_join_order() {
    let whole = [write(0, X), spawn(1), write(1, X), join(1), write(0, X)];
    assert!(check(&mut detector(), &whole).is_empty());
    let unjoined = [write(0, X), spawn(1), write(1, X), write(0, X)];
    assert_eq!(check(&mut detector(), &unjoined), [3]);
    let after_the_spawn = [spawn(1), write(0, X), write(1, X)];
    assert_eq!(check(&mut detector(), &after_the_spawn), [2]);
}

/// Two owners write before they drop; the last one frees.
fn arc_drop(decrement: Order, last_acquires: bool) -> Vec<Event> {
    let mut trace = vec![write(0, X), write(1, Y)];
    trace.push(rmw_as(0, A, decrement, Access::RefDecToOne));
    trace.push(rmw_as(1, A, decrement, Access::RefDecLast));
    if last_acquires {
        trace.push(fence(1, Acquire));
    }
    trace.extend([write(1, X), write(1, Y)]);
    trace
}

#[test]
fn the_last_owner_needs_release_decrements_and_an_acquire_fence() {
    assert!(!races(2, &arc_drop(Release, true)));
    assert!(races(2, &arc_drop(Release, false)));
    assert!(races(2, &arc_drop(Relaxed, true)));
}

#[test]
fn the_last_of_many_owners_sees_all_of_them() {
    let trace = [
        write(0, X),
        write(1, Y),
        rmw_as(0, A, Relaxed, Access::RefInc),
        rmw_as(1, A, Release, Access::RefDec),
        rmw_as(0, A, Release, Access::RefDec),
        rmw_as(2, A, Relaxed, Access::RefInc),
        rmw_as(2, A, Release, Access::RefDecLast),
        fence(2, Acquire),
        write(2, X),
        write(2, Y),
    ];
    assert!(!races(3, &trace));
}

#[test]
fn an_owner_that_is_not_the_last_sees_nobody() {
    // The search runs one order of the two decrements; an edge between them would hide the race of
    // the other order.
    for (first, second) in [(0, 1), (1, 0)] {
        let trace = [
            write(first, X),
            rmw_as(first, A, Release, Access::RefDec),
            rmw_as(second, A, Release, Access::RefDec),
            fence(second, Acquire),
            write(second, X),
        ];
        assert_eq!(racing(2, &trace), [4]);
    }
}

#[test]
fn an_operation_that_depends_on_all_forces_the_order_of_those_around_it() {
    for (between, ordered) in [(Access::RefDecLast, true), (Access::RefInc, false)] {
        let trace = [
            write(0, X),
            rmw_as(0, A, Release, Access::RefDec),
            rmw_as(2, A, Relaxed, between),
            rmw_as(1, A, Acquire, Access::RefInc),
            write(1, X),
        ];
        assert_eq!(races(3, &trace), !ordered, "{between:?}");
    }
}

#[test]
fn readers_order_no_readers_but_writers() {
    let readers = [
        rmw_as(0, A, Acquire, Access::ReadLock),
        write(0, X),
        rmw_as(0, A, Release, Access::ReadUnlock),
        rmw_as(1, A, Acquire, Access::ReadLock),
    ];
    let reader = [&readers[..], &[read(1, X)]].concat();
    assert_eq!(racing(3, &reader), [4]);
    let writer = [
        &readers[..],
        &[
            rmw_as(1, A, Release, Access::ReadUnlock),
            rmw_as(2, A, Acquire, Access::Lock),
            write(2, X),
        ],
    ]
    .concat();
    assert!(!races(3, &writer));
}

#[test]
fn a_writer_orders_readers() {
    let trace = [
        rmw_as(0, A, Acquire, Access::Lock),
        write(0, X),
        rmw_as(0, A, Release, Access::Unlock),
        rmw_as(1, A, Acquire, Access::ReadLock),
        rmw_as(2, A, Acquire, Access::ReadLock),
        read(1, X),
        read(2, X),
    ];
    assert!(!races(3, &trace));
}

#[test]
fn a_seqlock_with_plain_data_races_and_with_atomic_data_does_not() {
    let reader_of = |data: &dyn Fn(u32) -> Event, data_write: &dyn Fn(u32) -> Event| {
        vec![
            rmw(0, A, Acquire),
            data_write(0),
            load(1, A, Acquire),
            data(1),
            fence(1, Acquire),
            load(1, A, Relaxed),
            store(0, A, Release),
        ]
    };
    assert_eq!(racing(2, &reader_of(&|t| read(t, X), &|t| write(t, X))), [3]);
    let atomic = reader_of(&|t| load(t, X, Relaxed), &|t| store(t, X, Relaxed));
    assert!(!races(2, &atomic));
}

#[test]
fn a_spinlock_hands_over() {
    let section = |thread, order| [rmw(thread, A, order), write(thread, X)];
    for (acquire, release, ordered) in
        [(Acquire, Release, true), (Relaxed, Release, false), (Acquire, Relaxed, false)]
    {
        let trace = [
            &section(0, acquire)[..],
            &[store(0, A, release), load(1, A, Relaxed)],
            &section(1, acquire),
            &[store(1, A, release)],
            &section(2, acquire),
        ]
        .concat();
        assert_eq!(races(3, &trace), !ordered, "{acquire:?} {release:?}");
    }
}

#[test]
fn atomic_accesses_never_race_with_each_other_but_with_plain_ones() {
    assert!(!races(2, &[store(0, A, Relaxed), store(1, A, Relaxed), load(0, A, Relaxed)]));
    assert!(races(2, &[store(0, A, SeqCst), read(1, A)]));
    assert!(races(2, &[load(0, A, SeqCst), write(1, A)]));
    assert!(races(2, &[write(0, A), load(1, A, SeqCst)]));
    assert!(races(2, &[read(0, A), rmw(1, A, SeqCst)]));
    assert!(!races(2, &[read(0, A), load(1, A, SeqCst)]));
}

#[test]
fn a_write_races_with_each_unordered_reader_not_only_the_last() {
    let trace = [
        read(0, X),
        store(0, A, Release),
        read(1, X),
        read(2, X),
        store(2, B, Release),
        load(3, A, Acquire),
        load(3, B, Acquire),
        write(3, X),
    ];
    assert_eq!(racing(4, &trace), [7]);
}

#[test]
fn relaxed_accesses_are_weak_pairs_until_something_orders_them() {
    let mut detector = detector();
    let mut weak = |trace: &[Event]| {
        check(&mut detector, &threads(3, trace));
        detector.saw_unordered_weak_pair()
    };
    assert!(weak(&[store(0, A, Relaxed), load(1, A, Relaxed)]));
    assert!(weak(&[
        store(0, A, SeqCst),
        load(1, A, Acquire),
        load(2, A, SeqCst),
        rmw(1, A, Relaxed)
    ]));
    assert!(!weak(&[store(0, A, SeqCst), load(1, A, SeqCst), store(1, A, SeqCst)]));
    assert!(!weak(&[store(0, A, Release), load(1, A, Acquire)]));
    assert!(!weak(&[load(0, A, Relaxed), load(1, A, Relaxed)]));
    // A last owner of two and of three is no observation, wherever its fence is.
    let dec = |thread, access| rmw_as(thread, A, Release, access);
    assert!(!weak(&[
        dec(0, Access::RefDec),
        dec(1, Access::RefDecToOne),
        dec(2, Access::RefDecLast)
    ]));
}

#[test]
fn a_thread_is_after_all_once_it_has_seen_all_ends() {
    let mut detector = detector();
    assert!(detector.is_behind_all(0));
    (1..3).for_each(|child| detector.spawn(0, child));
    assert!(!detector.is_behind_all(0));
    detector.join(0, 1);
    assert!(!detector.is_behind_all(0));
    detector.join(0, 2);
    assert!(detector.is_behind_all(0) && !detector.is_behind_all(1));
}

#[test]
fn many_threads_fit() {
    let mut detector: Detector = detector();
    let number = 700;
    let mut rest = vec![];
    for thread in 1..number {
        rest.push(write(thread, X + thread as usize));
        rest.push(rmw(thread, A + 2000, Release));
    }
    let mut trace = threads(number, &rest);
    trace.push(load(0, A + 2000, Acquire));
    trace.extend((1..number).map(|thread| write(0, X + thread as usize)));
    let answers = super::trace::run(&mut detector, &trace, super::own_site);
    assert!(answers.iter().all(|answer| answer.race.is_none()));
    // The same without the last acquire: as many races as threads.
    trace.retain(|event| *event != load(0, A + 2000, Acquire));
    let answers = super::trace::run(&mut detector, &trace, super::own_site);
    assert_eq!(answers.iter().filter(|a| a.race.is_some()).count(), number as usize - 1);
}

#[test]
fn trusted_pairs_are_no_weak_pairs() {
    let trusted = |order, access| Atomic { order, access, trusted: true };
    let act = |op| super::trace::Act::Update { addr: at(A), size: 8, op };
    let (take, give) = (trusted(Acquire, Access::Write), trusted(Release, Access::Write));
    let mut detector = detector();
    check(&mut detector, &threads(2, &[on(0, act(take)), on(1, act(give))]));
    assert!(!detector.saw_unordered_weak_pair());
    check(&mut detector, &threads(2, &[on(0, act(take)), rmw(1, A, Release)]));
    assert!(detector.saw_unordered_weak_pair());
}
