//! The oracle for loops that wait: on random programs with such loops every search that notices
//! them reports exactly the failures, end states and livelocks that brute force finds on the plain
//! machine.

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::Seen;
use check::cases::cases;
use check::livelock::every_state_and_livelock;
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_papers::persistent;
use lockred_search::discipline::Discipline;
use lockred_search::{
    Limits, Outcome, Stop, Strategy as Search, explore, replay, stateful, transactions,
};
use proptest::prelude::*;

/// Searches are cut after so many executions, and executions after so many steps (some loops have
/// effects again and again); then they only have to report nothing that does not exist.
const LIMITS: Limits = Limits { executions: Some(2_000), operations: 300 };
const STATES: usize = 20_000;
fn machine(program: &Program) -> ModelMachine {
    ModelMachine::new(program).reporting_ends().noticing_spins()
}

fn agree(
    program: &Program,
    name: &str,
    truth: &BTreeSet<Failure>,
    (seen, outcome): (Seen, Outcome),
) -> Result<(), TestCaseError> {
    let race = |failure: &&Failure| matches!(failure, Failure::Race { .. });
    let failures: BTreeSet<_> = seen.failures.iter().filter(|f| !race(f)).cloned().collect();
    match outcome.stop {
        Stop::Complete => prop_assert_eq!(&failures, truth, "{}: {}", name, program),
        Stop::Executions | Stop::Operations => {
            let more: Vec<_> = failures.difference(truth).collect();
            prop_assert!(more.is_empty(), "{}: {:?} is wrong of {}", name, more, program);
        }
        other => prop_assert!(false, "{}: {:?} in {}", name, other, program),
    }
    for (failure, schedule) in seen.schedules.iter().take(12) {
        let mut watched = Watched::new(machine(program));
        let mut shown = Seen::default();
        let limits = Limits { operations: schedule.len() as u64 + 1, ..Limits::default() };
        let replayed = replay(&mut watched, schedule, limits, &mut shown);
        let shows = replayed.drift.is_none() && shown.failures.contains(failure);
        prop_assert!(shows, "{}: {:?} does not show {:?} of {}", name, schedule, failure, program);
    }
    Ok(())
}

fn compare(program: &Program) -> Result<(), TestCaseError> {
    let Some(truth) = every_state_and_livelock(program, STATES) else { return Ok(()) };
    let mut seen = Seen::default();
    let outcome = explore(&mut machine(program), Search::Dpor, LIMITS, &mut seen);
    agree(program, "dpor", &truth, (seen, outcome))?;
    let mut seen = Seen::default();
    let mut discipline = Discipline::default();
    let outcome = transactions::explore(&mut machine(program), &mut discipline, LIMITS, &mut seen);
    agree(program, "transactions", &truth, (seen, outcome))?;
    for persistent in [false, true] {
        let mut seen = Seen::default();
        let mut discipline = Discipline::by_locks();
        let visit = if persistent { persistent::explore } else { stateful::explore };
        let outcome = visit(&mut machine(program), &mut discipline, LIMITS, &mut seen);
        let name = if persistent { "persistent sets" } else { "stateful" };
        agree(program, name, &truth, (seen, outcome))?;
    }
    let mut seen = Seen::default();
    let walks = Limits { executions: Some(20), ..LIMITS };
    let outcome = explore(&mut machine(program), Search::Random { seed: 3 }, walks, &mut seen);
    agree(program, "random", &truth, (seen, outcome))
}

proptest! {
    #![proptest_config(cases(7, 4_000, 200_000))]

    #[test]
    fn loops_that_wait(program in generate::loops::program()) {
        compare(&program)?;
    }
}
