//! The oracle of the unified search: on random programs it reports exactly what brute force finds,
//! none missed, none more: failures, end states (deadlocks included), and data races.
//!
//! An ordinary run compares 10,000 programs, always the same ones. Half of them do the same several
//! times; a quarter have states that differ in nothing but what threads know; some have loops. One
//! of four programs is searched for the first races only, one of eight with half of the states
//! forgotten that the search has left, one with all of them, one with another order of threads.

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::cases::cases;
use check::livelock::every_state_and_livelock;
use check::{UpTo, by_transactions, by_unified, leads_to};
use lockred_model::program::Variable;
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_search::discipline::Discipline;
use lockred_search::unified::{self, First, Keep, Pairs, Settings};
use lockred_search::{Limits, Stop, transactions};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Programs with more states than this are passed over; with more when the detector's knowledge
/// counts as well, races are compared with those of the search by transactions, if it ends.
const STATES: usize = 2_000;
const WATCHED_STATES: usize = 2_000;
/// Transactions after which a search is not compared: with states forgotten it may make very many.
const TRANSACTIONS: u64 = 50_000;

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

fn parted(failures: BTreeSet<Failure>) -> (BTreeSet<Failure>, BTreeSet<Failure>) {
    failures.into_iter().partition(is_race)
}

fn variables(races: &BTreeSet<Failure>) -> BTreeSet<Variable> {
    let variable = |race: &Failure| match race {
        Failure::Race { variable, .. } => Some(*variable),
        _ => None,
    };
    races.iter().filter_map(variable).collect()
}

/// What brute force finds: races, if they could be judged, and everything else.
pub fn truth(program: &Program) -> Option<(Option<BTreeSet<Failure>>, BTreeSet<Failure>)> {
    let machine = || ModelMachine::new(program).reporting_ends();
    let failures = every_state(&mut machine(), STATES)?;
    if let Some(all) = every_state(&mut Watched::new(machine()).recurring(), WATCHED_STATES) {
        let (races, others) = parted(all);
        assert_eq!(others, failures, "brute force disagrees with itself: {program}");
        return Some((Some(races), failures));
    }
    let limits = Limits { executions: Some(300), operations: 300 };
    let (seen, outcome) = by_transactions(program, limits);
    let ended = outcome.stop == Stop::Complete;
    Some((ended.then(|| parted(seen.failures).0), failures))
}

/// The settings of the program's number.
pub fn settings(number: u8) -> Settings {
    let pairs = if number.is_multiple_of(4) { Pairs::First } else { Pairs::All };
    let keep = match number % 8 {
        1 => Keep::Half,
        2 => Keep::Most(0),
        4 => Keep::Most(8),
        _ => Keep::All,
    };
    let first = if number % 8 == 3 { First::Last } else { First::LeastWanting };
    Settings { pairs, keep, first, everybody: number % 8 == 7 }
}

/// Whether the search with these settings is known to be right or wrong about the program.
pub fn is_right(program: &Program, settings: Settings) -> Option<bool> {
    let (races, failures) = truth(program)?;
    let (seen, outcome, _) = by_unified(program, settings, TRANSACTIONS);
    if outcome.stop == Stop::Interrupted {
        return None;
    }
    let (seen_races, seen) = parted(seen.failures);
    let same = match (races, settings.pairs) {
        (None, _) => true,
        (Some(races), Pairs::All) => seen_races == races,
        (Some(races), Pairs::First) => {
            seen_races.is_subset(&races) && variables(&seen_races) == variables(&races)
        }
    };
    Some(outcome.stop == Stop::Complete && seen == failures && same)
}

/// Compares failures, end states and livelocks on a machine with `truth`.
fn compare_on(
    mut machine: ModelMachine,
    truth: Option<BTreeSet<Failure>>,
    (program, number): &(Program, u8),
) -> Result<(), TestCaseError> {
    let (Some(truth), settings) = (truth, settings(*number)) else { return Ok(()) };
    let (mut seen, discipline) = (UpTo::new(TRANSACTIONS), &mut Discipline::hybrid());
    // (Some loops have effects again and again.)
    let limits = Limits { executions: None, operations: 2_000 };
    let (outcome, _) = unified::explore(&mut machine, discipline, settings, limits, &mut seen);
    let seen = parted(seen.seen.failures).1;
    match outcome.stop {
        Stop::Complete => prop_assert_eq!(seen, truth, "{:?}: {}", settings, program),
        _ => prop_assert!(seen.is_subset(&truth), "{:?}: {}", settings, program),
    }
    Ok(())
}

fn compare_waiting(program: &(Program, u8)) -> Result<(), TestCaseError> {
    let machine = ModelMachine::new(&program.0).reporting_ends().noticing_spins();
    compare_on(machine, every_state_and_livelock(&program.0, STATES), program)
}

fn compare_timely(program: &(Program, u8)) -> Result<(), TestCaseError> {
    let machine = || ModelMachine::new(&program.0).reporting_ends().ordering_time();
    compare_on(machine(), every_state(&mut machine(), STATES), program)
}

fn compare((program, number): &(Program, u8)) -> Result<(), TestCaseError> {
    let settings = settings(*number);
    prop_assert_ne!(is_right(program, settings), Some(false), "{:?}: {}", settings, program);
    compare_values(program, settings)
}

/// Compares with the search by transactions whether a weaker memory could show other values; and
/// follows the schedules of races.
fn compare_values(program: &Program, settings: Settings) -> Result<(), TestCaseError> {
    let mut machine = ModelMachine::new(program);
    let (mut seen, mut discipline) = (UpTo::new(TRANSACTIONS), Discipline::hybrid());
    let limits = Limits { executions: Some(300), operations: 300 };
    let (unified, _) = unified::explore(&mut machine, &mut discipline, settings, limits, &mut seen);
    for (race, schedule) in seen.seen.schedules.iter().filter(|(failure, _)| is_race(failure)) {
        prop_assert!(leads_to(program, schedule, race), "{:?} of {}", race, program);
    }
    let mut other = ModelMachine::new(program);
    let (mut seen, mut discipline) = (UpTo::new(TRANSACTIONS), Discipline::default());
    let by_traces = transactions::explore(&mut other, &mut discipline, limits, &mut seen);
    let complete = [unified, by_traces].iter().all(|outcome| outcome.stop == Stop::Complete);
    // What comes after a race is not the same in both.
    if complete && !seen.seen.failures.iter().any(is_race) {
        prop_assert_eq!(machine.weak_values(), other.weak_values(), "{:?}: {}", settings, program);
    }
    Ok(())
}

fn with_number(programs: impl Strategy<Value = Program>) -> impl Strategy<Value = (Program, u8)> {
    (programs, any::<u8>())
}

oracle! {
    5_000, 50_000;
    programs_with_rounds: 20, with_number(generate::rounds::program());
}

oracle! {
    2_000, 20_000;
    counted_references: 33, with_number(generate::parts::counted());
}

oracle! {
    2_500, 25_000;
    programs_with_knowledge: 21, with_number(generate::rounds::knowing());
}

oracle! {
    250, 2_500;
    single_statements: 22, with_number(generate::single_statements(2, 14));
    patterns: 23, with_number(generate::patterns(2, 14));
    three_threads: 24, with_number(generate::program(3, 9));
    four_threads: 25, with_number(generate::program(4, 6));
    the_lock_family: 26, with_number(generate::locks::program());
    meetings: 27, with_number(generate::parts::meetings());
    exchanges: 28, with_number(generate::exchanges::program());
    awaited_and_freed: 29, with_number(generate::parts::awaited_and_freed());
    loops_of_any_kind: 30, with_number(generate::looping(generate::any_program()));
    loops_that_wait: 31, with_number(generate::loops::program());
}

proptest! {
    #![proptest_config(cases(32, 500, 5_000))]

    #[test]
    fn loops_that_are_noticed(program in with_number(generate::loops::program())) {
        compare_waiting(&program)?;
    }

    #[test]
    fn time_in_order(program in with_number(generate::sleeping(generate::any_program()))) {
        compare_timely(&program)?;
    }
}

/// How many programs are compared, and what of them: else the oracle could agree with nothing.
#[test]
fn enough_is_compared() {
    let looping = generate::looping(generate::any_program()).boxed();
    for (name, programs, loops) in [
        ("rounds", generate::rounds::program().boxed(), false),
        ("knowledge", generate::rounds::knowing().boxed(), false),
        ("any", generate::any_program().boxed(), false),
        ("loops", looping, true),
    ] {
        let mut runner = TestRunner::deterministic();
        let (mut known, mut judged, mut racy, mut stuck, mut cyclic) = (0, 0, 0, 0, 0);
        for number in 0..200 {
            let program = programs.new_tree(&mut runner).unwrap().current();
            let Some((races, failures)) = truth(&program) else { continue };
            let (_, outcome, visited) = by_unified(&program, settings(number), TRANSACTIONS);
            if outcome.stop == Stop::Interrupted {
                continue;
            }
            known += 1;
            judged += u32::from(races.is_some());
            racy += u32::from(races.is_some_and(|races| !races.is_empty()));
            let deadlock = |failure: &Failure| matches!(failure, Failure::Deadlock { .. });
            stuck += u32::from(failures.iter().any(deadlock));
            cyclic += u32::from(visited.cycles > 0);
        }
        println!(
            "{name}: {known} compared, {judged} with races, {racy} racy, {stuck} with deadlocks, {cyclic} with cycles"
        );
        assert!(known > 120 && judged > 100 && racy > 20 && stuck > 10, "{name}");
        assert!(!loops || cyclic > 10, "{name}");
    }
}
