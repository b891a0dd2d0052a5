//! The searches over states on native code: they end where states recur, find what the others find,
//! and go back to states as they were.
//!
//! The one without partial orders knows no happens-before: where it cannot exclude data races it
//! says so (`data-races`), and a program that has one must be reported so. The unified one gives
//! the verdicts of the default.

use lockred_model::{Failure, ModelMachine, Program};
use lockred_protocol::codes::{AssumptionKind, BugKind, Verdict};
use lockred_search::discipline::Discipline;
use lockred_search::{Findings, Limits, Stop, stateful, transactions};
use lockred_tests::compare::{differences, table};
use lockred_tests::directive::Expectation;
use lockred_tests::emit::{Locks, Threads};
use lockred_tests::outcome::TestFinished;
use lockred_tests::{emit, fixture, generate, program, tool};
use std::path::{Path, PathBuf};

/// Random programs in one run: such that end, and such that do not.
const PROGRAMS: [usize; 2] = [100, 40];
/// Where native searches of random programs stop.
const NATIVE_EXECUTIONS: &str = "400";
/// Modules of the corpus that every run looks at; LOCKRED_DEEP=1: all.
const SLICE: &[&str] = &[
    "atomics::",
    "births::",
    "channels::",
    "condvar::",
    "flag_locks::",
    "lockfree::",
    "mutex::",
    "once::",
    "parking::",
    "queue_locks::",
    "races::",
    "refcounts::",
    "rwlock::",
    "sizes::",
    "spinning::",
    "waiting_loops::",
];
/// The most executions of a random program in the model.
const EXECUTIONS: u64 = 2000;

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn check(directory: &Path, arguments: &[&str]) -> Vec<TestFinished> {
    check_by("states", directory, arguments)
}

fn check_by(search: &str, directory: &Path, arguments: &[&str]) -> Vec<TestFinished> {
    let common = ["check", "--message-format", "json", "--search", search];
    let output = tool::finish(&mut tool::lockred(directory, [&common, arguments].concat()));
    let tests = output.tests();
    assert!(!tests.is_empty(), "{output}");
    tests
}

fn found(test: &TestFinished, kinds: &[BugKind]) -> bool {
    test.bugs.iter().any(|bug| kinds.contains(&bug.kind))
}

fn rests_on(test: &TestFinished, kind: AssumptionKind) -> bool {
    test.assumptions.iter().any(|assumption| assumption.code == kind.code())
}

/// What is wrong with the verdict on a program of the corpus.
fn wrong(expected: &Expectation, test: &TestFinished) -> Option<&'static str> {
    let clean = matches!(test.verdict, Verdict::Verified | Verdict::Passed);
    match expected {
        _ if test.error => Some("an error of lockred"),
        Expectation::Verified
        | Expectation::Clean
        | Expectation::Passed(_)
        | Expectation::Warned(_) => (!clean).then_some("a bug of a program that has none"),
        Expectation::Unsupported(_) => None,
        Expectation::Failed(kinds) if kinds.contains(&BugKind::DataRace) => {
            (test.verdict == Verdict::Verified).then_some("a data race is excluded that there is")
        }
        Expectation::Failed(kinds) => {
            let cut = test.verdict == Verdict::Passed && !test.complete;
            (!found(test, kinds) && !cut).then_some("the bug is not found")
        }
        Expectation::FailedOrPassed(kinds, kind) => (!found(test, kinds) && !rests_on(test, *kind))
            .then_some("neither the bug nor the assumption"),
    }
}

/// The programs of the corpus that are checked, and the modules that they are in; none: all.
fn corpus() -> (Vec<program::Program>, &'static [&'static str]) {
    let programs = program::load(&program::corpus()).unwrap_or_else(|e| panic!("{}", e.join("\n")));
    let deep = std::env::var_os("LOCKRED_DEEP").is_some();
    let is_there = |program: &program::Program| {
        deep || SLICE.iter().any(|module| program.name.contains(module))
    };
    (programs.into_iter().filter(is_there).collect(), if deep { &[] } else { SLICE })
}

/// Programs of which the unified search comes to something else, rightly: it finds more than one
/// bug of them, or there are more threads than it can tell apart.
const OTHERWISE: &[&str] =
    &["flag_locks::dekker_enters_twice_with_its_flag_down", "robust::sixty_four_threads"];

#[test]
fn the_unified_search_gives_the_verdicts_of_the_default() {
    let (programs, modules) = corpus();
    let target = temporary("states-corpus");
    let options = ["--locked", "--keep-going", "--no-lock-order", "--max-seconds", "20"];
    let target = ["--target-dir", target.to_str().unwrap()];
    let tests = check_by("unified", &program::corpus(), &[&options[..], &target, modules].concat());
    assert_eq!(tests.len(), programs.len());
    let is_compared = |name: &str| !OTHERWISE.contains(&name);
    // States are counted otherwise than executions.
    let uncounted = |program| program::Program { executions: None, ..program };
    let programs = programs.into_iter().filter(|p| is_compared(&p.name)).map(uncounted);
    let programs: Vec<_> = programs.collect();
    let tests: Vec<_> = tests.iter().filter(|test| is_compared(&test.name)).collect();
    let differences = differences(&programs, &tests);
    assert!(differences.is_empty(), "(name, expected, got):\n{}", table(&differences));
}

#[test]
fn the_corpus_is_judged_by_states() {
    let (programs, modules) = corpus();
    let target = temporary("states-corpus");
    let target = target.to_str().unwrap();
    let deep = std::env::var_os("LOCKRED_DEEP").is_some();
    // Some algorithms of three threads have more executions than a slice gets.
    let most = if deep { "20000" } else { "1000" };
    let options = ["--locked", "--keep-going", "--max-executions", most, "--target-dir", target];
    let tests = check(&program::corpus(), &[&options, modules].concat());
    assert_eq!(tests.len(), programs.len());
    let mut complete = 0;
    let mut all_wrong = Vec::new();
    for program in &programs {
        let test = tests.iter().find(|test| test.name == program.name).unwrap();
        complete += usize::from(test.complete);
        // Addresses come back in this search, as they do with `--reuse`.
        let program = program.with("--reuse").unwrap_or_else(|| program.clone());
        if let Some(what) = wrong(&program.expectation, test) {
            all_wrong.push(format!("{}: {what}\n{test:?}", test.name));
        }
    }
    println!("{complete} of {} searches are complete", tests.len());
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
    assert!(50 * complete >= 49 * tests.len(), "{complete} of {} end", tests.len());
}

#[test]
fn what_recurs_or_converges_is_verified() {
    let directory = fixture::copy("cycles", &temporary("states"), "cycles");
    let tests = check(&directory, &["--keep-going", "--verify-restores"]);
    let test = |name: &str| tests.iter().find(|test| test.name == name).unwrap();
    for name in ["every_request_is_answered", "flags_take_turns"] {
        let test = test(&format!("endless::{name}"));
        // These tests never end.
        assert_eq!((test.verdict, test.executions), (Verdict::Verified, 0), "{test:?}");
    }
    // What is in a box was written before the lock was taken under which the box is handed over.
    let boxes = test("endless::boxes_are_made_and_dropped");
    assert!(boxes.complete && rests_on(boxes, AssumptionKind::DataRaces), "{boxes:?}");
    let wrongly = test("endless::the_third_request_is_answered_wrongly");
    assert!(found(wrongly, &[BugKind::Panic]), "{wrongly:?}");
    let crossed = test("endless::locks_in_both_orders");
    assert!(found(crossed, &[BugKind::Deadlock]), "{crossed:?}");
    // (k + 1)^N states, in each of which N threads could run.
    for (name, threads, rounds) in
        [("rounds_2x2", 2, 2), ("rounds_2x8", 2, 8), ("rounds_3x3", 3, 3), ("rounds_4x2", 4, 2)]
    {
        let test = test(&format!("converging::{name}"));
        let transitions = u64::from(threads) * (rounds + 1_u64).pow(threads);
        assert_eq!((test.verdict, test.executions), (Verdict::Verified, 1), "{test:?}");
        assert!(test.transactions <= transitions, "{transitions} transitions: {test:?}");
    }
}

/// A random program, and what the model machine says of it.
struct Judged {
    program: Program,
    races: bool,
    deadlocks: bool,
}

/// What the model says of a program, unless it needs too many executions.
fn judge(program: Program, endless: bool) -> Option<Judged> {
    let limits = Limits { executions: Some(EXECUTIONS), operations: 400 };
    let mut seen = Findings::<Failure>::default();
    let mut by_states = Discipline::by_locks();
    let mut machine = ModelMachine::new(&program);
    let outcome = stateful::explore(&mut machine, &mut by_states, limits, &mut seen);
    let mut races = !machine.may_race().is_empty();
    if !endless {
        let mut machine = ModelMachine::new(&program);
        let mut discipline = Discipline::default();
        let mut seen = Findings::<Failure>::default();
        let others = transactions::explore(&mut machine, &mut discipline, limits, &mut seen);
        races = seen.failures.iter().any(|failure| matches!(failure, Failure::Race { .. }));
        if others.stop != Stop::Complete {
            return None;
        }
    }
    let deadlocks = seen.failures.iter().any(|f| matches!(f, Failure::Deadlock { .. }));
    (outcome.stop == Stop::Complete).then_some(Judged { program, races, deadlocks })
}

/// What differs between a native result and the model's. Of endless programs some have too many
/// states natively, and where threads go round in vain for ever the native machine sees a livelock.
fn difference(model: &Judged, native: &TestFinished, endless: bool) -> Option<&'static str> {
    if model.races {
        // The model stops at plain accesses that race, the native machine does not: what else there
        // is may differ.
        return (native.verdict == Verdict::Verified).then_some("data races are excluded");
    }
    let expected = |kind| kind == BugKind::Deadlock || endless && kind == BugKind::Livelock;
    let deadlocks = found(native, &[BugKind::Deadlock]);
    match () {
        () if native.bugs.iter().any(|bug| !expected(bug.kind)) => Some("other bugs"),
        () if deadlocks && !model.deadlocks => Some("a deadlock that there is not"),
        () if deadlocks != model.deadlocks && native.complete => Some("a deadlock is missing"),
        () => None,
    }
}

#[test]
fn native_and_model_machine_agree_on_states() {
    let ending = (0..).filter_map(|seed| judge(generate::program(seed), false)).take(PROGRAMS[0]);
    let endless = (0..).filter_map(|seed| judge(generate::endless(seed), true)).take(PROGRAMS[1]);
    let judged: Vec<_> = ending.chain(endless).collect();
    let deadlocking = judged.iter().filter(|one| one.deadlocks && !one.races).count();
    let going_on = judged[PROGRAMS[0]..].iter().filter(|one| !one.deadlocks && !one.races).count();
    println!("{deadlocking} deadlock, {going_on} go on for ever");
    assert!(deadlocking >= 15 && going_on >= 10, "the programs show too little");
    let programs: Vec<_> = judged.iter().map(|one| one.program.clone()).collect();
    let root = temporary("states-oracle");
    emit::write_crate(&root, &programs, Threads::Joined, Locks::Std)
        .unwrap_or_else(|e| panic!("cannot write {}: {e}", root.display()));
    let arguments = ["--keep-going", "--verify-restores", "--max-executions", NATIVE_EXECUTIONS];
    let native = check(&root, &arguments);
    assert_eq!(native.len(), judged.len());
    let (ending, endless) = native.split_at(PROGRAMS[0]);
    let complete = [ending, endless].map(|tests| tests.iter().filter(|test| test.complete).count());
    println!("{complete:?} of {PROGRAMS:?} are searched to the end");
    assert!(complete[0] >= 60 && complete[1] >= 20, "{complete:?} are complete");
    let pairs = judged.iter().zip(&native).enumerate();
    let differing: Vec<_> = pairs
        .filter_map(|(number, (model, native))| {
            let what = difference(model, native, number >= PROGRAMS[0])?;
            let text = emit::test(&native.name, &model.program, Threads::Joined);
            Some(format!("== {what}: {}\n{native:?}\n{text}", model.program))
        })
        .collect();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}
