//! Bounded and random searches: what they cover, and what they find.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;

use check::{parse, search};
use lockred_search::model::Failure;
use lockred_search::priorities::Policy;
use lockred_search::{Bound, Limits, Stop, Strategy};

fn executions(number: u64) -> Limits {
    Limits { executions: Some(number), ..Limits::default() }
}

/// Whether the search finds a failure that is no end state.
fn finds(text: &str, strategy: Strategy, limits: Limits) -> (bool, Stop) {
    let (seen, outcome) = search(&parse(text), strategy, limits);
    (seen.failures.iter().any(|failure| !matches!(failure, Failure::End(_))), outcome.stop)
}

const LOST_UPDATE: &str = "atomic f; thread A { r = f; f = r + 1; spawn C }
    thread B { r = f; f = r + 1 } thread C { join B; r = f; assert r == 2 }";

#[test]
fn a_lost_update_takes_one_preemption() {
    let bounded =
        |most| finds(LOST_UPDATE, Strategy::Bounded(Bound::Preemptions(most)), Limits::default());
    assert_eq!(bounded(0), (false, Stop::Operations));
    assert_eq!(bounded(1), (true, Stop::Operations));
    assert_eq!(bounded(9), (true, Stop::Complete));
}

#[test]
fn switches_count_also_where_a_thread_ends() {
    let bounded =
        |most| finds(LOST_UPDATE, Strategy::Bounded(Bound::Switches(most)), Limits::default());
    assert_eq!(bounded(1), (false, Stop::Operations));
    assert_eq!(bounded(3), (true, Stop::Operations));
    assert_eq!(bounded(9), (true, Stop::Complete));
}

#[test]
fn bounds_that_cut_nothing_see_what_the_full_search_sees() {
    let program = parse(LOST_UPDATE);
    let (full, _) = search(&program, Strategy::Naive, Limits::default());
    let (bounded, _) =
        search(&program, Strategy::Bounded(Bound::Preemptions(9)), Limits::default());
    assert_eq!(full.failures, bounded.failures);
}

/// A bug of depth 2 behind many steps of another thread.
fn deep(steps: usize) -> String {
    format!(
        "atomic f g; thread A {{ repeat {steps} {{ g += 1 }} f = 1; repeat {steps} {{ g += 1 }} f = 0 }}
        thread B {{ repeat {steps} {{ g += 1 }} r = f; assert r == 0 }}"
    )
}

#[test]
fn priorities_find_a_deep_bug() {
    for policy in [Policy::Pct { depth: 2 }, Policy::Pos] {
        let strategy = Strategy::Priorities { policy, seed: 1 };
        assert_eq!(finds(&deep(10), strategy, executions(500)), (true, Stop::Executions));
    }
}

#[test]
fn priorities_without_changes_never_preempt() {
    let strategy = Strategy::Priorities { policy: Policy::Pct { depth: 1 }, seed: 7 };
    assert_eq!(finds(LOST_UPDATE, strategy, executions(500)), (false, Stop::Executions));
}

#[test]
fn equal_seeds_walk_equally() {
    for policy in [Policy::Pct { depth: 3 }, Policy::Pos] {
        let program = parse(&deep(5));
        let walk = |seed| search(&program, Strategy::Priorities { policy, seed }, executions(20)).0;
        assert_eq!(walk(3), walk(3));
        assert_ne!(walk(3).schedules, walk(4).schedules);
    }
}
