//! Programs in which many threads abort: an abort cuts off what others would have done, and must
//! hide none of it.

use crate::check;

use check::brute::every_state;
use check::cases::cases;
use check::{by_transactions, parse};
use lockred_model::{ModelMachine, Program, Watched};
use lockred_search::{Limits, Stop};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const DECLARATIONS: &str = "mutex a b; plain x y; atomic f; condvar c;";

/// One in four aborts, most of them if a register has some value.
const STATEMENTS: [&str; 20] = [
    "lock a",
    "lock b",
    "unlock a",
    "unlock b",
    "read a",
    "unread a",
    "r = try a",
    "wait c a",
    "notify_one c",
    "r = x",
    "x = 0",
    "x = 1",
    "q = y",
    "y = 1",
    "if r == 0 { lock b }",
    "if r != 1 { abort }",
    "if r == 1 { abort }",
    "if q == 0 { abort }",
    "abort",
    "f += 1",
];

fn programs(threads: usize, length: usize) -> impl Strategy<Value = Program> {
    vec(vec(select(&STATEMENTS[..]), 1..=length), threads).prop_map(|bodies| {
        let threads = bodies.iter().enumerate();
        let text = threads.map(|(i, body)| format!(" thread T{i} {{ {} }}", body.join("; ")));
        parse(&(DECLARATIONS.to_owned() + &text.collect::<String>()))
    })
}

fn compare(program: &Program) -> Result<(), TestCaseError> {
    let mut watched = Watched::new(ModelMachine::new(program).reporting_ends());
    let Some(all) = every_state(&mut watched, 60_000) else { return Ok(()) };
    let limits = Limits { executions: Some(3_000), ..Limits::default() };
    let (seen, outcome) = by_transactions(program, limits);
    if outcome.stop == Stop::Complete {
        prop_assert_eq!(&seen.failures, &all, "{}", program);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(1, 1_000, 60_000))]

    #[test]
    fn aborts_of_two_threads_hide_nothing(program in programs(2, 7)) {
        compare(&program)?;
    }

    #[test]
    fn aborts_of_three_threads_hide_nothing(program in programs(3, 5)) {
        compare(&program)?;
    }

    #[test]
    fn aborts_of_four_threads_hide_nothing(program in programs(4, 3)) {
        compare(&program)?;
    }
}

#[test]
fn an_abort_inside_a_section_hides_no_race() {
    let text = "mutex a; plain x; thread A { x = 0; if r != 1 { lock a } }
        thread B { lock a; x = 0; if r != 1 { abort } }";
    compare(&parse(text)).expect("the race of the two writes is seen");
}
