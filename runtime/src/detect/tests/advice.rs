//! Which orders are too weak: against happens-before by definition, on random traces and on named
//! ones.

use super::definition::Order as HappensBefore;
use super::random::traces;
use super::trace::short::*;
use super::trace::{Act, Event, run};
use super::{detector, own_site};
use crate::detect::Detector;
use lockred_protocol::hooks::Order::{self, *};
use lockred_search::footprint::Access;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;
use std::cell::{Cell, RefCell};

/// Traces of a run.
const TRACES: u32 = 10_000;

/// What is too weak for the race that the last event of a trace has with another one, as events and
/// orders that they need; `None` if it has none, or with another one than expected.
fn too_weak(
    detector: &mut Detector,
    trace: &[Event],
    earlier: usize,
) -> Option<Vec<(usize, Order)>> {
    detector.keep_events();
    let race = run(detector, trace, own_site).pop()?.race?;
    if race.earlier.site.0 != own_site(earlier) {
        return None;
    }
    let synchronises = |event: &&Event| {
        !matches!(event.act, Act::Read { .. } | Act::Write { .. } | Act::Free { .. })
    };
    let before = trace[..earlier].iter().filter(synchronises).count();
    let found = detector.too_weak(&race, before);
    Some(found.iter().map(|weak| (weak.by.site.0 as usize - 1, weak.needs)).collect())
}

/// The trace with other orders.
fn with(trace: &[Event], orders: &[(usize, Order)]) -> Vec<Event> {
    let mut trace = trace.to_vec();
    for &(index, order) in orders {
        if let Act::Load { op, .. } | Act::Store { op, .. } | Act::Update { op, .. } =
            &mut trace[index].act
        {
            op.order = order;
            if let Access::Update { acquires, releases, .. } = &mut op.access {
                *acquires |= order.acquires();
                *releases |= order.releases();
            }
        }
    }
    trace
}

/// The trace with updates that do what their orders say, as those of programs do.
fn as_ordered(trace: &[Event]) -> Vec<Event> {
    let order = |(index, event): (usize, &Event)| event.act.atomic().map(|op| (index, op.order));
    let orders: Vec<(usize, Order)> = trace.iter().enumerate().filter_map(order).collect();
    with(trace, &orders)
}

fn orders_ends(trace: &[Event], earlier: usize) -> bool {
    HappensBefore::of(trace).orders(earlier, trace.len() - 1)
}

/// Everything between, and including, an order and a stronger one that it lacks a half less than.
fn weaker(has: Order, needs: Order) -> Vec<Order> {
    let halves = |order: Order| (order.acquires(), order.releases());
    let all = [Relaxed, Acquire, Release, AcqRel];
    let within = |order: &Order| {
        let ((a, r), (min_a, min_r), (max_a, max_r)) = (halves(*order), halves(has), halves(needs));
        a >= min_a && r >= min_r && a <= max_a && r <= max_r && *order != needs
    };
    all.into_iter().filter(within).collect()
}

fn order_of(event: &Event) -> Order {
    event.act.atomic().unwrap().order
}

/// For each race of a trace: the synchronisation up to it with the two accesses, and the index of
/// the earlier one.
fn racing(detector: &mut Detector, trace: &[Event]) -> Vec<(Vec<Event>, usize)> {
    let answers = run(detector, trace, own_site);
    let races = answers.iter().enumerate().filter_map(|(later, answer)| {
        let earlier = answer.race?.earlier.site.0 as usize - 1;
        let is_plain = |index: usize| trace[index].act.atomic().is_none();
        (is_plain(earlier) && is_plain(later)).then_some((earlier, later))
    });
    races.map(|(earlier, later)| alone(trace, earlier, later)).collect()
}

/// The synchronisation of a trace up to an access, with that and an earlier one, and the index of
/// this.
fn alone(trace: &[Event], earlier: usize, later: usize) -> (Vec<Event>, usize) {
    let range = trace[later].act.range().expect("an access");
    let overlaps = |event: &Event| {
        event.act.range().is_some_and(|r| r.start < range.end && range.start < r.end)
    };
    let synchronises = |event: &Event| match event.act {
        Act::Fence(_) | Act::Spawn(_) | Act::Join(_) => true,
        act => act.atomic().is_some() && !overlaps(event),
    };
    let kept = |&(index, event): &(usize, &Event)| {
        index == earlier || index == later || synchronises(event)
    };
    let all = || trace[..=later].iter().enumerate().filter(kept);
    let index = all().position(|(index, _)| index == earlier).expect("it is kept");
    (all().map(|(_, event)| *event).collect(), index)
}

#[test]
fn what_is_too_weak_is_so_by_definition_and_no_less_is_enough() {
    let (mut first, mut second) = (detector(), detector());
    let (advised, hopeless) = (Cell::new(0u32), Cell::new(0u32));
    let config = ProptestConfig {
        cases: TRACES,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::XorShift,
        ..Default::default()
    };
    let mut check = |trace: &[Event], earlier: usize| {
        let Some(found) = too_weak(&mut second, trace, earlier) else { return };
        assert!(!orders_ends(trace, earlier));
        if found.is_empty() {
            let all = |(index, event): (usize, &Event)| {
                let op = event.act.atomic().filter(|op| !op.trusted && op.order != SeqCst);
                op.map(|_| (index, AcqRel))
            };
            let all: Vec<_> = trace.iter().enumerate().filter_map(all).collect();
            assert!(!orders_ends(&with(trace, &all), earlier), "{trace:#?}");
            return hopeless.set(hopeless.get() + 1);
        }
        advised.set(advised.get() + 1);
        assert!(orders_ends(&with(trace, &found), earlier), "{found:?} {trace:#?}");
        for (which, &(index, needs)) in found.iter().enumerate() {
            for order in weaker(order_of(&trace[index]), needs) {
                let mut less = found.clone();
                less[which].1 = order;
                assert!(!orders_ends(&with(trace, &less), earlier), "{less:?} {trace:#?}");
            }
        }
    };
    let mut check_all = |trace: &[Event]| {
        racing(&mut first, &as_ordered(trace))
            .iter()
            .for_each(|(trace, earlier)| check(trace, *earlier));
    };
    let check = RefCell::new(&mut check_all);
    proptest!(config, |(trace in traces())| (check.borrow_mut())(&trace));
    assert!(
        advised.get() > TRACES / 100 && hopeless.get() > TRACES / 100,
        "{advised:?} {hopeless:?}"
    );
}

fn advice(trace: &[Event], earlier: usize) -> Vec<(usize, Order)> {
    too_weak(&mut Detector::new(&[]), trace, earlier).expect("a race")
}

#[test]
fn a_flag_with_relaxed_orders() {
    let passing = |store_order, load_order| {
        [spawn(1), write(1, 0), store(1, 1, store_order), load(0, 1, load_order), read(0, 0)]
    };
    assert_eq!(advice(&passing(Relaxed, Relaxed), 1), [(2, Release), (3, Acquire)]);
    assert_eq!(advice(&passing(Relaxed, Acquire), 1), [(2, Release)]);
    assert_eq!(advice(&passing(SeqCst, Relaxed), 1), [(3, Acquire)]);
}

#[test]
fn fences_count() {
    let trace = [
        spawn(1),
        write(1, 0),
        fence(1, Release),
        store(1, 1, Relaxed),
        load(0, 1, Relaxed),
        read(0, 0),
    ];
    assert_eq!(advice(&trace, 1), [(4, Acquire)]);
}

#[test]
fn a_count_that_is_decremented_with_release_only() {
    let down = |thread| rmw(thread, 1, Release);
    assert_eq!(advice(&[spawn(1), read(1, 0), down(1), down(0), write(0, 0)], 1), [(3, AcqRel)]);
}

#[test]
fn nothing_helps_where_nothing_was_passed() {
    assert_eq!(advice(&[spawn(1), write(1, 0), store(1, 1, Relaxed), read(0, 0)], 1), []);
    // What the others wrote later does not order them, either.
    let late = [spawn(1), store(1, 1, Relaxed), write(1, 0), load(0, 1, Relaxed), read(0, 0)];
    assert_eq!(advice(&late, 2), []);
}
