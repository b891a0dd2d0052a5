//! Persistent sets against brute force on random programs with loops: the same failures and end
//! states, none more.

use crate::check;
use crate::generate;

use check::brute::every_state;
use check::cases::cases;
use check::{by_persistent_sets, by_states, leads_to};
use lockred_model::{ModelMachine, Program};
use lockred_search::{Limits, Outcome, Stop};
use proptest::prelude::*;

/// Programs with more states than this are passed over.
const STATES: usize = 20_000;

fn agree(
    program: &Program,
    search: fn(&Program, Limits) -> (check::Seen, Outcome),
) -> Result<(), TestCaseError> {
    let mut machine = ModelMachine::new(program).reporting_ends();
    let Some(failures) = every_state(&mut machine, STATES) else { return Ok(()) };
    let (seen, outcome) = search(program, Limits::default());
    prop_assert_eq!(outcome.stop, Stop::Complete);
    prop_assert_eq!(&seen.failures, &failures, "{}", program);
    for (failure, schedule) in &seen.schedules {
        prop_assert!(leads_to(program, schedule, failure), "{:?} in {}", failure, program);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(9, 1_500, 100_000))]

    #[test]
    fn persistent_sets_miss_nothing(program in generate::looping(generate::any_program())) {
        agree(&program, by_persistent_sets)?;
    }

    #[test]
    fn persistent_sets_of_lock_programs(program in generate::looping(generate::locks::program())) {
        agree(&program, by_persistent_sets)?;
    }

    #[test]
    fn all_threads_miss_nothing(program in generate::looping(generate::any_program())) {
        agree(&program, by_states)?;
    }
}
