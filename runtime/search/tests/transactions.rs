//! Transactions against brute force on random programs: the same failures, end states and data races, none more.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;
mod generate;

use std::collections::BTreeSet;

use check::{Seen, all_states, all_watched_states, by_transactions, leads_to};
use lockred_search::model::{Failure, Program};
use lockred_search::{Limits, Stop};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Programs with more traces than this are only checked for seeing nothing that does not exist.
const EXECUTIONS: u64 = 3000;
/// Programs whose watched states need more executions than this are not compared for races.
const WATCHED: u64 = 20_000;

fn config(default: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    Config { failure_persistence: None, cases: cases.unwrap_or(default), ..Config::default() }
}

/// How an oracle and the search compare.
fn compare(program: &Program) -> Result<(), TestCaseError> {
    let executions = |number| Limits { executions: Some(number), ..Limits::default() };
    let (states, _) = all_states(program);
    let (watched, watching) = all_watched_states(program, executions(WATCHED));
    let (mut seen, outcome) = by_transactions(program, executions(EXECUTIONS));
    if outcome.stop == Stop::Complete && watching.stop == Stop::Complete {
        prop_assert_eq!(races(&seen), races(&watched), "races of {}", program);
    }
    for (failure, schedule) in &seen.schedules {
        prop_assert!(
            leads_to(program, schedule, failure),
            "{:?} {:?} {}",
            failure,
            schedule,
            program
        );
    }
    seen.failures.retain(|failure| !is_race(failure));
    match outcome.stop {
        Stop::Complete => prop_assert_eq!(&seen.failures, &states.failures, "{}", program),
        Stop::Executions => prop_assert!(seen.failures.is_subset(&states.failures), "{}", program),
        other => prop_assert!(false, "{:?} in {}", other, program),
    }
    Ok(())
}

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

fn races(seen: &Seen) -> BTreeSet<&Failure> {
    seen.failures.iter().filter(|failure| is_race(failure)).collect()
}

proptest! {
    #![proptest_config(config(if cfg!(feature = "deep") { 50_000 } else { 1_500 }))]

    #[test]
    fn transactions_see_what_brute_force_sees(program in generate::program()) {
        compare(&program)?;
    }
}
