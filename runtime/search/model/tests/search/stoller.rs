//! The numbers of Stoller's papers, reproduced, and what goes wrong where they claim nothing.

use crate::check;

use std::collections::BTreeSet;

use check::texts::philosophers;
use check::{all_states, by_stoller, parse};
use lockred_model::state::Phase;
use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::stoller::{
    Checking, Class, Classes, Condition, Granularity, Memory, Persistent, Settings, Sleep, Stoller,
    Witness,
};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Chooser, Machine, Step, ThreadId};
use lockred_search::{Covered, Findings, Limits, Outcome, Stop};

/// No persistent sets, unconditional sleep sets, nothing checked, as in the paper's examples.
const IF_SSS: Settings = Settings { granularity: Granularity::InvisibleFirst, ..Settings::SSS };
const COMPOSED: Settings = Settings { granularity: Granularity::Composed, ..Settings::SSS };

/// Section 3.3.
const EXAMPLE: &str = "plain x y z; mutex l1 l2;
    thread One { lock l1; x += 1; unlock l1; lock l2; y += 1; unlock l2 }
    thread Two { lock l2; y += 1; lock l1; r = x; q = y; unlock l1; unlock l2 }";

/// The states and edges of the example, by control points as the paper names them.
#[derive(Default)]
struct Figure {
    states: BTreeSet<String>,
    edges: BTreeSet<(String, u32)>,
}

/// The control points of both threads: letters.
fn letters(machine: &ModelMachine) -> String {
    let letter = |thread: usize, letters: &str| {
        let state = &machine.state().threads[thread];
        letters.chars().nth(state.place).map(|letter| letter.to_string()).unwrap_or_default()
    };
    // Reading x and y is one transition, and so are both releases.
    letter(0, "abcdefg") + &letter(1, "abcd?e?f")
}

impl Witness<ModelMachine> for Figure {
    fn on_transition(&mut self, machine: &ModelMachine, thread: ThreadId) {
        // In the middle of a merged transition nothing begins.
        let state = letters(machine);
        if !state.contains('?') {
            self.edges.insert((state, thread.0));
        }
    }

    fn on_state(&mut self, machine: &ModelMachine) {
        self.states.insert(letters(machine));
    }
}

fn example() -> (Program, Classes) {
    let program = parse(EXAMPLE);
    let mut classes = ModelMachine::new(&program).classes();
    classes.set(ObjectId(2), Class::Unshared).merge(ThreadId(1), 3).merge(ThreadId(1), 5);
    (program, classes)
}

fn figure(settings: Settings) -> Figure {
    let (program, classes) = example();
    let mut figure = Figure::default();
    let mut machine = ModelMachine::new(&program).reporting_ends();
    let mut found = Findings::default();
    let mut stoller = Stoller::new(classes, settings);
    let outcome = stoller.explore_seen(&mut machine, Limits::default(), &mut found, &mut figure);
    assert_eq!((outcome.stop, outcome.covered), (Stop::Complete, Covered::Everything));
    assert_eq!(found.failures, all_states(&program).0.failures);
    assert!(stoller.violations().is_empty(), "{:?}", stoller.violations());
    figure
}

#[test]
fn all_states_of_figure_1() {
    // All pairs of control points but those where both threads would own a lock.
    let (one, two) = ("abcdefg", "abcdef");
    let pairs = one.chars().flat_map(|a| two.chars().map(move |b| (a, b)));
    let owns = |a, letters: &str| letters.contains(a);
    let possible = pairs.filter(|&(a, b)| {
        let first = owns(a, "bc") && owns(b, "de");
        let second = owns(a, "ef") && owns(b, "bcde");
        !first && !second
    });
    let possible: BTreeSet<String> = possible.map(|(a, b)| format!("{a}{b}")).collect();
    assert_eq!(possible.len(), 30);
    let all = figure(Settings { sleep: Sleep::Off, ..Settings::SSS });
    assert_eq!(all.states, possible);
    // Sleep sets leave out edges, not states: the one from ab to bb, and five more.
    let slept = figure(Settings::SSS);
    assert_eq!(slept.states, possible);
    let dotted: Vec<_> = all.edges.difference(&slept.edges).cloned().collect();
    let dotted: Vec<String> = dotted.iter().map(|(state, t)| format!("{state}{t}")).collect();
    assert_eq!(dotted.join(" "), "ab0 ac0 bb0 bc0 cb0 cc0");
}

#[test]
fn invisible_first_search_skips_two_states() {
    let all = figure(Settings::SSS).states;
    let skipped = |settings| {
        let explored = figure(settings).states;
        all.difference(&explored).cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(skipped(Settings { sleep: Sleep::Off, ..IF_SSS }), "bb cb");
    // With sleep sets also those that only the dotted edge from ac leads to then. (The paper names
    // the first two only.)
    assert_eq!(skipped(IF_SSS), "bb bc cb cc");
}

#[test]
fn the_composed_system_has_nine_states() {
    for sleep in [Sleep::Off, Sleep::Unconditional, Sleep::Conditional] {
        let explored = figure(Settings { sleep, ..COMPOSED }).states;
        let visible = ["aa", "ac", "af", "da", "dc", "df", "ga", "gc", "gf"];
        assert_eq!(explored.iter().map(String::as_str).collect::<Vec<_>>(), visible);
    }
}

#[test]
fn the_example_keeps_both_disciplines() {
    let (program, classes) = example();
    for checking in [Checking::Ld, Checking::LdPrime] {
        for settings in [Settings::SSS, Settings::IF_SSS, Settings::COMPOSED] {
            let settings = Settings { checking, ..settings };
            let (_, _, stoller) = by_stoller(&program, &classes, settings, Limits::default());
            assert!(stoller.violations().is_empty(), "{:?}", stoller.violations());
        }
    }
}

/// Section 7.
const SEMAPHORE: &str = "plain v; atomic sem; mutex o; thread One { release sem += 1; v = 1 }
    thread Two { down sem; lock o; v = 2; unlock o }";

const V: ObjectId = ObjectId(0);

/// Whether a violation of the discipline is found, and what was covered.
fn finds_violation(
    text: &str,
    classes: impl Fn(&mut Classes),
    settings: Settings,
) -> (bool, Covered) {
    let program = parse(text);
    let mut known = ModelMachine::new(&program).classes();
    classes(&mut known);
    let (_, outcome, stoller) = by_stoller(&program, &known, settings, Limits::default());
    let is_discipline = |condition| condition == Condition::Discipline;
    assert!(stoller.violations().iter().all(|violation| is_discipline(violation.condition)));
    assert_eq!(outcome.stop, Stop::Complete);
    (!stoller.violations().is_empty(), outcome.covered)
}

#[test]
fn reduced_search_misses_a_violation_of_ld_but_not_of_ld_prime() {
    let found = |settings| finds_violation(SEMAPHORE, |_| {}, settings).0;
    let ld = |settings| Settings { checking: Checking::Ld, ..settings };
    assert!(found(ld(Settings::SSS)), "LD is violated");
    assert!(!found(ld(Settings::IF_SSS)));
    assert!(!found(ld(Settings::COMPOSED)));
    assert!(found(Settings::IF_SSS));
    assert!(found(Settings::COMPOSED));
    // So no reduced search that checks LD claims anything.
    assert_eq!(finds_violation(SEMAPHORE, |_| {}, ld(Settings::IF_SSS)).1, Covered::Some);
}

#[test]
fn the_spin_version_initializes_first() {
    let text =
        "plain v; atomic sem; mutex o; thread One { i = any 1; v = 0; release sem += 1; v = 1 }
        thread Two { down sem; lock o; v = 2; unlock o }";
    let by_one = |classes: &mut Classes| {
        classes.initialized_by(V, ThreadId(0));
    };
    let ld = |settings| Settings { checking: Checking::Ld, ..settings };
    assert!(finds_violation(text, by_one, ld(Settings::SSS)).0);
    assert!(!finds_violation(text, by_one, ld(Settings::IF_SSS)).0);
    assert!(finds_violation(text, by_one, Settings::IF_SSS).0);
}

#[test]
fn an_initialization_that_is_not_ordered_is_missed() {
    // Against theorem 8: see `lockset`.
    let by_one = |classes: &mut Classes| {
        classes.initialized_by(V, ThreadId(0));
    };
    let checked = Settings { checking: Checking::LdPrime, ..Settings::SSS };
    assert!(finds_violation(SEMAPHORE, by_one, checked).0, "LD′ is violated");
    assert_eq!(finds_violation(SEMAPHORE, by_one, Settings::IF_SSS), (false, Covered::Some));
    assert_eq!(finds_violation(SEMAPHORE, by_one, Settings::COMPOSED), (false, Covered::Some));
}

#[test]
fn what_violates_the_discipline_is_missed_if_that_is_not_checked() {
    // The value 2 at the end takes v = 1 to come last but one.
    let program = parse(SEMAPHORE);
    let classes = ModelMachine::new(&program).classes();
    let truth = all_states(&program).0.failures;
    assert_eq!(truth.len(), 2);
    for settings in [IF_SSS, COMPOSED] {
        let (seen, ..) = by_stoller(&program, &classes, settings, Limits::default());
        assert_eq!(seen.failures.len(), 1, "{settings:?}");
    }
}

/// Never chooses.
struct First;

impl Chooser for First {
    fn choose(&mut self, _: u32) -> u32 {
        0
    }
}

#[test]
fn three_philosophers() {
    let program = parse(&philosophers(3, false, ""));
    let mut machine = ModelMachine::new(&program);
    let stoller = Stoller::new(machine.classes(), Settings::IF_SSS);
    let of =
        |machine: &mut ModelMachine, start| stoller.persistent_threads(machine, ThreadId(start));
    let all = [0, 1, 2].map(ThreadId);
    assert_eq!(of(&mut machine, 0), all);
    // The first has its left fork.
    machine.step(ThreadId(0), &mut First, &mut Step::default());
    assert_eq!(of(&mut machine, 0), all[..2]);
    assert_eq!(of(&mut machine, 1), all[..2]);
    assert_eq!(of(&mut machine, 2), all[..], "the traced state begins with the first");
}

fn executions(text: &str, settings: Settings) -> u64 {
    let program = parse(text);
    let classes = ModelMachine::new(&program).classes();
    let (seen, outcome, _) = by_stoller(&program, &classes, settings, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    assert_eq!(seen.failures, all_states(&program).0.failures, "{text}");
    outcome.counts.executions
}

#[test]
fn two_readers_are_explored_once_in_the_composed_system() {
    // Section 5.3.
    let reader = "lock a; r = v; unlock a";
    let text = format!("plain v; mutex a; thread A {{ {reader} }} thread B {{ {reader} }}");
    assert_eq!(executions(&text, COMPOSED), 1);
    assert_eq!(executions(&text, IF_SSS), 2);
    let three = format!("{text} thread C {{ {reader} }}");
    assert_eq!([COMPOSED, IF_SSS].map(|settings| executions(&three, settings)), [1, 6]);
}

#[test]
fn guards_of_composed_transitions_are_what_is_executed() {
    // Section 5.3, statement (4): θ reads x2 only if x1, so who writes x2 does not interfere with
    // it.
    let text = "plain x1 x2 x3 y; mutex a b; thread A { lock a; r = x1; if r == 1 { r = x2 } else { r = x3 } unlock a }
        thread B { lock b; y = 1; unlock b }";
    assert_eq!(executions(text, COMPOSED), 1);
}

#[test]
fn dependency_of_semaphores_and_queues() {
    let conditional = Settings { sleep: Sleep::Conditional, ..Settings::SSS };
    let both = |text| [Settings::SSS, conditional].map(|settings| executions(text, settings));
    let up_down =
        "atomic s = 2; thread A { release s += 1 } thread B { down s } thread C { down s }";
    assert_eq!(both(up_down), [6, 1]);
    assert_eq!(both("atomic s = 1; thread A { down s } thread B { down s }"), [2, 2]);
    assert_eq!(both("atomic s; thread A { release s += 1 } thread B { release s += 2 }"), [1, 1]);
    // A queue that is never empty or full when both could be done.
    let queue = "channel q = 3; thread A { send q 1; send q 2; send q 3 } thread B { r = recv q }";
    assert_eq!(both(queue), [3, 1]);
    // One that somebody may close has no dependency of its own.
    let closed = format!("{queue} thread C {{ await f == 1; close q }}");
    let closed = format!("atomic f; {closed}");
    let [unconditional, conditional] = both(&closed);
    assert_eq!(unconditional, conditional);
}

#[test]
fn persistent_sets_of_semaphores_and_queues() {
    let alone = |text: &str, start| {
        let mut machine = ModelMachine::new(&parse(text));
        let stoller = Stoller::new(machine.classes(), Settings::IF_SSS);
        stoller.persistent_threads(&mut machine, ThreadId(start)).len() == 1
    };
    let two = "thread A { release s += 1 } thread B { down s }";
    assert!(alone(&format!("atomic s = 1; {two}"), 1), "an up does not interfere with a down");
    assert!(!alone(&format!("atomic s; {two}"), 1), "unless it waits");
    assert!(alone(&format!("atomic s; {two}"), 0));
    assert!(!alone("atomic s = 2; thread A { down s } thread B { down s }", 0));
    let two = "thread A { send q 1 } thread B { r = recv q }";
    assert!(alone(&format!("channel q; {two}"), 0));
    assert!(!alone(&format!("channel q; {two}"), 1));
}

fn in_limits(text: &str, settings: Settings, limits: Limits) -> (BTreeSet<Failure>, Outcome) {
    let program = parse(text);
    let classes = ModelMachine::new(&program).classes();
    let mut machine = ModelMachine::new(&program);
    let mut found = Findings::default();
    let outcome = Stoller::new(classes, settings).explore(&mut machine, limits, &mut found);
    (found.failures, outcome)
}

#[test]
fn deepening_does_not_get_stuck_in_a_cycle() {
    let text = "atomic f g; thread A { while r == 0 { r = f } } thread B { q = g; assert q == 1 }";
    let limits = Limits { executions: Some(50), operations: 20 };
    for granularity in [Granularity::Single, Granularity::InvisibleFirst] {
        let persistent = Persistent::Algorithm2;
        let settings = Settings { granularity, persistent, ..Settings::SSS };
        let (found, outcome) = in_limits(text, settings, limits);
        assert_eq!((found.len(), outcome.covered), (0, Covered::Some), "put off for ever");
        let deepening = Settings { memory: Memory::Deepening, ..settings };
        let (found, outcome) = in_limits(text, deepening, limits);
        assert_eq!((found.len(), outcome.covered), (1, Covered::Some));
        let stateful = Settings { memory: Memory::Stateful, ..settings };
        let (found, outcome) = in_limits(text, stateful, Limits::default());
        assert_eq!((found.len(), outcome.covered), (1, Covered::Everything));
    }
}

#[test]
fn deepening_ends_where_there_is_no_cycle() {
    let text = "atomic f; thread A { f = 1; r = f } thread B { f = 2 }";
    let deepening = Settings { memory: Memory::Deepening, ..Settings::SSS };
    let (_, outcome) = in_limits(text, deepening, Limits::default());
    assert_eq!((outcome.stop, outcome.covered), (Stop::Complete, Covered::Everything));
}

#[test]
fn a_violation_comes_with_a_schedule() {
    let program = parse(SEMAPHORE);
    let classes = ModelMachine::new(&program).classes();
    let (_, _, stoller) = by_stoller(&program, &classes, Settings::IF_SSS, Limits::default());
    let [violation] = stoller.violations() else { panic!("{:?}", stoller.violations()) };
    assert_eq!((violation.thread, violation.place, violation.object), (ThreadId(0), 1, Some(V)));
    assert_eq!(violation.schedule.len(), 2);
}

#[test]
fn a_waiting_thread_is_at_a_visible_control_point() {
    let text = "plain x; mutex a; condvar c; thread A { lock a; wait c a; x = 1; unlock a }
        thread B { lock a; x = 2; notify_all c; unlock a }";
    let mut machine = ModelMachine::new(&parse(text));
    for thread in [0, 0] {
        machine.step(ThreadId(thread), &mut First, &mut Step::default());
    }
    assert!(matches!(machine.state().threads[0].phase, Phase::Waiting(..)));
    assert_eq!(executions(text, COMPOSED), executions(text, IF_SSS));
}
