//! Sizes, alignments, and the life of memory: partial overlaps, long ranges, deallocation, new
//! lives, resets.

use super::trace::short::*;
use super::trace::{Act, Event};
use super::{check, detector};
use crate::detect::{AccessKind, Atomic, By, Detector, StackId};
use lockred_protocol::hooks::Order::*;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

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
            half(2, 0, Relaxed, Access::Write),
            half(1, at, Acquire, Access::Write),
            write(1, 2),
        ];
        assert_eq!(check(&mut detector(), &trace).is_empty(), ordered);
    }
}

/// An operation on a part of the first word.
fn part(thread: u32, at: usize, size: usize, act: fn(usize, usize, Atomic) -> Act) -> Event {
    on(thread, act(0x1000 + at, size, Atomic::store(SeqCst)))
}

fn loads(addr: usize, size: usize, op: Atomic) -> Act {
    Act::Load { addr, size, op: Atomic { access: Access::Read, ..op } }
}

fn stores(addr: usize, size: usize, op: Atomic) -> Act {
    Act::Store { addr, size, op }
}

#[test]
fn atomic_accesses_of_two_sizes_race_where_they_overlap() {
    let racing = |trace: &[Event]| check(&mut detector(), trace);
    for (second, race) in [((1, 1), true), ((2, 1), false), ((0, 2), false), ((0, 8), true)] {
        let (at, size) = second;
        let [store, load] = [stores, loads].map(|act| part(1, at, size, act));
        assert_eq!(!racing(&[spawn(1), part(0, 0, 2, stores), store]).is_empty(), race);
        assert_eq!(!racing(&[spawn(1), part(0, 0, 2, stores), load]).is_empty(), race);
        assert!(racing(&[spawn(1), part(0, 0, 2, loads), load]).is_empty());
    }
    let joined = [spawn(1), part(1, 0, 2, stores), join(1), part(0, 1, 1, stores)];
    assert!(racing(&joined).is_empty());
}

#[test]
fn what_is_left_of_a_word_keeps_its_size() {
    // The second byte of thread 1's word is thread 0's, in order; the first one is still a part of
    // a word of two.
    let trace = [
        spawn(1),
        spawn(2),
        part(1, 0, 2, stores),
        join(1),
        on(0, Act::Write { addr: 0x1001, size: 1 }),
        part(2, 0, 1, loads),
        part(2, 0, 2, loads),
    ];
    assert_eq!(check(&mut detector(), &trace), [5, 6]);
    // Two bytes by one loop are two words.
    let bytes = [spawn(1), part(0, 0, 1, stores), part(0, 1, 1, stores), part(1, 1, 1, loads)];
    assert!(check(&mut detector(), &bytes).is_empty());
}

#[test]
fn nothing_is_learnt_from_a_word_of_another_size() {
    let of =
        |size| [spawn(1), write(0, 2), part(0, 0, 2, stores), part(1, 0, size, loads), read(1, 2)];
    assert!(check(&mut detector(), &of(2)).is_empty());
    assert_eq!(check(&mut detector(), &of(1)), [3, 4]);
}

#[test]
fn uses_of_a_block_come_after_its_allocation() {
    let (born, uses) = (on(0, Act::Born(0x1100)), on(1, Act::Uses(0x1100)));
    let publish = |order| [spawn(1), born, store(0, 0, order), load(1, 0, Acquire), uses];
    assert!(check(&mut detector(), &publish(Release)).is_empty());
    assert_eq!(check(&mut detector(), &publish(Relaxed)), [4]);
    let again = [spawn(1), uses, on(0, Act::Allocated { addr: 0x1100, size: 8 }), born];
    assert!(check(&mut detector(), &again).is_empty());
    let mut detector = detector();
    detector.spawn(0, 1);
    detector.born(by(0, 0), 0x1100);
    let race = detector.uses(by(1, 2), 0x1100).expect("a race");
    assert_eq!((race.earlier.kind, race.later.kind), (AccessKind::Allocation, AccessKind::Read));
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
