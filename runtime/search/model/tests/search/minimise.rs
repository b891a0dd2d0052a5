//! Minimal schedules: on random programs what is called minimal is what Dijkstra's algorithm finds
//! over all states, what is not is never worse than what was given, and every schedule fails as the
//! given one did.

use crate::check;
use crate::generate;

use std::collections::BTreeMap;

use check::dijkstra::{self, Counted};
use check::{leads_to, parse};
use lockred_model::{Failure, ModelMachine, Program, Watched};
use lockred_search::machine::ThreadId;
use lockred_search::minimise::{Asker, Effort, Measure, Minimised, Proof, minimise};
use lockred_search::transactions;
use lockred_search::{Choice, Findings, Limits, Strategy};
use proptest::prelude::{TestCaseError, prop_assert, prop_assert_eq};

/// States beyond which a program is passed over.
const STATES: usize = 3_000;
/// Effort that is enough for every program here, and one that is not for many.
const ENOUGH: Effort =
    Effort { steps: 20_000_000, local: 5_000_000, longest: 10_000, overtaken: 0 };
const LITTLE: Effort = Effort { steps: 300, local: 75, longest: 10_000, overtaken: 0 };
/// Without local changes, the proof has everything to find.
const GLOBAL: Effort = Effort { local: 0, ..ENOUGH };

fn machine(program: &Program) -> Watched {
    Watched::new(ModelMachine::new(program))
}

/// Looks for one failure.
struct Wanted<'a> {
    failure: &'a Failure,
    /// Steps until it loses patience.
    left: u64,
}

impl Asker<Failure> for Wanted<'_> {
    fn is_wanted(&mut self, failure: &Failure) -> bool {
        failure == self.failure
    }

    fn on_step(&mut self) -> bool {
        self.left -= 1;
        self.left > 0
    }
}

fn least(
    program: &Program,
    schedule: &[Choice],
    failure: &Failure,
    effort: Effort,
) -> Option<Minimised> {
    let mut wanted = Wanted { failure, left: u64::MAX };
    minimise(&mut machine(program), schedule, effort, &mut wanted)
}

/// The least measure of each failure.
fn truth(program: &Program) -> Option<BTreeMap<Failure, Measure>> {
    dijkstra::least(machine(program), Counted::Overtaken, STATES)
}

/// The failures that a search finds, with its schedules.
fn found(program: &Program) -> Vec<(Failure, Vec<Choice>)> {
    let mut seen = Findings::default();
    let limits = Limits { executions: Some(300), ..Limits::default() };
    let mut machine = ModelMachine::new(program);
    let mut discipline = Default::default();
    let _ = transactions::explore(&mut machine, &mut discipline, limits, &mut seen);
    seen.schedules
}

/// Compares what is minimised with the truth.
fn compare(program: &Program) -> Result<(), TestCaseError> {
    let schedules = found(program);
    if schedules.is_empty() {
        return Ok(());
    }
    let Some(truth) = truth(program) else { return Ok(()) };
    for (failure, schedule) in schedules.iter().take(4) {
        let whole = least(program, schedule, failure, ENOUGH);
        let Some(whole) = whole else {
            prop_assert!(false, "{:?} does not show under {:?} in {}", failure, schedule, program);
            return Ok(());
        };
        prop_assert_eq!(whole.proof, Proof::Measure, "{:?} of {}", failure, program);
        prop_assert_eq!(whole.measure, truth[failure], "{:?} of {}", failure, program);
        prop_assert!(leads_to(program, &whole.schedule, failure), "{:?} of {}", failure, program);
        prop_assert_eq!(&least(program, schedule, failure, ENOUGH), &Some(whole));
        let global = least(program, schedule, failure, GLOBAL).map(|least| least.measure);
        prop_assert_eq!(global, Some(truth[failure]), "{:?} of {}", failure, program);
        let Some(part) = least(program, schedule, failure, LITTLE) else { continue };
        prop_assert!(part.measure <= part.given, "{:?} of {}", failure, program);
        prop_assert!(leads_to(program, &part.schedule, failure), "{:?} of {}", failure, program);
        if part.proof >= Proof::Preemptions {
            prop_assert_eq!(part.measure.preemptions, truth[failure].preemptions, "{}", program);
        }
        if part.proof == Proof::Measure {
            prop_assert_eq!(part.measure, truth[failure], "{:?} of {}", failure, program);
        }
    }
    Ok(())
}

oracle! {
    150, 40_000;
    random_programs_of_two_threads: 0, generate::single_statements(2, 9);
    patterns_of_two_threads: 1, generate::patterns(2, 10);
    programs_of_three_threads: 2, generate::program(3, 6);
    programs_of_four_threads: 3, generate::program(4, 4);
    programs_over_the_lock_family: 4, generate::locks::program();
    programs_that_meet_at_barriers: 5, generate::parts::meetings();
    programs_that_sleep: 6, generate::sleeping(generate::program(2, 7));
}

/// The least measure of the program's one failure, from the schedule that the search finds.
fn of(text: &str) -> Minimised {
    let program = parse(text);
    let schedules = found(&program);
    let [(failure, schedule)] = &schedules[..] else { panic!("{schedules:?}") };
    least(&program, schedule, failure, ENOUGH).expect("it shows again")
}

/// `preemptions`, `threads` and `steps`, all proved.
fn proved(text: &str, preemptions: u32, threads: u32, steps: u64) {
    let found = of(text);
    assert_eq!(found.measure, Measure { overtaken: 0, preemptions, threads, steps });
    assert_eq!(found.proof, Proof::Measure);
}

#[test]
fn a_failure_without_preemptions_needs_none() {
    // The search finds it with C in between.
    proved(
        "atomic f g; thread A { f = 1 } thread B { r = f; assert r == 0 } thread C { g = 1 }",
        0,
        2,
        2,
    );
}

#[test]
fn a_sleep_is_overtaken_only_where_it_has_to_be() {
    let measure = |text| {
        let found = of(text);
        assert_eq!(found.proof, Proof::Measure);
        (found.measure.overtaken, found.measure.preemptions)
    };
    let waits = "atomic f; thread A { sleep 1; r = f; assert r == 1 } thread B { f = 1 }";
    assert_eq!(measure(waits), (1, 0));
    // B's sleep may as well end once A has.
    let fails = "atomic f; thread A { f = 1; r = f; assert r == 1 } thread B { sleep 1; f = 2; f = 1 } thread C { f = 2 }";
    assert_eq!(measure(fails), (0, 1));
}

#[test]
fn crossed_locks_take_one_preemption_and_two_threads() {
    let text = "mutex a b; atomic f;
        thread A { lock a; lock b; unlock b; unlock a } thread B { lock b; lock a; unlock a; unlock b }";
    proved(text, 1, 2, 2);
}

#[test]
fn a_change_and_back_takes_two_preemptions() {
    let text = "atomic f g; thread A { f = 1; r = g; f = 0; g = 0; assert r == 0 }
        thread B { r = f; if r == 1 { g = 1 } r = f; assert r == 0; r = g }";
    let program = parse(text);
    let truth = truth(&program).unwrap();
    for (failure, schedule) in found(&program) {
        let least = least(&program, &schedule, &failure, ENOUGH).unwrap();
        assert_eq!((least.measure, least.proof), (truth[&failure], Proof::Measure));
    }
}

#[test]
fn an_endless_execution_keeps_the_proof_from_what_comes_after_it() {
    // B reads 1 between A's stores only. With no preemption, A goes on for ever, or B comes first.
    let text = "atomic f g; thread A { f = 1; f = 0; repeat 100 { g += 1 } } thread B { r = f; assert r == 0 }";
    let program = parse(text);
    let (failure, schedule) = found(&program).remove(0);
    let of = |longest| {
        let least =
            least(&program, &schedule, &failure, Effort { steps: 100_000, longest, ..ENOUGH });
        let least = least.unwrap();
        (least.measure.preemptions, least.proof)
    };
    assert_eq!(of(1_000), (1, Proof::Measure));
    assert_eq!(of(50), (1, Proof::None));
}

#[test]
fn who_loses_patience_hears_so_and_keeps_what_fails() {
    let program = parse(
        "mutex a b; plain x y; thread A { lock a; lock b; unlock b; unlock a }
        thread B { x = 1; lock b; lock a; unlock a; unlock b } thread C { y = 1; y = 2 }",
    );
    let (failure, schedule) = found(&program).remove(0);
    for left in 10..60 {
        let mut wanted = Wanted { failure: &failure, left };
        let found = minimise(&mut machine(&program), &schedule, ENOUGH, &mut wanted);
        let Some(found) = found else { continue };
        assert!(leads_to(&program, &found.schedule, &failure));
        assert!(found.measure <= found.given);
        assert!(found.interrupted, "with {left}");
        assert_ne!(found.proof, Proof::Measure, "with {left}");
    }
}

#[test]
fn what_does_not_fail_is_not_minimised() {
    let program = parse(
        "mutex a b; thread A { lock a; lock b; unlock b; unlock a }
        thread B { lock b; lock a; unlock a; unlock b }",
    );
    let (failure, _) = found(&program).remove(0);
    let no_schedule: Vec<Choice> = (0..2).map(|_| Choice::Thread(ThreadId(0))).collect();
    assert_eq!(least(&program, &no_schedule, &failure, ENOUGH), None);
}

/// Whether every failure of the program, looked for from whatever schedule shows it, gets its least
/// measure.
fn is_right(text: &str) -> bool {
    let program = parse(text);
    let truth = truth(&program).unwrap();
    // Brute force comes to failures by the first threads first, whatever that costs.
    let (seen, _) = check::search(&program, Strategy::Naive, Limits::default());
    let is_end = |failure: &Failure| matches!(failure, Failure::End(_));
    seen.schedules.into_iter().filter(|(f, _)| !is_end(f)).all(|(failure, schedule)| {
        let least = least(&program, &schedule, &failure, GLOBAL).unwrap();
        (least.measure, least.proof) == (truth[&failure], Proof::Measure)
    })
}

faults! {
    who_ran_last_is_told_apart: LastForgotten, "atomic f g;
        thread A { g = 1; r = f; assert r == 0 } thread B { f = 1; f = 0 }";
    a_cheaper_way_to_a_state_is_gone_on_with: CostForgotten, "atomic f g h k;
        thread A { g = 1; r = f; h = r; q = k; assert q == 0 }
        thread B { f = 1; s = h; if s == 1 { k = 1 } }";
    what_was_written_before_is_told_apart: WritesForgotten, "atomic f g;
        thread A { g = 1; r = f; assert r != 6 } thread B { f += 1 } thread C { f = 5 }";
}
