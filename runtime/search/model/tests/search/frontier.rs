//! A search that is interrupted and goes on from its frontier, in another machine, explores what it
//! would have explored.

use crate::check;
use crate::generate;

use check::cases::cases;
use check::{Seen, by_transactions};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::discipline::Discipline;
use lockred_search::transactions::{self, Frontier};
use lockred_search::{Choice, Counts, Limits, Observer, Outcome, Stop};
use proptest::prelude::*;

const LIMITS: Limits = Limits { executions: Some(400), operations: 1_000 };

/// Stops a search some runs after a frontier, which it keeps as text.
struct Stopping<'a> {
    seen: &'a mut Seen,
    /// Frontiers that are passed over.
    pass: u32,
    /// Runs that are made after the frontier and lost.
    lose: u32,
    kept: Option<String>,
}

impl Observer<Failure> for Stopping<'_> {
    fn on_step(&mut self, _: &Counts) -> bool {
        if self.kept.is_none() {
            return true;
        }
        self.lose = self.lose.saturating_sub(1);
        self.lose > 0
    }

    fn wants_frontier(&mut self) -> bool {
        if self.kept.is_some() {
            return false;
        }
        self.pass = self.pass.saturating_sub(1);
        self.pass == 0
    }

    fn on_frontier(&mut self, frontier: &Frontier) {
        self.kept = Some(serde_json::to_string(frontier).unwrap());
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        self.seen.on_failure(failure, schedule)
    }
}

/// Explores the program with an interruption at every `pass`th frontier, after which `lose` runs
/// are lost.
fn interrupted(program: &Program, pass: u32, lose: u32) -> (Seen, Outcome, u32) {
    let mut seen = Seen::default();
    let mut interruptions = 0;
    let mut kept: Option<String> = None;
    loop {
        let mut machine = ModelMachine::new(program).reporting_ends();
        let mut observer = Stopping { seen: &mut seen, pass, lose, kept: None };
        let frontier = kept.take().map(|text| serde_json::from_str(&text).unwrap());
        let discipline = &mut Discipline::default();
        let outcome =
            transactions::explore_from(frontier, &mut machine, discipline, LIMITS, &mut observer);
        if outcome.stop != Stop::Interrupted {
            return (seen, outcome, interruptions);
        }
        kept = observer.kept;
        interruptions += 1;
    }
}

fn goes_on(program: &Program, pass: u32, lose: u32) -> Result<u32, TestCaseError> {
    let (expected, whole) = by_transactions(program, LIMITS);
    let (seen, parts, interruptions) = interrupted(program, pass, lose);
    prop_assert_eq!(parts, whole, "{}", program);
    prop_assert_eq!(&seen.failures, &expected.failures, "{}", program);
    prop_assert_eq!(&seen.schedules, &expected.schedules, "{}", program);
    Ok(interruptions)
}

/// Explores the program in slices of a few operations, each of which stops where its frontier is.
fn sliced(program: &Program, slice: u64) -> (Seen, Outcome, u32) {
    struct Slice<'a> {
        seen: &'a mut Seen,
        most: u64,
        kept: Option<String>,
    }
    impl Observer<Failure> for Slice<'_> {
        fn is_spent(&mut self, counts: &Counts) -> bool {
            counts.operations >= self.most
        }
        fn on_frontier(&mut self, frontier: &Frontier) {
            assert!(self.kept.is_none(), "the search stops at its first frontier");
            self.kept = Some(serde_json::to_string(frontier).unwrap());
        }
        fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
            self.seen.on_failure(failure, schedule)
        }
    }
    let (mut seen, mut slices, mut done) = (Seen::default(), 0, 0);
    let mut kept: Option<String> = None;
    loop {
        let mut machine = ModelMachine::new(program).reporting_ends();
        let frontier = kept.take().map(|text| serde_json::from_str(&text).unwrap());
        let mut observer = Slice { seen: &mut seen, most: done + slice, kept: None };
        let discipline = &mut Discipline::default();
        let outcome =
            transactions::explore_from(frontier, &mut machine, discipline, LIMITS, &mut observer);
        if outcome.stop != Stop::Total {
            return (seen, outcome, slices);
        }
        kept = observer.kept;
        assert!(kept.is_some(), "a search that stops at its slice says where");
        done = outcome.counts.operations;
        slices += 1;
    }
}

#[test]
fn a_search_in_slices_loses_nothing_and_repeats_nothing() {
    let program = check::parse(
        "mutex m; atomic x y z; thread A { lock m; x = 1; unlock m; y = 1; r = z } \
         thread B { lock m; r = x; unlock m; z = 1; r = y } thread C { lock m; x = 2; unlock m; y = 2 }",
    );
    let (expected, whole) = by_transactions(&program, LIMITS);
    for slice in [1, 10, 100] {
        let (seen, outcome, slices) = sliced(&program, slice);
        assert_eq!(outcome, whole, "slices of {slice}");
        assert_eq!(seen.schedules, expected.schedules);
        assert!(slices >= 2, "{slices} slices of {slice}");
    }
}

macro_rules! going_on {
    ($($name:ident: $test:literal, $programs:expr;)*) => {
        $(proptest! {
            #![proptest_config(cases($test, 1_000, 20_000))]

            #[test]
            fn $name(program in $programs, pass in 1..6_u32, lose in 1..30_u32) {
                goes_on(&program, pass, lose)?;
            }
        })*
    };
}

going_on! {
    programs_of_any_size: 0, generate::any_program();
    patterns_of_three_threads: 1, generate::patterns(3, 9);
    programs_over_the_lock_family: 2, generate::locks::program();
    programs_that_meet_at_barriers: 3, generate::parts::meetings();
}

#[test]
fn every_frontier_is_gone_on_from() {
    let program = check::parse(
        "mutex m; atomic x y z; thread A { lock m; x = 1; unlock m; y = 1; r = z } \
         thread B { lock m; r = x; unlock m; z = 1; r = y } thread C { lock m; x = 2; unlock m; y = 2 }",
    );
    let interruptions = goes_on(&program, 1, 1).unwrap();
    assert!(interruptions > 5, "{interruptions} interruptions");
}
