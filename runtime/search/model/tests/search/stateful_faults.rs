//! Each rule of the stateful search, switched off: the oracle catches it on the counter-example
//! that stands for it (docs/algorithm.md#counter-examples).

use crate::check;

use std::panic::{AssertUnwindSafe, catch_unwind};

use check::{Seen, all_states, by_persistent_sets, by_states, parse};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::discipline::Discipline;
use lockred_search::fault::{self, Fault};
use lockred_search::{Choice, Limits, Observer, Outcome, Stop, stateful};

type Search = fn(&Program, Limits) -> (Seen, Outcome);

/// Whether the oracle objects to what the search sees of the program.
fn objects(search: Search, text: &str) -> bool {
    let program = parse(text);
    let (seen, outcome) = search(&program, Limits::default());
    outcome.stop != Stop::Complete || seen.failures != all_states(&program).0.failures
}

fn is_caught(fault: Fault, search: Search, text: &str) {
    assert!(!objects(search, text), "wrong without any fault: {text}");
    assert!(fault::with(fault, || objects(search, text)), "the fault is not caught: {text}");
}

#[test]
fn alone_again() {
    let text = "plain x; thread A { spawn B; r = x } thread B { x = 1 }";
    is_caught(Fault::AloneAgain, by_states, text);
}

#[test]
fn a_cycle_puts_off_others_for_ever() {
    let text = "atomic f g; thread A { while r == 0 { r = f } } thread B { q = g; assert q == 1 }";
    is_caught(Fault::CyclesUnexpanded, by_persistent_sets, text);
}

#[test]
fn a_lock_that_is_not_given_back() {
    let text = "mutex a; thread A { lock a; unlock a } thread B { lock a }";
    is_caught(Fault::SplitIgnored, by_persistent_sets, text);
}

#[test]
fn an_end_is_awaited_with_a_lock() {
    let text =
        "mutex a; thread B { lock a; unlock a } thread A { spawn B; lock a; join B; unlock a }";
    is_caught(Fault::LateJoinsIgnored, by_persistent_sets, text);
}

/// Panics when a schedule is longer than any that the search could need here.
struct Patience;

impl Observer<Failure> for Patience {
    fn on_choice(&mut self, depth: usize, _: Choice) {
        assert!(depth < 100_000, "a transaction does not end");
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

#[test]
fn post_commit_loop() {
    let program = parse(
        "plain x; mutex a; thread A { lock a; unlock a; while r == 0 { r = x } }
        thread B { lock a; q = x; unlock a }",
    );
    let ends = || {
        let mut machine = ModelMachine::new(&program);
        let mut discipline = Discipline::by_locks();
        let search = AssertUnwindSafe(|| {
            stateful::explore(&mut machine, &mut discipline, Limits::default(), &mut Patience)
        });
        catch_unwind(search).is_ok_and(|outcome| outcome.stop == Stop::Complete)
    };
    assert!(ends(), "wrong without any fault");
    assert!(!fault::with(Fault::NoCut, ends), "the fault is not caught");
}
