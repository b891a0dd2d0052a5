//! What searches report to their observer, and how they stop: limits, failures, interruptions,
//! nondeterminism, replay.

use crate::check;

use check::{Seen, parse, search};
use lockred_model::{Failure, ModelMachine};
use lockred_search::discipline::Discipline;
use lockred_search::footprint::{Access, Footprint, ObjectId};
use lockred_search::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use lockred_search::{
    Choice, Counts, Limits, Observer, Outcome, Stop, Strategy, dpor, explore, naive, random,
    replay, transactions,
};

const RACE: &str = "plain x; thread A { r = x; x = r + 1 } thread B { r = x; x = r + 1 }
    thread C { r = x; assert r != 2 }";

const STRATEGIES: [Strategy; 3] = [Strategy::Dpor, Strategy::Naive, Strategy::Random { seed: 7 }];

/// Follows the announced choices, and stops where it is told to.
#[derive(Default)]
struct Watch {
    schedule_log: Vec<Choice>,
    failures: Vec<Failure>,
    stop_at_failure: bool,
    steps_left: Option<u64>,
}

impl Observer<Failure> for Watch {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        assert!(depth <= self.schedule_log.len(), "a choice was not announced");
        self.schedule_log.truncate(depth);
        self.schedule_log.push(choice);
    }

    fn on_step(&mut self, _: &Counts) -> bool {
        if let Some(left) = &mut self.steps_left {
            *left -= 1;
        }
        self.steps_left != Some(0)
    }

    fn on_failure(&mut self, failure: Failure, schedule: &[Choice]) -> bool {
        assert_eq!(self.schedule_log, schedule, "the schedule log is the schedule");
        self.failures.push(failure);
        !self.stop_at_failure
    }
}

fn watch(text: &str, strategy: Strategy, limits: Limits, mut watch: Watch) -> (Watch, Outcome) {
    let mut machine = ModelMachine::new(&parse(text));
    let outcome = explore(&mut machine, strategy, limits, &mut watch);
    (watch, outcome)
}

#[test]
fn a_search_stops_at_the_first_failure_if_the_observer_says_so() {
    for strategy in STRATEGIES {
        let policy = Watch { stop_at_failure: true, ..Watch::default() };
        let (seen, outcome) = watch(RACE, strategy, Limits::default(), policy);
        assert_eq!(outcome.stop, Stop::Failure, "{strategy:?}");
        assert_eq!(seen.failures.len(), 1);
    }
}

#[test]
fn a_search_stops_when_the_observer_wants_it() {
    for strategy in STRATEGIES {
        let policy = Watch { steps_left: Some(17), ..Watch::default() };
        let (_, outcome) = watch(RACE, strategy, Limits::default(), policy);
        assert_eq!((outcome.stop, outcome.counts.operations), (Stop::Interrupted, 17));
    }
}

#[test]
fn executions_are_limited() {
    for strategy in STRATEGIES {
        let limits = Limits { executions: Some(3), ..Limits::default() };
        let (_, outcome) = watch(RACE, strategy, limits, Watch::default());
        assert_eq!(outcome.stop, Stop::Executions);
        assert_eq!(outcome.counts.executions + outcome.counts.blocked, 3);
    }
}

#[test]
fn a_search_that_needs_just_the_limit_is_complete() {
    let text = "atomic f; thread A { f = 1 } thread B { f = 2 }";
    for strategy in [Strategy::Dpor, Strategy::Naive] {
        let limits = Limits { executions: Some(2), ..Limits::default() };
        assert_eq!(watch(text, strategy, limits, Watch::default()).1.stop, Stop::Complete);
    }
}

#[test]
fn long_executions_are_cut_and_the_search_is_not_complete() {
    for strategy in [Strategy::Dpor, Strategy::Naive] {
        let limits = Limits { executions: None, operations: 3 };
        let (_, outcome) = watch(RACE, strategy, limits, Watch::default());
        assert_eq!(outcome.stop, Stop::Operations);
    }
}

#[test]
fn after_an_execution_that_was_cut_the_others_have_their_turn() {
    let text =
        "atomic f g; thread A { while r == 0 { f = 1; r = g } } thread B { g = 1; assert r == 1 }";
    let program = parse(text);
    let limits = Limits { executions: Some(100), operations: 50 };
    let (mut seen, mut discipline) = (Seen::default(), Discipline::default());
    let mut machine = ModelMachine::new(&program);
    let outcome = transactions::explore(&mut machine, &mut discipline, limits, &mut seen);
    assert_eq!(outcome.stop, Stop::Operations);
    assert!(!seen.failures.is_empty(), "only A has run");
}

#[test]
fn the_schedule_log_survives_choices_of_values() {
    let text = "mutex a; condvar c; plain x; thread A { lock a; wait c a; unlock a }
        thread B { lock a; wait c a; unlock a } thread C { notify_one c; x = 1; assert r == 1 }";
    for strategy in [Strategy::Dpor, Strategy::Naive] {
        let (seen, outcome) = watch(text, strategy, Limits::default(), Watch::default());
        assert_eq!(outcome.stop, Stop::Complete);
        assert!(!seen.failures.is_empty());
    }
}

#[test]
fn random_walks_find_what_is_there_and_depend_on_the_seed_only() {
    let limits = Limits { executions: Some(200), ..Limits::default() };
    let program = parse(RACE);
    let walk = |seed| search(&program, Strategy::Random { seed }, limits).0;
    let (complete, _) = search(&program, Strategy::Dpor, Limits::default());
    assert_eq!(walk(1).failures, complete.failures);
    assert_eq!(walk(5).schedules, walk(5).schedules);
    assert_ne!(walk(5).schedules, walk(6).schedules);
}

#[test]
fn a_replay_follows_the_schedule_and_goes_on_after_it() {
    let program = parse(RACE);
    let (seen, _) = search(&program, Strategy::Dpor, Limits::default());
    for (failure, schedule) in &seen.schedules {
        let mut machine = ModelMachine::new(&program).reporting_ends();
        let mut again = Seen::default();
        let replayed = replay(&mut machine, schedule, Limits::default(), &mut again);
        assert_eq!(replayed.outcome.stop, Stop::Complete);
        assert_eq!(replayed.drift, None);
        assert!(replayed.executed.starts_with(schedule));
        assert!(again.failures.contains(failure));
    }
}

#[test]
fn a_replay_reports_where_it_cannot_follow() {
    let program = parse("mutex a; thread A { lock a; unlock a } thread B { lock a; unlock a }");
    let run = |schedule: &[Choice]| {
        let mut machine = ModelMachine::new(&program);
        let replayed = replay(&mut machine, schedule, Limits::default(), &mut Seen::default());
        assert_eq!(replayed.outcome.stop, Stop::Complete);
        assert_eq!(replayed.executed.len(), 4);
        replayed.drift.map(|(place, _)| place)
    };
    let thread = |number| Choice::Thread(ThreadId(number));
    assert_eq!(run(&[]), None);
    assert_eq!(run(&[thread(1), thread(1), thread(0)]), None);
    assert_eq!(run(&[thread(0), thread(1)]), Some(1));
    assert_eq!(run(&[thread(9)]), Some(0));
    assert_eq!(run(&[thread(0), Choice::Value { picked: 0, of: 2 }]), Some(1));
    let all = [thread(0), thread(0), thread(1), thread(1), thread(0)];
    assert_eq!(run(&all), Some(4));
}

/// Two threads of two runs each; what the first run of thread 1 looks like depends on how often the
/// root was restored.
struct Fickle {
    roots: u64,
    runs: [u32; 2],
    flow: Flow,
}

impl Machine for Fickle {
    type Failure = Failure;

    fn is_race(failure: &Failure) -> bool {
        matches!(failure, Failure::Race { .. })
    }

    fn restore_root(&mut self) {
        self.roots += 1;
        self.runs = [0; 2];
    }

    fn threads(&self) -> u32 {
        2
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        if self.runs[thread.index()] < 2 { Status::Enabled } else { Status::Ended }
    }

    fn pending(&mut self, _: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
    }

    fn step(&mut self, thread: ThreadId, _: &mut dyn Chooser, step: &mut Step<Failure>) {
        step.clear();
        step.footprint.touch(ObjectId(0), Access::Write);
        step.flow = self.flow;
        step.signature = self.roots / 3;
        self.runs[thread.index()] += 1;
    }

    fn finish(&mut self, _: &mut Vec<Failure>) {}
}

/// A search of a machine that knows no transactions.
type Search<M, F> = fn(&mut M, Limits, &mut dyn Observer<F>) -> Outcome;

#[test]
fn runs_that_differ_are_noticed() {
    let searches: [Search<Fickle, Failure>; 2] = [dpor::explore, naive::explore];
    for (number, search) in searches.into_iter().enumerate() {
        let mut machine = Fickle { roots: 0, runs: [0; 2], flow: Flow::On };
        let outcome = search(&mut machine, Limits::default(), &mut Seen::default());
        assert!(matches!(outcome.stop, Stop::Nondeterminism { .. }), "{number} {outcome:?}");
    }
}

#[test]
fn what_a_machine_cannot_model_ends_the_search() {
    let walks: Search<Fickle, Failure> =
        |machine, limits, observer| random::explore(machine, 7, limits, observer);
    for search in [dpor::explore, naive::explore, walks] {
        let mut machine = Fickle { roots: 0, runs: [0; 2], flow: Flow::Unsupported };
        let outcome = search(&mut machine, Limits::default(), &mut Seen::default());
        assert_eq!((outcome.stop, outcome.counts.operations), (Stop::Unsupported, 1));
    }
}

/// Thread 0 gives up waiting, reluctantly, unless thread 1 has run before.
#[derive(Default)]
struct Timeout {
    set: bool,
    left: Option<bool>,
}

impl Machine for Timeout {
    type Failure = bool;

    fn is_race(_: &bool) -> bool {
        false
    }

    fn restore_root(&mut self) {
        *self = Self::default();
    }

    fn threads(&self) -> u32 {
        2
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        match thread.0 {
            0 if self.left.is_some() => Status::Ended,
            0 if !self.set => Status::LowPriority,
            1 if self.set => Status::Ended,
            _ => Status::Enabled,
        }
    }

    fn pending(&mut self, _: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
    }

    fn step(&mut self, thread: ThreadId, _: &mut dyn Chooser, step: &mut Step<bool>) {
        step.clear();
        step.signature = u64::from(thread.0);
        if thread.0 == 1 {
            step.footprint.touch(ObjectId(0), Access::Write);
            self.set = true;
        } else {
            step.footprint.touch(ObjectId(0), Access::Read);
            self.left = Some(self.set);
        }
    }

    fn finish(&mut self, failures: &mut Vec<bool>) {
        failures.extend(self.left);
    }
}

struct Ends(Vec<bool>);

impl Observer<bool> for Ends {
    fn on_failure(&mut self, woken: bool, _: &[Choice]) -> bool {
        self.0.push(woken);
        true
    }
}

#[test]
fn low_priority_threads_run_last_and_where_a_race_demands_it() {
    let searches: [Search<Timeout, bool>; 2] = [dpor::explore, naive::explore];
    for search in searches {
        let mut ends = Ends(Vec::new());
        let outcome = search(&mut Timeout::default(), Limits::default(), &mut ends);
        assert_eq!((outcome.stop, outcome.counts.executions), (Stop::Complete, 2));
        assert_eq!(ends.0, [true, false]);
    }
}
