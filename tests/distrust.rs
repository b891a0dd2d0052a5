//! Programs are checked with the sync models and without: what is found is the same, in fewer
//! executions.
//!
//! Random model programs use std's primitives; programs of the corpus those of the other libraries.
//! Without models some searches do not end within [`EXECUTIONS`]: they may miss what the others
//! find, and must not find more.

use lockred_model::Program;
use lockred_model::program::Statement;
use lockred_protocol::codes::BugKind;
use lockred_tests::emit::{Locks, Threads};
use lockred_tests::outcome::TestFinished;
use lockred_tests::{emit, generate, program, tool};
use std::path::{Path, PathBuf};

/// Random programs in one run.
const PROGRAMS: usize = 50;
/// Searches stop here.
const EXECUTIONS: &str = "3000";
/// Modules of the corpus whose programs use what is recognised.
const MODULES: &[&str] = &[
    "parking_lot::",
    "parking_lot_013::",
    "spin_locks::",
    "spin_locks_012::",
    "once::",
    "crates::",
    "channels::",
];

fn check(directory: &Path, filters: &[&str], arguments: &[&str]) -> Vec<TestFinished> {
    let common = [
        "check",
        "--message-format",
        "json",
        "--max-executions",
        EXECUTIONS,
        "--max-seconds",
        "60",
    ];
    let arguments = [&common, arguments, filters].concat();
    tool::finish(&mut tool::lockred(directory, arguments)).tests()
}

/// The kinds of bugs that were found; after a data race nothing else counts. Threads that wait for
/// each other by going round loops are in a livelock as they are written, and in a deadlock where
/// the loops are recognised.
fn kinds(test: &TestFinished) -> Vec<BugKind> {
    let recognised = |kind| if kind == BugKind::Livelock { BugKind::Deadlock } else { kind };
    let mut kinds: Vec<_> = test.bugs.iter().map(|bug| recognised(bug.kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.contains(&BugKind::DataRace) { vec![BugKind::DataRace] } else { kinds }
}

/// What differs between the two ways to check a program although it must not.
fn difference(with: &TestFinished, without: &TestFinished) -> Option<&'static str> {
    let ended = |test: &TestFinished| test.complete || !test.bugs.is_empty();
    let (found, expected) = (kinds(with), kinds(without));
    if !ended(with) {
        return Some("the search with models does not end");
    }
    if ended(without) && found != expected {
        return Some("what is found differs");
    }
    let both = with.complete && without.complete;
    (both && with.executions > without.executions).then_some("models need more executions")
}

/// Compares the two ways; gives how many searches without models ended.
fn compare(with: &[TestFinished], without: &[TestFinished]) -> usize {
    let mut wrong = Vec::new();
    let mut ended = 0;
    let mut executions = [0, 0];
    assert_eq!(with.len(), without.len());
    for (with, without) in with.iter().zip(without) {
        assert_eq!(with.name, without.name);
        if let Some(what) = difference(with, without) {
            wrong.push(format!("{}: {what}\n{with:?}\n{without:?}", with.name));
        }
        ended += usize::from(without.complete || !without.bugs.is_empty());
        executions[0] += with.executions;
        executions[1] += without.executions;
    }
    println!(
        "{} programs: {} executions with models, {} without; {ended} searches without models ended",
        with.len(),
        executions[0],
        executions[1]
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(2 * executions[0] < executions[1], "models save little");
    ended
}

fn write(root: &Path, programs: &[Program], locks: Locks) {
    emit::write_crate(root, programs, Threads::Joined, locks)
        .unwrap_or_else(|e| panic!("cannot write {}: {e}", root.display()));
}

/// Whether all waits give back the same mutex, as parking_lot demands of those that wait at a time.
fn waits_with_one_mutex(program: &Program) -> bool {
    fn collect(statements: &[Statement], mutexes: &mut Vec<String>) {
        for statement in statements {
            match statement {
                Statement::Wait(_, mutex) => mutexes.push(mutex.to_string()),
                Statement::If(_, yes, no) => {
                    collect(yes, mutexes);
                    collect(no, mutexes);
                }
                _ => {}
            }
        }
    }
    let mut mutexes = Vec::new();
    program.threads.iter().for_each(|body| collect(body, &mut mutexes));
    mutexes.dedup();
    mutexes.len() < 2
}

#[test]
fn random_programs_fail_alike_with_locks_of_std_and_of_parking_lot() {
    let programs: Vec<_> =
        (0..).map(generate::program).filter(waits_with_one_mutex).take(PROGRAMS).collect();
    let check_with = |name: &str, locks| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("locks-of-{name}"));
        write(&root, &programs, locks);
        check(&root, &[], &["--keep-going"])
    };
    let std = check_with("std", Locks::Std);
    for (name, locks) in
        [("parking_lot", Locks::ParkingLot), ("parking_lot_013", Locks::ParkingLot013)]
    {
        let mut alike = 0;
        let mut wrong = Vec::new();
        for (number, (std, other)) in std.iter().zip(&check_with(name, locks)).enumerate() {
            if kinds(std) != kinds(other) || (std.complete && !other.complete) {
                wrong.push(format!("{}\n{std:?}\n{other:?}", programs[number]));
            }
            alike += usize::from(std.executions == other.executions);
        }
        println!("{name}: {alike} of {PROGRAMS} programs need equally many executions");
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
        assert!(4 * alike > 3 * PROGRAMS, "{name}: only {alike}");
    }
}

#[test]
fn random_programs_fail_alike_with_models_of_std_and_without() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("distrust");
    let programs: Vec<_> = (0..PROGRAMS as u64).map(generate::program).collect();
    write(&root, &programs, Locks::Std);
    let with = check(&root, &[], &["--keep-going"]);
    assert_eq!(with.len(), PROGRAMS);
    let without = check(&root, &[], &["--keep-going", "--distrust", "std"]);
    let ended = compare(&with, &without);
    assert!(2 * ended > PROGRAMS, "only {ended} searches can be compared");
}

#[test]
fn corpus_programs_fail_alike_with_models_and_without() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("corpus");
    let place = ["--locked", "--target-dir", target.to_str().expect("a path in UTF-8")];
    let with = check(&program::corpus(), MODULES, &place);
    let distrust = ["--distrust", "all"];
    let without = check(&program::corpus(), MODULES, &[&place[..], &distrust].concat());
    assert!(with.len() >= 50, "{}", with.len());
    let ended = compare(&with, &without);
    assert!(2 * ended > with.len(), "only {ended} searches can be compared");
}
