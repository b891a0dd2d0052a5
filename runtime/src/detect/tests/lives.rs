//! Sizes, alignments, and the life of memory: partial overlaps, long ranges, deallocation, new lives, resets.

use super::trace::short::*;
use super::trace::{Act, Event};
use super::{check, detector};
use crate::detect::{AccessKind, Atomic, By, Detector, StackId};
use lockred_search::footprint::Access;
use lockred_trace::hooks::Order::*;
use lockred_trace::sites::SiteId;

fn by(thread: u32, site: u32) -> By {
    By { thread, site: SiteId(site), stack: StackId(site + 100) }
}

/// Whether a write of thread 0 and one of thread 1, unordered, race.
fn meet(a: (usize, usize), b: (usize, usize)) -> bool {
    let [a, b] = [a, b].map(|(offset, size)| Act::Write { addr: 0x1000 + offset, size });
    !check(&mut detector(), &[spawn(1), on(0, a), on(1, b)]).is_empty()
}

#[test]
fn ranges_meet_exactly_where_they_overlap() {
    assert!(meet((0, 4), (3, 1)));
    assert!(!meet((0, 4), (4, 4)));
    assert!(meet((6, 4), (8, 1)), "across granules");
    assert!(!meet((6, 4), (10, 1)));
    assert!(meet((0, 200), (199, 1)) && !meet((0, 200), (200, 1)));
    assert!(meet((5, 3), (0, 64)) && meet((64, 8), (1, 64)));
    assert!(!meet((3, 0), (0, 8)), "an empty range touches nothing");
}

#[test]
fn neighbouring_bytes_keep_their_own_history() {
    let byte = |thread, at: usize| on(thread, Act::Write { addr: 0x1000 + at, size: 1 });
    let trace: Vec<Event> = [spawn(1), spawn(2)]
        .into_iter()
        .chain((0..8).map(|i| byte(i as u32 % 3, i)))
        .chain([
            on(0, Act::Read { addr: 0x1003, size: 1 }),
            on(0, Act::Read { addr: 0x1003, size: 2 }),
        ])
        .collect();
    assert_eq!(check(&mut detector(), &trace), [11]);
}

#[test]
fn a_race_names_both_accesses() {
    let mut detector = detector();
    detector.spawn(0, 1);
    assert_eq!(detector.write(by(0, 1), 0x1002, 20), None);
    let race = detector.read(by(1, 2), 0x1013, 2).expect("a race");
    let earlier = race.earlier;
    assert_eq!((earlier.thread, earlier.site, earlier.stack), (0, SiteId(1), StackId(101)));
    assert_eq!((earlier.kind, earlier.addr, earlier.size), (AccessKind::Write, 0x1010, 6));
    let later = race.later;
    assert_eq!((later.thread, later.site, later.stack), (1, SiteId(2), StackId(102)));
    assert_eq!((later.kind, later.addr, later.size), (AccessKind::Read, 0x1013, 2));
}

#[test]
fn a_write_is_rather_named_than_a_read() {
    let mut detector = detector();
    (1..3).for_each(|child| detector.spawn(0, child));
    detector.read(by(0, 1), 0x1000, 8);
    detector.write(by(1, 2), 0x1000, 8);
    let race = detector.write(by(2, 3), 0x1000, 8).expect("a race");
    assert_eq!(race.earlier.site, SiteId(2));
}

#[test]
fn deallocation_conflicts_like_a_write_both_ways() {
    let mut detector = detector();
    let free = on(0, Act::Free { addr: 0x1000, size: 16 });
    let read = on(1, Act::Read { addr: 0x1008, size: 1 });
    assert_eq!(check(&mut detector, &[spawn(1), free, read]), [2]);
    assert_eq!(check(&mut detector, &[spawn(1), read, free]), [2]);
    detector.reset();
    detector.spawn(0, 1);
    detector.freed(by(0, 1), 0x1000, 16);
    let race = detector.read(by(1, 2), 0x1008, 1).expect("a race");
    assert_eq!(race.earlier.kind, AccessKind::Free);
}

#[test]
fn a_new_life_does_not_race_with_the_old_one_nor_take_its_releases() {
    let new = on(1, Act::Allocated { addr: 0x1000, size: 12 });
    let old = on(0, Act::Free { addr: 0x1000, size: 16 });
    let write = |at: usize| on(1, Act::Write { addr: 0x1000 + at, size: 1 });
    assert_eq!(check(&mut detector(), &[spawn(1), old, new, write(11), write(12)]), [4]);
    let atomic = [
        spawn(1),
        on(0, Act::Write { addr: 0x1010, size: 8 }),
        store(0, 0, Release),
        new,
        load(1, 0, Acquire),
        on(1, Act::Read { addr: 0x1010, size: 8 }),
    ];
    assert_eq!(check(&mut detector(), &atomic), [5]);
}

#[test]
fn a_reset_forgets_everything() {
    let mut detector = detector();
    for _ in 0..3 {
        let trace = [
            spawn(1),
            write(1, 0),
            rmw(1, 2, Release),
            fence(1, Release),
            fence(1, Acquire),
            write(0, 1),
            load(0, 2, Relaxed),
        ];
        assert!(check(&mut detector, &trace).is_empty());
        detector.reset();
        assert!(!detector.saw_unordered_weak_pair());
        assert_eq!(check(&mut detector, &[spawn(1), read(1, 1), write(0, 0)]), [] as [usize; 0]);
    }
}

#[test]
fn releases_stay_with_their_bytes() {
    let half = |thread, at: usize, order, access| {
        let op = Atomic { order, access, trusted: false };
        on(thread, Act::Update { addr: 0x1000 + at, size: 4, op })
    };
    for (at, ordered) in [(0, true), (4, false)] {
        let trace = [
            spawn(1),
            spawn(2),
            write(0, 2),
            half(0, 0, Release, Access::RefDec),
            rmw(2, 0, Relaxed),
            half(1, at, Acquire, Access::Write),
            write(1, 2),
        ];
        assert_eq!(check(&mut detector(), &trace).is_empty(), ordered);
    }
}

#[test]
fn executions_reuse_the_memory_of_earlier_ones() {
    let mut detector = detector();
    let run = |detector: &mut Detector| {
        let trace = [spawn(1), store(0, 0, Release), store(1, 1, Release), load(0, 1, Acquire)];
        check(detector, &trace);
        detector.reset();
        detector.extras.len()
    };
    let first = run(&mut detector);
    assert!(first > 0);
    assert_eq!(run(&mut detector), first);
}

#[test]
fn generations_may_wrap() {
    let mut detector: Detector = detector();
    detector.generation = u32::MAX - 1;
    for _ in 0..4 {
        assert_eq!(check(&mut detector, &[spawn(1), write(0, 0), write(1, 0)]), [2]);
    }
    assert!(detector.generation < 10);
}
