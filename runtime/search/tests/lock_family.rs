//! The rarer members of the lock family: named programs, under every strategy (random ones: the oracle).

#![expect(dead_code, reason = "not every test file uses all of `check` and `generate`")]
mod check;
mod generate;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::{by_states, by_transactions, leads_to, parse, search};
use lockred_search::model::{Failure, ModelMachine, Watched};
use lockred_search::{Limits, Stop, Strategy};
use proptest::prelude::*;
use proptest::test_runner::Config;

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

/// What there is to see of the program, races included, when all complete strategies have seen it.
fn agrees(text: &str) -> BTreeSet<Failure> {
    let program = parse(text);
    let machine = ModelMachine::new(&program).reporting_ends();
    let all = every_state(&mut Watched::new(machine), usize::MAX).unwrap_or_default();
    let told: BTreeSet<_> = all.iter().filter(|failure| !is_race(failure)).cloned().collect();
    for (name, truth, (seen, outcome)) in [
        ("naive", &told, search(&program, Strategy::Naive, Limits::default())),
        ("dpor", &told, search(&program, Strategy::Dpor, Limits::default())),
        ("transactions", &all, by_transactions(&program, Limits::default())),
        ("stateful", &told, by_states(&program, Limits::default())),
    ] {
        assert_eq!(outcome.stop, Stop::Complete, "{name}: {text}");
        assert_eq!(&seen.failures, truth, "{name}: {text}");
        for (failure, schedule) in &seen.schedules {
            assert!(leads_to(&program, schedule, failure), "{name}: {failure:?} of {text}");
        }
    }
    all
}

fn deadlocks(seen: &BTreeSet<Failure>) -> usize {
    seen.iter().filter(|failure| matches!(failure, Failure::Deadlock { .. })).count()
}

fn ends(seen: &BTreeSet<Failure>) -> usize {
    seen.iter().filter(|failure| matches!(failure, Failure::End(_))).count()
}

/// Complete executions by DPOR and by transactions, and refinements of the latter.
fn executions(text: &str) -> (u64, u64, u64) {
    let program = parse(text);
    let (_, dpor) = search(&program, Strategy::Dpor, Limits::default());
    let (_, transactions) = by_transactions(&program, Limits::default());
    (dpor.counts.executions, transactions.counts.executions, transactions.counts.refinements)
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: 300, ..Config::default() })]

    #[test]
    fn programs_survive_their_text(program in generate::locks::program()) {
        prop_assert_eq!(program.to_string().parse(), Ok(program));
    }
}

#[test]
fn an_owner_locks_a_reentrant_mutex_again() {
    let again = "lock a; lock a; x = 1; unlock a; unlock a";
    let text = format!("reentrant a; plain x; thread A {{ {again} }} thread B {{ {again} }}");
    let seen = agrees(&text);
    assert_eq!((deadlocks(&seen), ends(&seen), seen.len()), (0, 1, 1));
    // The inner sections are no operations on the lock: one order for each order of the outer ones.
    assert_eq!(executions(&text), (2, 2, 0));
    let inner = "lock a; lock a; unlock a; unlock a";
    let text = format!("reentrant a; thread A {{ {inner} }} thread B {{ {inner} }}");
    agrees(&text);
    assert_eq!(executions(&text), (2, 1, 0));
}

#[test]
fn only_the_outermost_release_frees_a_reentrant_mutex() {
    let seen =
        agrees("reentrant a; thread A { lock a; lock a; unlock a } thread B { lock a; unlock a }");
    assert_eq!(deadlocks(&seen), 1);
    assert_eq!(ends(&seen), 2);
}

#[test]
fn a_try_by_the_owner_of_a_reentrant_mutex_succeeds_unseen() {
    let text = "reentrant a; plain x; thread A { lock a; r = try a; assert r == 1; x = 1; unlock a; unlock a }
        thread B { lock a; x = 2; unlock a }";
    let seen = agrees(text);
    assert_eq!((seen.len(), ends(&seen)), (2, 2));
    assert_eq!(executions(text), (2, 2, 0));
}

#[test]
fn a_wait_gives_a_reentrant_mutex_back_wholly() {
    let seen = agrees(
        "reentrant a; condvar c; plain x;
        thread A { lock a; lock a; r = x; if r == 0 { wait c a } x = 2; unlock a; unlock a }
        thread B { lock a; x = 1; notify_all c; unlock a }",
    );
    assert_eq!((deadlocks(&seen), ends(&seen), seen.len()), (0, 2, 2));
}

#[test]
fn the_order_of_reentrant_locks_may_be_cyclic() {
    let seen = agrees(
        "reentrant a b; thread A { lock a; lock b; lock a; unlock a; unlock b; unlock a }
        thread B { lock b; lock a; unlock a; unlock b }",
    );
    assert_eq!((deadlocks(&seen), ends(&seen)), (1, 2));
}
