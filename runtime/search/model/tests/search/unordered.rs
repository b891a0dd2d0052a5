//! Where the stateful search cannot exclude data races: everywhere where there are any, and hardly
//! anywhere else.

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::{by_transactions, cases::cases, parse};
use lockred_model::program::Variable;
use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::discipline::Discipline;
use lockred_search::{Findings, Limits, Stop, stateful};
use proptest::prelude::*;

/// The variables of which the stateful search cannot exclude races.
fn may_race(program: &Program, limits: Limits) -> Option<BTreeSet<Variable>> {
    let mut machine = ModelMachine::new(program);
    let mut found = Findings::default();
    let mut discipline = Discipline::by_locks();
    let outcome = stateful::explore(&mut machine, &mut discipline, limits, &mut found);
    (outcome.stop == Stop::Complete).then(|| machine.may_race().clone())
}

/// The variables that race.
fn races(program: &Program, limits: Limits) -> Option<BTreeSet<Variable>> {
    let (seen, outcome) = by_transactions(program, limits);
    let racing = |failure: &Failure| match failure {
        Failure::Race { variable, .. } => Some(*variable),
        _ => None,
    };
    (outcome.stop == Stop::Complete).then(|| seen.failures.iter().filter_map(racing).collect())
}

/// Compares both, and gives back for how many variables races are not excluded that do not race.
fn excess(program: &Program) -> Result<usize, TestCaseError> {
    let limits = Limits { executions: Some(3000), ..Limits::default() };
    let (Some(races), Some(may_race)) = (races(program, limits), may_race(program, limits)) else {
        return Ok(0);
    };
    prop_assert!(races.is_subset(&may_race), "{program}\n{races:?} race, {may_race:?} may");
    Ok(may_race.difference(&races).count())
}

/// No race of these programs is excluded.
fn excludes_no_race_of(programs: &impl Strategy<Value = Program>, test: u64) {
    let mut runner = proptest::test_runner::TestRunner::new(cases(test, 400, 20_000));
    if let Err(error) = runner.run(programs, |program: Program| excess(&program).map(drop)) {
        panic!("{error}");
    }
}

#[test]
fn no_race_is_excluded() {
    excludes_no_race_of(&generate::any_program(), 1);
}

#[test]
fn no_race_with_what_a_thread_waits_for_is_excluded() {
    excludes_no_race_of(&generate::parts::awaited_and_freed(), 2);
}

#[test]
fn no_race_of_atomic_accesses_of_two_sizes_is_excluded() {
    excludes_no_race_of(&generate::parts::sizes(), 3);
}

#[test]
fn what_a_thread_waits_for_may_race_with_its_deallocation() {
    let text = "atomic f; thread A { f += 1; free f } thread B { await f == 0 }";
    assert_eq!(excess_of(text), 0);
    assert_eq!(may_race(&parse(text), Limits::default()).unwrap(), [Variable(0)].into());
}

/// For how many variables races are not excluded that do not race.
fn excess_of(text: &str) -> usize {
    excess(&parse(text)).unwrap()
}

#[test]
fn a_common_lock_excludes_races() {
    assert_eq!(
        excess_of(
            "plain x; mutex a; thread A { lock a; x = 1; unlock a } thread B { lock a; r = x; unlock a }"
        ),
        0
    );
    // Locks that differ do not.
    let text = "plain x; mutex a b; thread A { lock a; x = 1; unlock a } thread B { lock b; r = x; unlock b }";
    assert_eq!(may_race(&parse(text), Limits::default()).unwrap().len(), 1);
}

#[test]
fn creation_and_joining_exclude_races() {
    let text = "plain x; thread A { x = 1; spawn B; join B; x = 3 } thread B { r = x; x = 2 }";
    assert_eq!(excess_of(text), 0);
    let joined_by_another = "plain x; thread A { spawn B; spawn C; join C; r = x } thread B { x = 2 } thread C { join B; q = x; x = 1 }";
    assert_eq!(excess_of(joined_by_another), 0);
}

#[test]
fn what_a_creator_does_afterwards_is_not_before() {
    let text = "plain x; thread A { spawn B; x = 1 } thread B { r = x }";
    assert_eq!(may_race(&parse(text), Limits::default()).unwrap().len(), 1);
}

#[test]
fn what_only_an_atomic_variable_orders_is_not_excluded() {
    let text =
        "plain x; atomic f; thread A { x = 1; f = 1 } thread B { r = f; if r == 1 { q = x } }";
    assert_eq!(excess_of(text), 1);
}
