//! The oracle: on random programs every complete search reports exactly what brute force finds,
//! none missed, none more: failures, end states (deadlocks included), and, for the search by
//! transactions, data races. Every reported schedule is run again and shows its failure.
//!
//! An ordinary run compares 28,000 programs, always the same ones, so that a run says the same
//! twice. `cargo xtask test --deep` compares more than a million other ones; so does
//! `PROPTEST_CASES=150000`, with as many in each of the seven tests.

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::cases::cases;
use check::{by_persistent_sets, by_states, by_transactions, leads_to, search};
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_search::{Limits, Outcome, Stop, Strategy as Search};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Searches are cut after so many executions, and then only have to report nothing that does not
/// exist.
const EXECUTIONS: u64 = 2_000;
/// Programs with more states than this are passed over; with more when the detector's knowledge
/// counts as well, they are compared without races.
const STATES: usize = 200_000;
const WATCHED_STATES: usize = 60_000;
/// Failures of a program whose schedules are run again.
const REPLAYED: usize = 12;

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

/// What brute force finds: everything but races, and races if they could be reported.
struct Truth {
    failures: BTreeSet<Failure>,
    races: Option<BTreeSet<Failure>>,
}

fn truth(program: &Program) -> Option<Truth> {
    let machine = || ModelMachine::new(program).reporting_ends();
    if let Some(all) = every_state(&mut Watched::new(machine()), WATCHED_STATES) {
        let (races, failures) = all.into_iter().partition(is_race);
        return Some(Truth { failures, races: Some(races) });
    }
    let failures = every_state(&mut machine(), STATES)?;
    Some(Truth { failures, races: None })
}

/// Compares what a search reports with what there is.
fn agree(
    program: &Program,
    name: &str,
    truth: &Truth,
    (seen, outcome): &(check::Seen, Outcome),
) -> Result<(), TestCaseError> {
    let (races, failures): (BTreeSet<_>, BTreeSet<_>) =
        seen.failures.iter().cloned().partition(is_race);
    match outcome.stop {
        Stop::Complete => prop_assert_eq!(&failures, &truth.failures, "{}: {}", name, program),
        Stop::Executions => {
            prop_assert!(failures.is_subset(&truth.failures), "{}: {}", name, program);
        }
        other => prop_assert!(false, "{}: {:?} in {}", name, other, program),
    }
    if let Some(all) = &truth.races {
        prop_assert!(races.is_subset(all), "{}: {:?} is no race of {}", name, races, program);
    }
    let (tell, replayed) = seen.schedules.iter().partition::<Vec<_>, _>(|(f, _)| is_race(f));
    for (failure, schedule) in tell.into_iter().chain(replayed).take(REPLAYED) {
        let shown = leads_to(program, schedule, failure);
        prop_assert!(shown, "{}: {:?} does not show {:?} of {}", name, schedule, failure, program);
    }
    Ok(())
}

fn compare(program: &Program) -> Result<(), TestCaseError> {
    let Some(truth) = truth(program) else { return Ok(()) };
    compare_stateless(program, &truth)?;
    let limits = Limits { executions: Some(EXECUTIONS), ..Limits::default() };
    agree(program, "stateful", &truth, &by_states(program, limits))?;
    agree(program, "persistent sets", &truth, &by_persistent_sets(program, limits))
}

/// Compares the searches that go through executions.
fn compare_stateless(program: &Program, truth: &Truth) -> Result<(), TestCaseError> {
    let limits = Limits { executions: Some(EXECUTIONS), ..Limits::default() };
    agree(program, "dpor", truth, &search(program, Search::Dpor, limits))?;
    let transactions = by_transactions(program, limits);
    agree(program, "transactions", truth, &transactions)?;
    if let (Stop::Complete, Some(all)) = (transactions.1.stop, &truth.races) {
        let races: BTreeSet<_> = transactions.0.failures.into_iter().filter(is_race).collect();
        prop_assert_eq!(&races, all, "races of {}", program);
    }
    Ok(())
}

oracle! {
    4_000, 200_000;
    random_programs_of_two_threads: 0, generate::single_statements(2, 14);
    patterns_of_two_threads: 1, generate::patterns(2, 14);
    programs_of_three_threads: 2, generate::program(3, 9);
    programs_of_four_threads: 3, generate::program(4, 6);
    programs_of_any_size: 4, generate::any_program();
    programs_over_the_lock_family: 6, generate::locks::program();
    programs_that_meet_at_barriers: 7, generate::parts::meetings();
    programs_that_exchange_values: 8, generate::exchanges::program();
    programs_that_wait_for_what_is_freed: 9, generate::parts::awaited_and_freed();
}

proptest! {
    #![proptest_config(cases(10, 10_000, 200_000))]

    /// Persistent sets do not know of parts.
    #[test]
    fn atomic_accesses_of_two_sizes(program in generate::parts::sizes()) {
        if let Some(truth) = truth(&program) {
            compare_stateless(&program, &truth)?;
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 1_000, ..cases(5, 1_000, 1_000) })]

    #[test]
    fn programs_of_parts_survive_their_text(program in generate::parts::sizes()) {
        prop_assert_eq!(program.to_string().parse(), Ok(program));
    }

    #[test]
    fn programs_survive_their_text(program in generate::any_program()) {
        prop_assert_eq!(program.to_string().parse(), Ok(program));
    }
}
