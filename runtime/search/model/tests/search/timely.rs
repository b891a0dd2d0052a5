//! Time in order: on random programs that sleep, and wait with timeouts, every complete search of a
//! machine whose time is ordered reports exactly what brute force over its states finds, and only
//! what may happen at all; single programs say what may happen there.

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::parse;
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_search::discipline::Discipline;
use lockred_search::{
    Findings, Limits, Outcome, Stop, Strategy, explore, replay, stateful, transactions,
};
use proptest::prelude::{TestCaseError, prop_assert, prop_assert_eq};

/// Programs with more states than this are passed over.
const STATES: usize = 20_000;
/// Searches are cut after so many executions, and then only have to report nothing that does not
/// exist.
const LIMITS: Limits = Limits { executions: Some(2_000), operations: u64::MAX };

fn machine(program: &Program) -> ModelMachine {
    ModelMachine::new(program).reporting_ends().ordering_time()
}

fn truth(program: &Program) -> Option<BTreeSet<Failure>> {
    every_state(&mut machine(program), STATES)
}

/// What each search reports, and how it ended.
fn searches(program: &Program) -> Vec<(&'static str, Findings<Failure>, Outcome)> {
    let mut all = Vec::new();
    let mut search =
        |name, search: &mut dyn FnMut(&mut ModelMachine, &mut Findings<Failure>) -> Outcome| {
            let mut seen = Findings::default();
            let outcome = search(&mut machine(program), &mut seen);
            all.push((name, seen, outcome));
        };
    let bounded = Strategy::Bounded { preemptions: 50 };
    search("dpor", &mut |machine, seen| explore(machine, Strategy::Dpor, LIMITS, seen));
    search("bounded", &mut |machine, seen| explore(machine, bounded, LIMITS, seen));
    search("transactions", &mut |machine, seen| {
        transactions::explore(machine, &mut Discipline::default(), LIMITS, seen)
    });
    search("stateful", &mut |machine, seen| {
        stateful::explore(machine, &mut Discipline::by_locks(), LIMITS, seen)
    });
    all
}

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

fn compare(program: &Program) -> Result<(), TestCaseError> {
    let Some(truth) = truth(program) else { return Ok(()) };
    for (name, seen, outcome) in searches(program) {
        let found = seen.failures.iter().filter(|failure| !is_race(failure));
        let found: BTreeSet<Failure> = found.cloned().collect();
        match outcome.stop {
            Stop::Complete => prop_assert_eq!(&found, &truth, "{}: {}", name, program),
            Stop::Executions => prop_assert!(found.is_subset(&truth), "{}: {}", name, program),
            other => prop_assert!(false, "{}: {:?} in {}", name, other, program),
        }
        for (failure, schedule) in seen.schedules.iter().take(6) {
            let mut shown = Findings::default();
            let limits = Limits { operations: schedule.len() as u64 + 1, ..LIMITS };
            let mut watched = Watched::new(machine(program));
            let replayed = replay(&mut watched, schedule, limits, &mut shown);
            let shows = replayed.drift.is_none() && shown.failures.contains(failure);
            prop_assert!(shows, "{}: {:?} by {:?} in {}", name, failure, schedule, program);
        }
    }
    Ok(())
}

oracle! {
    2_000, 100_000;
    random_programs_of_two_threads: 70, generate::sleeping(generate::single_statements(2, 10));
    patterns_of_two_threads: 71, generate::sleeping(generate::patterns(2, 10));
    programs_of_three_threads: 72, generate::sleeping(generate::program(3, 6));
    programs_of_four_threads: 73, generate::sleeping(generate::program(4, 4));
    programs_over_the_lock_family: 74, generate::sleeping(generate::locks::program());
}

/// What fails where time is ordered, and where it is not.
fn fails(text: &str) -> [bool; 2] {
    let program = parse(text);
    let any = ModelMachine::new(&program).reporting_ends();
    [machine(&program), any].map(|mut machine| {
        let all = every_state(&mut machine, STATES).unwrap();
        all.iter().any(|failure| !matches!(failure, Failure::End(_)))
    })
}

#[test]
fn sleeps_are_long_enough_for_what_does_not_sleep() {
    let text = "atomic f; thread A { sleep 1; r = f; assert r == 1 } thread B { f = 2; f = 1 }";
    assert_eq!(fails(text), [false, true]);
}

#[test]
fn shorter_sleeps_end_first() {
    let text = "atomic f; thread A { sleep 3; r = f; assert r == 2 } thread B { sleep 1; f = 1; sleep 1; f = 2 }";
    assert_eq!(fails(text), [false, true]);
    let text = "atomic f; thread A { sleep 2; r = f; assert r == 2 } thread B { sleep 1; f = 1; sleep 1; f = 2 }";
    assert_eq!(fails(text), [true, true], "both end at once");
}

#[test]
fn a_timeout_fires_where_nobody_else_can_go_on() {
    let text = "mutex a; condvar c; thread A { lock a; r = waitfor c a; unlock a; assert r == 1 } thread B { lock a; notify_one c; unlock a }";
    assert_eq!(fails(text), [true, true], "B may come first");
    let text = "mutex a; atomic f; condvar c; thread A { lock a; f = 1; r = waitfor c a; unlock a; assert r == 1 }
        thread B { await f == 1; lock a; notify_one c; unlock a }";
    assert_eq!(fails(text), [false, true]);
}
