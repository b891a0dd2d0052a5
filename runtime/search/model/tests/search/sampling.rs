//! Bounded and random searches: what they cover, and what they find.

use crate::check;

use check::{Seen, parse, search};
use lockred_model::{Failure, ModelMachine};
use lockred_search::{Bound, Covered, Limits, Outcome, Stop, Strategy, bounded};

fn executions(number: u64) -> Limits {
    Limits { executions: Some(number), ..Limits::default() }
}

/// Searches within a bound.
fn within(text: &str, bound: Bound, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(&parse(text)).reporting_ends();
    let outcome = bounded::explore(&mut machine, bound, limits, &mut seen);
    (seen, outcome)
}

/// Whether a search found a failure that is no end state, and how it ended.
fn found((seen, outcome): (Seen, Outcome)) -> (bool, Stop) {
    (seen.failures.iter().any(|failure| !matches!(failure, Failure::End(_))), outcome.stop)
}

fn finds(text: &str, strategy: Strategy, limits: Limits) -> (bool, Stop) {
    found(search(&parse(text), strategy, limits))
}

const LOST_UPDATE: &str = "atomic f; thread A { r = f; f = r + 1; spawn C }
    thread B { r = f; f = r + 1 } thread C { join B; r = f; assert r == 2 }";

#[test]
fn a_lost_update_takes_one_preemption() {
    let bounded = |most| found(within(LOST_UPDATE, Bound::Preemptions(most), Limits::default()));
    assert_eq!(bounded(0), (false, Stop::Bound));
    assert_eq!(bounded(1), (true, Stop::Bound));
    assert_eq!(bounded(9), (true, Stop::Complete));
}

#[test]
fn switches_count_also_where_a_thread_ends() {
    let bounded = |most| found(within(LOST_UPDATE, Bound::Switches(most), Limits::default()));
    assert_eq!(bounded(1), (false, Stop::Bound));
    assert_eq!(bounded(3), (true, Stop::Bound));
    assert_eq!(bounded(9), (true, Stop::Complete));
}

#[test]
fn bounds_that_cut_nothing_see_what_the_full_search_sees() {
    let program = parse(LOST_UPDATE);
    let (full, _) = search(&program, Strategy::Naive, Limits::default());
    let (bounded, _) = search(&program, Strategy::Bounded { preemptions: 9 }, Limits::default());
    assert_eq!(full.failures, bounded.failures);
}

/// A bug of depth 2 after many steps of another thread.
fn deep(steps: usize) -> String {
    format!(
        "atomic f g; thread A {{ repeat {steps} {{ g += 1 }} f = 1; repeat {steps} {{ g += 1 }} f = 0 }}
        thread B {{ repeat {steps} {{ g += 1 }} r = f; assert r == 0 }}"
    )
}

#[test]
fn priorities_find_a_deep_bug() {
    for strategy in [Strategy::Pct { depth: 2, seed: 1 }, Strategy::Pos { seed: 1 }] {
        assert_eq!(finds(&deep(10), strategy, executions(500)), (true, Stop::Executions));
    }
}

#[test]
fn priorities_without_changes_never_preempt() {
    let strategy = Strategy::Pct { depth: 1, seed: 7 };
    assert_eq!(finds(LOST_UPDATE, strategy, executions(500)), (false, Stop::Executions));
}

#[test]
fn equal_seeds_walk_equally() {
    for strategy in [Strategy::Pct { depth: 3, seed: 0 }, Strategy::Pos { seed: 0 }] {
        let program = parse(&deep(5));
        let walk = |seed| search(&program, strategy.seeded(seed), executions(20)).0;
        assert_eq!(walk(3), walk(3));
        assert_ne!(walk(3).schedules, walk(4).schedules);
    }
}

#[test]
fn short_executions_come_first() {
    // C's assertion comes after all seven operations.
    let bounded = |most| found(within(LOST_UPDATE, Bound::Operations(most), Limits::default()));
    let fewest = (1..20).find(|&most| bounded(most).0);
    assert_eq!(fewest, Some(7));
    assert_eq!(bounded(6), (false, Stop::Bound));
    assert_eq!(bounded(7), (true, Stop::Complete));
}

/// What the search covers of the program.
fn covered(text: &str, strategy: Strategy, limits: Limits) -> Covered {
    search(&parse(text), strategy, limits).1.covered
}

#[test]
fn searches_say_what_they_covered() {
    let endless = "atomic f; thread A { while r == 0 { r = f } } thread B { q = f }";
    let all = Limits::default();
    for strategy in [Strategy::Naive, Strategy::Dpor] {
        assert_eq!(covered(LOST_UPDATE, strategy, all), Covered::Everything);
        assert_eq!(covered(LOST_UPDATE, strategy, executions(2)), Covered::Some);
    }
    let short = Limits { operations: 5, ..Limits::default() };
    let shorter = Covered::Within(Bound::Operations(5));
    assert_eq!(covered(endless, Strategy::Naive, short), shorter);
    assert_eq!(covered(endless, Strategy::Dpor, short), Covered::Some);
    assert_eq!(within(endless, Bound::Operations(5), all).1.covered, shorter);
    for bound in [Bound::Preemptions(1), Bound::Switches(2), Bound::Operations(4)] {
        assert_eq!(within(LOST_UPDATE, bound, all).1.covered, Covered::Within(bound));
    }
    // Longer executions than the limit are not covered, whatever the bound.
    let cut = Limits { operations: 2, ..Limits::default() };
    let strategy = Strategy::Bounded { preemptions: 1 };
    assert_eq!(covered(LOST_UPDATE, strategy, cut), Covered::Some);
    // The last bound that was explored in full.
    let strategy = Strategy::Bounded { preemptions: 3 };
    let one = Covered::Within(Bound::Preemptions(1));
    assert_eq!(covered(LOST_UPDATE, strategy, executions(12)), one);
    let many = Strategy::Bounded { preemptions: 9 };
    assert_eq!(covered(LOST_UPDATE, many, all), Covered::Everything);
    let sampled = Covered::Sampled { executions: 20, seed: 7 };
    assert_eq!(covered(LOST_UPDATE, Strategy::Random { seed: 7 }, executions(20)), sampled);
    for strategy in [Strategy::Pct { depth: 2, seed: 7 }, Strategy::Pos { seed: 7 }] {
        assert_eq!(covered(LOST_UPDATE, strategy, executions(20)), sampled);
    }
}
