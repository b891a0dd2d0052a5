//! Bounded searches: on random programs, what is found with at most so many preemptions or switches
//! is what Dijkstra's algorithm says takes no more of them, none missed, none more; and each rule,
//! switched off, is caught.

use crate::check;
use crate::generate;

use std::collections::{BTreeMap, BTreeSet};

use check::dijkstra::{self, Counted};
use check::{leads_to, parse};
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_search::footprint::{Access, Footprint, ObjectId};
use lockred_search::machine::{Chooser, Machine, Status, Step, ThreadId};
use lockred_search::{Bound, Covered, Findings, Limits, Outcome, Stop, bounded};
use proptest::prelude::{TestCaseError, prop_assert, prop_assert_eq};

/// States beyond which a program is passed over.
const STATES: usize = 3_000;
/// The largest bound that is compared.
const MOST: u32 = 3;

/// With an exact race detector.
fn watched(program: &Program) -> Watched {
    Watched::new(ModelMachine::new(program).reporting_ends())
}

/// Races are not reported, and everything is in what steps touch: so threads sleep also where a
/// race detector would have reported one.
fn unwatched(program: &Program) -> ModelMachine {
    ModelMachine::new(program).reporting_ends()
}

fn search<M: Machine<Failure = Failure>>(
    mut machine: M,
    bound: Bound,
) -> (Findings<Failure>, Outcome) {
    let mut seen = Findings::default();
    let outcome = bounded::explore(&mut machine, bound, Limits::default(), &mut seen);
    (seen, outcome)
}

/// The least that each failure takes of what counts.
fn truth(program: &Program, counted: Counted) -> Option<BTreeMap<Failure, u32>> {
    let least = dijkstra::least(watched(program), counted, STATES)?;
    Some(least.into_iter().map(|(failure, measure)| (failure, measure.preemptions)).collect())
}

fn agree(
    program: &Program,
    truth: &BTreeMap<Failure, u32>,
    bound: Bound,
    (seen, outcome): &(Findings<Failure>, Outcome),
) -> Result<(), TestCaseError> {
    let (Bound::Preemptions(most) | Bound::Switches(most) | Bound::Operations(most)) = bound;
    let within = truth.iter().filter(|&(_, &least)| least <= most).map(|(f, _)| f.clone());
    let within: BTreeSet<_> = within.collect();
    prop_assert_eq!(&seen.failures, &within, "{:?} of {}", bound, program);
    match outcome.stop {
        Stop::Complete => prop_assert_eq!(within.len(), truth.len(), "{}", program),
        stop => prop_assert_eq!(stop, Stop::Bound, "{:?} of {}", bound, program),
    }
    let complete = outcome.stop == Stop::Complete;
    let covered = if complete { Covered::Everything } else { Covered::Within(bound) };
    prop_assert_eq!(outcome.covered, covered, "{:?} of {}", bound, program);
    for (failure, schedule) in &seen.schedules {
        prop_assert!(leads_to(program, schedule, failure), "{:?} of {}", failure, program);
    }
    Ok(())
}

fn compare(program: &Program) -> Result<(), TestCaseError> {
    for counted in [Counted::Preemptions, Counted::Switches] {
        let bound = |most| match counted {
            Counted::Preemptions | Counted::Overtaken => Bound::Preemptions(most),
            Counted::Switches => Bound::Switches(most),
        };
        let Some(mut truth) = truth(program, counted) else { return Ok(()) };
        for most in 0..=MOST {
            agree(program, &truth, bound(most), &search(watched(program), bound(most)))?;
        }
        truth.retain(|failure, _| !ModelMachine::is_race(failure));
        for most in 0..=MOST {
            agree(program, &truth, bound(most), &search(unwatched(program), bound(most)))?;
        }
    }
    Ok(())
}

oracle! {
    150, 20_000;
    random_programs_of_two_threads: 20, generate::single_statements(2, 9);
    patterns_of_two_threads: 21, generate::patterns(2, 10);
    programs_of_three_threads: 22, generate::program(3, 6);
    programs_of_four_threads: 23, generate::program(4, 4);
    programs_over_the_lock_family: 24, generate::locks::program();
    programs_that_meet_at_barriers: 25, generate::parts::meetings();
    programs_that_exchange_values: 26, generate::exchanges::program();
}

/// Whether every bound finds what it takes, in this program.
fn is_right(text: &str) -> bool {
    compare(&parse(text)).is_ok()
}

faults! {
    who_ran_last_is_told_apart: LastForgotten, "atomic f g;
        thread A { g = 1; r = f; assert r == 0 } thread B { f = 1; f = 0 }";
    a_cheaper_way_to_a_state_is_gone_on_with: CostForgotten, "atomic f g h k;
        thread A { g = 1; r = f; h = r; q = k; assert q == 0 }
        thread B { f = 1; s = h; if s == 1 { k = 1 } }";
    what_conflicts_wakes_a_preempted_thread: NeverWoken, "atomic f; thread A { f = 1; r = f } thread B { f = 2 }";
    who_comes_to_wait_wakes_who_would_end_that: WaitersForgotten, "mutex a b; atomic x;
        thread A { lock b; lock a; x = 0; unlock a; unlock b; r = x; assert r != 1 }
        thread B { lock a; x = 1; unlock a; lock b; x = 2; unlock b }";
    what_was_written_before_is_told_apart: WritesForgotten, "atomic f g;
        thread A { g = 1; r = f; assert r != 6 } thread B { f += 1 } thread C { f = 5 }";
}

#[test]
fn many_threads_that_have_nothing_to_do_with_each_other_take_few_executions() {
    // Every order of four threads that end would be 24.
    let text = "atomic a b c d; thread A { a = 1 } thread B { b = 1 } thread C { c = 1 } thread D { d = 1 }";
    let (_, outcome) = search(watched(&parse(text)), Bound::Preemptions(0));
    assert_eq!((outcome.stop, outcome.counts.executions), (Stop::Complete, 1));
}

/// Two threads write a variable that no footprint reports; then a third reads it.
#[derive(Default)]
struct Hidden {
    written: u32,
    ended: [bool; 3],
}

/// What shows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Shown {
    Race,
    Read(u32),
}

impl Machine for Hidden {
    type Failure = Shown;

    fn is_race(failure: &Shown) -> bool {
        *failure == Shown::Race
    }

    fn restore_root(&mut self) {
        *self = Self::default();
    }

    fn threads(&self) -> u32 {
        3
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        match thread.0 {
            number if self.ended[number as usize] => Status::Ended,
            2 if !(self.ended[0] && self.ended[1]) => Status::Blocked { on: ObjectId(0) },
            _ => Status::Enabled,
        }
    }

    fn pending(&mut self, _: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
    }

    fn step(&mut self, thread: ThreadId, _: &mut dyn Chooser, step: &mut Step<Shown>) {
        step.clear();
        step.footprint.touch(ObjectId(thread.0.into()), Access::Write);
        if thread.0 == 2 {
            step.failures.push(Shown::Read(self.written));
        } else if self.written == 0 {
            self.written = thread.0 + 1;
        } else {
            self.written = thread.0 + 1;
            step.failures.push(Shown::Race);
        }
        self.ended[thread.index()] = true;
    }

    fn finish(&mut self, _: &mut Vec<Shown>) {}
}

#[test]
fn after_a_race_every_way_counts() {
    let mut seen = Findings::default();
    let bound = Bound::Preemptions(1);
    let outcome = bounded::explore(&mut Hidden::default(), bound, Limits::default(), &mut seen);
    assert_eq!(outcome.stop, Stop::Complete);
    let all = BTreeSet::from([Shown::Race, Shown::Read(1), Shown::Read(2)]);
    assert_eq!(seen.failures, all);
}
