//! Random traces: threads that come and go, plain and atomic accesses of all orders, sizes and
//! alignments, fences, lives.

use super::trace::{Act, Event};
use super::{check, detector};
use crate::detect::Atomic;
use lockred_protocol::hooks::Order;
use lockred_search::footprint::Access;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;
use std::cell::{Cell, RefCell};

/// Traces of a run.
const TRACES: u32 = 10_000;

fn order() -> impl Strategy<Value = Order> {
    (0..5u32).prop_map(|code| Order::from_code(code).unwrap())
}

fn load_order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Relaxed), Just(Order::Acquire), Just(Order::SeqCst)]
}

fn store_order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Relaxed), Just(Order::Release), Just(Order::SeqCst)]
}

fn fence_order() -> impl Strategy<Value = Order> {
    (1..5u32).prop_map(|code| Order::from_code(code).unwrap())
}

/// Mostly operations that nothing is known of; some that commute.
fn access() -> impl Strategy<Value = Access> {
    let update = |family, releases| Access::Update { family, acquires: true, releases };
    prop_oneof![
        6 => Just(Access::Write),
        1 => Just(Access::RefInc),
        2 => Just(Access::RefDec),
        1 => Just(Access::RefDecToOne),
        1 => Just(Access::RefDecLast),
        1 => Just(Access::Lock),
        1 => Just(Access::Unlock),
        1 => Just(Access::ReadLock),
        1 => Just(Access::ReadUnlock),
        1 => (0..2u8, any::<bool>()).prop_map(move |(family, releases)| update(family, releases)),
    ]
}

/// Ranges of plain accesses: usually a word or a part of it, sometimes longer ones across words.
fn range() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        4 => (0..4usize).prop_map(|word| (0x1000 + 8 * word, 8)),
        2 => (0..32usize, 1..8usize).prop_map(|(at, size)| (0x1000 + at, size)),
        1 => (0..16usize, 0..24usize).prop_map(|(at, size)| (0x1000 + at, size)),
    ]
}

/// Words of atomic accesses: few, so that they meet; sometimes parts of them.
fn word() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        8 => (0..2usize).prop_map(|word| (0x1010 + 8 * word, 8)),
        1 => (0..4usize).prop_map(|half| (0x1010 + 4 * half, 4)),
        1 => (0..8usize).prop_map(|part| (0x1010 + 2 * part, 2)),
        1 => (0..16usize).prop_map(|byte| (0x1010 + byte, 1)),
    ]
}

/// The word that stands for a block.
fn block() -> impl Strategy<Value = usize> {
    (0..2usize).prop_map(|block| 0x1100 + 8 * block)
}

/// An operation as drawn: spawn and join are turned into what is possible when they come.
fn act() -> impl Strategy<Value = Act> {
    let op = |order, access, trusted| Atomic { order, access, trusted };
    let trusted = || prop_oneof![5 => Just(false), 1 => Just(true)];
    prop_oneof![
        4 => range().prop_map(|(addr, size)| Act::Read { addr, size }),
        4 => range().prop_map(|(addr, size)| Act::Write { addr, size }),
        1 => range().prop_map(|(addr, size)| Act::Free { addr, size }),
        1 => range().prop_map(|(addr, size)| Act::Allocated { addr, size }),
        1 => block().prop_map(Act::Born),
        2 => block().prop_map(Act::Uses),
        5 => (word(), load_order(), trusted()).prop_map(move |((addr, size), order, trusted)| {
            Act::Load { addr, size, op: op(order, Access::Read, trusted) }
        }),
        4 => (word(), store_order(), trusted()).prop_map(move |((addr, size), order, trusted)| {
            Act::Store { addr, size, op: op(order, Access::Write, trusted) }
        }),
        5 => (word(), order(), access(), trusted()).prop_map(
            move |((addr, size), order, access, trusted)| Act::Update { addr, size, op: op(order, access, trusted) }
        ),
        2 => fence_order().prop_map(Act::Fence),
        2 => Just(Act::Spawn(0)),
        1 => (0..5u32).prop_map(Act::Join),
    ]
}

/// Makes a trace of drawn operations: each by a thread that lives then, at most five threads.
fn trace_of(drawn: Vec<(u8, Act)>) -> Vec<Event> {
    let (mut trace, mut live, mut threads) = (Vec::new(), vec![0u32], 1);
    for (who, act) in drawn {
        let thread = live[who as usize % live.len()];
        let act = match act {
            Act::Spawn(_) if threads == 5 => continue,
            Act::Spawn(_) => {
                live.push(threads);
                threads += 1;
                Act::Spawn(threads - 1)
            }
            // A thread is joined when it has ended: here it ends because it is joined.
            Act::Join(ended) if ended == thread || ended >= threads => continue,
            Act::Join(ended) => {
                live.retain(|&other| other != ended);
                act
            }
            act => act,
        };
        trace.push(Event { thread, act });
    }
    trace
}

pub fn traces() -> impl Strategy<Value = Vec<Event>> {
    let spawns = prop::collection::vec((any::<u8>(), Just(Act::Spawn(0))), 1..4);
    let rest = prop::collection::vec((any::<u8>(), act()), 0..48);
    (spawns, rest).prop_map(|(mut drawn, rest)| {
        drawn.extend(rest);
        trace_of(drawn)
    })
}

#[test]
fn the_detector_says_what_the_definition_says() {
    let detector = RefCell::new(detector());
    let (racy, clean) = (Cell::new(0u32), Cell::new(0u32));
    let config = ProptestConfig {
        cases: TRACES,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::XorShift,
        ..Default::default()
    };
    proptest!(config, |(trace in traces())| {
        let counter = if check(&mut detector.borrow_mut(), &trace).is_empty() { &clean } else { &racy };
        counter.set(counter.get() + 1);
    });
    // The generator must not drift into traces that show nothing.
    assert!(racy.get() > TRACES / 20 && clean.get() > TRACES / 20, "{racy:?} racy, {clean:?} not");
}
