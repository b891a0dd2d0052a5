//! DPOR against brute force on random programs: the same failures, the same end states (deadlocks included), none more.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;
mod generate;

use check::{all_states, search};
use lockred_search::model::{Failure, ModelMachine, Program};
use lockred_search::{Choice, Limits, Observer, Stop, Strategy, replay};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Programs with more traces than this are only checked for seeing nothing that does not exist.
const EXECUTIONS: u64 = 3000;

fn config(default: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    Config { failure_persistence: None, cases: cases.unwrap_or(default), ..Config::default() }
}

fn compare(program: &Program) -> Result<(), TestCaseError> {
    let (states, _) = all_states(program);
    let limits = Limits { executions: Some(EXECUTIONS), ..Limits::default() };
    let (seen, outcome) = search(program, Strategy::Dpor, limits);
    match outcome.stop {
        Stop::Complete => prop_assert_eq!(&seen.failures, &states.failures, "{}", program),
        Stop::Executions => prop_assert!(seen.failures.is_subset(&states.failures), "{}", program),
        other => prop_assert!(false, "{:?} in {}", other, program),
    }
    let again = seen.schedules.iter().take(8).all(|(failure, schedule)| {
        let mut machine = ModelMachine::new(program).reporting_ends();
        let mut wanted = Wanted { failure, found: false };
        let replayed = replay(&mut machine, schedule, Limits::default(), &mut wanted);
        wanted.found && replayed.drift.is_none() && replayed.executed.starts_with(schedule)
    });
    prop_assert!(again, "a schedule does not lead to its failure: {}", program);
    Ok(())
}

struct Wanted<'a> {
    failure: &'a Failure,
    found: bool,
}

impl Observer<Failure> for Wanted<'_> {
    fn on_failure(&mut self, failure: Failure, _: &[Choice]) -> bool {
        self.found |= failure == *self.failure;
        true
    }
}

proptest! {
    #![proptest_config(config(if cfg!(feature = "deep") { 200_000 } else { 5_000 }))]

    #[test]
    fn dpor_sees_what_brute_force_sees(program in generate::program()) {
        compare(&program)?;
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn programs_survive_their_text(program in generate::program()) {
        prop_assert_eq!(program.to_string().parse(), Ok(program));
    }
}
