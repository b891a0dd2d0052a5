//! Random model programs emitted as Rust tests: the native machine reports what the model machine
//! reports, in as many executions.
//!
//! Programs with data races: both complete strategies find one natively. All others: verdict,
//! completeness and deadlocks agree under both strategies, and the search by transactions needs
//! exactly the model's number of executions. With few preemptions nothing else is found, and most
//! of it.
//!
//! Three kinds of programs may need more natively ([`may_need_more`]); none may need fewer, and
//! what is found must agree all the same. Smallest programs (model's executions, native ones):
//! - `r = cas x 0 0` beside `r = x += 1; r = cas x 0 1` (2, 3; single operations too).
//! - A waiter and two threads `lock a; x = 1; notify_one c; unlock a` (6, 8; single operations
//!   too).
//! - `lock b; lock l; unlock l; unlock b` beside `lock b; unlock b; read l; unread l` (1, 17). Some
//!   of these, with three threads, do not end within [`NATIVE_EXECUTIONS`] either, so that
//!   completeness is not asked of them.
//!
//! Threads are joined, not scoped: two scoped threads that do nothing need 643 executions, two
//! joined ones 1.

use lockred_model::program::Statement;
use lockred_model::{Failure, ModelMachine, Program};
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_search::discipline::Discipline;
use lockred_search::{Findings, Limits, Stop, Strategy, explore, transactions};
use lockred_tests::emit::{Locks, Threads};
use lockred_tests::generate::RWLOCK;
use lockred_tests::outcome::TestFinished;
use lockred_tests::{emit, generate, tool};
use std::path::Path;

/// Programs in one run.
const PROGRAMS: usize = 200;
/// How threads are started.
const THREADS: Threads = Threads::Joined;
/// The most executions of a program by transactions.
const EXECUTIONS: u64 = 300;
/// The most executions of a program by single operations.
const SINGLE_EXECUTIONS: u64 = 2000;
/// Native searches stop here.
const NATIVE_EXECUTIONS: &str = "10000";

/// A search of interleavings with few preemptions only.
const FEW: &str = "--search=bounded=2";
/// It stops here.
const FEW_EXECUTIONS: &str = "1000";

/// A program, and what the model machine says of it.
struct Judged {
    seed: u64,
    program: Program,
    races: bool,
    deadlocks: bool,
    executions: u64,
}

/// Whether the reader-writer lock is taken in both ways.
fn reads_and_writes(program: &Program) -> bool {
    count(program, |one| matches!(one, Statement::ReadLock(_))) > 0
        && count(program, |one| *one == Statement::Lock(RWLOCK)) > 0
}

/// Whether the program is of a kind that may need more executions natively than in the model.
fn may_need_more(program: &Program) -> bool {
    let exchange = |one: &Statement| matches!(one, Statement::CompareExchange(..));
    let wait = |one: &Statement| matches!(one, Statement::Wait(..));
    let notify = |one: &Statement| matches!(one, Statement::NotifyOne(_) | Statement::NotifyAll(_));
    count(program, exchange) > 0
        || (count(program, wait) > 0 && count(program, notify) > 1)
        || reads_and_writes(program)
}

/// In how many threads such a statement is.
fn count(program: &Program, is: fn(&Statement) -> bool) -> usize {
    program.threads.iter().filter(|body| body.iter().any(|one| contains(one, is))).count()
}

/// Whether the statement, or one inside of it, is such a one.
fn contains(statement: &Statement, is: fn(&Statement) -> bool) -> bool {
    let inside = |(yes, no): (&[Statement], &[Statement])| {
        yes.iter().chain(no).any(|inner| contains(inner, is))
    };
    is(statement) || matches!(statement, Statement::If(_, yes, no) if inside((yes, no)))
}

/// What the model machine says of the program of this seed, unless it needs too many executions.
fn judge(seed: u64) -> Option<Judged> {
    let program = generate::program(seed);
    let mut seen = Findings::<Failure>::default();
    let mut machine = ModelMachine::new(&program);
    let limits = |executions| Limits { executions: Some(executions), ..Limits::default() };
    let mut discipline = Discipline::default();
    let outcome =
        transactions::explore(&mut machine, &mut discipline, limits(EXECUTIONS), &mut seen);
    let mut other = Findings::default();
    let single = limits(SINGLE_EXECUTIONS);
    let single = explore(&mut ModelMachine::new(&program), Strategy::Dpor, single, &mut other);
    if outcome.stop != Stop::Complete || single.stop != Stop::Complete {
        return None;
    }
    let has = |is: fn(&Failure) -> bool| seen.failures.iter().any(is);
    Some(Judged {
        seed,
        races: has(|failure| matches!(failure, Failure::Race { .. })),
        deadlocks: has(|failure| matches!(failure, Failure::Deadlock { .. })),
        executions: outcome.counts.executions,
        program,
    })
}

/// The programs as one crate, searched as this option says.
fn check(root: &Path, search: &str) -> Vec<TestFinished> {
    // Behind a race, the bounded search leaves no way out.
    let executions = if search == FEW { FEW_EXECUTIONS } else { NATIVE_EXECUTIONS };
    let arguments = [
        "check",
        "--message-format",
        "json",
        "--keep-going",
        "--max-seconds",
        "600",
        "--max-executions",
        executions,
        // The search is compared, not walks before it.
        "--no-lock-order",
        search,
    ];
    let output = tool::finish(&mut tool::lockred(root, arguments));
    let tests = output.tests();
    assert_eq!(tests.len(), PROGRAMS, "{output}");
    tests
}

/// What is wrong with a native result.
fn differences(model: &Judged, native: &TestFinished) -> Vec<String> {
    let found = |kind| native.bugs.iter().any(|bug| bug.kind == kind);
    let (races, deadlocks) = (found(BugKind::DataRace), found(BugKind::Deadlock));
    let is_bounded = native.search.starts_with("bounded");
    let agrees = |found: bool, there: bool| found == there || (is_bounded && there);
    let mut wrong = Vec::new();
    let mut expect = |what: &str, agrees: bool| {
        if !agrees {
            wrong.push(what.to_owned());
        }
    };
    expect("data race", agrees(races, model.races));
    if !model.races {
        expect("deadlock", agrees(deadlocks, model.deadlocks));
        let others = native.bugs.iter().filter(|bug| bug.kind != BugKind::Deadlock).count();
        expect("other bugs", others == 0);
        let clean = matches!(native.verdict, Verdict::Verified | Verdict::Passed);
        expect("verdict", clean != deadlocks && native.verdict != Verdict::Unsupported);
        let may_stop = reads_and_writes(&model.program) || is_bounded;
        expect("completeness", native.complete || may_stop);
        if native.search == "exhaustive" {
            expect("executions", {
                let more = native.executions > model.executions;
                native.executions == model.executions || (more && may_need_more(&model.program))
            });
        }
    }
    wrong
}

fn describe(model: &Judged, native: &TestFinished, wrong: &[String]) -> String {
    let Judged { seed, program, races, deadlocks, executions } = model;
    let kinds: Vec<_> = native.bugs.iter().map(|bug| bug.kind).collect();
    let assumptions: Vec<_> = native.assumptions.iter().map(|a| a.code.as_str()).collect();
    format!(
        "== {} of seed {seed} under {}: {}\n{program}\n\
         model: races {races}, deadlocks {deadlocks}, {executions} executions\n\
         native: {:?}, bugs {kinds:?}, complete {}, {} executions, {} blocked, {} refinements, rests on {assumptions:?}\n{}",
        native.name,
        native.search,
        wrong.join(", "),
        native.verdict,
        native.complete,
        native.executions,
        native.blocked,
        native.refinements,
        emit::test(&native.name, program, THREADS)
    )
}

#[test]
fn what_the_plan_claims_holds_in_random_programs() {
    let many = if std::env::var_os("LOCKRED_DEEP").is_some() { PROGRAMS } else { PROGRAMS / 10 };
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-oracle-claims");
    let programs: Vec<_> = (0..many as u64).map(generate::program).collect();
    emit::write_crate(&root, &programs, THREADS, Locks::Std)
        .unwrap_or_else(|e| panic!("cannot write {}: {e}", root.display()));
    let arguments = ["check", "--message-format", "json", "--keep-going", "--check-static"];
    let mut command = tool::lockred(&root, arguments);
    let output = tool::finish(command.args(["--max-executions", "300"]));
    let tests = output.tests();
    assert_eq!(tests.len(), many, "{output}");
    // An error of the analysis is an error of ours.
    assert!(tests.iter().all(|test| test.verdict != Verdict::Unsupported), "{output}");
}

#[test]
fn native_and_model_machine_agree() {
    let first = std::env::var("LOCKRED_ORACLE_SEED").map_or(0, |seed| seed.parse().unwrap());
    let judged: Vec<_> = (first..).filter_map(judge).take(PROGRAMS).collect();
    let count = |is: fn(&&Judged) -> bool| judged.iter().filter(is).count();
    let exact = judged.iter().filter(|p| !p.races && !may_need_more(&p.program)).count();
    let racy = count(|p| p.races);
    let deadlocking = count(|p| !p.races && p.deadlocks);
    let several = count(|p| !p.races && p.executions > 1);
    println!(
        "seeds {first}..={}: {racy} racy, {deadlocking} deadlocking, {several} race-free in several executions, {exact} race-free of which the number is asked exactly",
        judged[PROGRAMS - 1].seed
    );
    assert!(
        racy >= 20 && deadlocking >= 20 && several >= 80 && exact >= 40,
        "the programs show too little"
    );

    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-oracle");
    let programs: Vec<_> = judged.iter().map(|one| one.program.clone()).collect();
    emit::write_crate(&root, &programs, THREADS, Locks::Std)
        .unwrap_or_else(|e| panic!("cannot write {}: {e}", root.display()));
    let mut differing = 0;
    for search in ["--search=exhaustive", "--search=dpor", FEW] {
        let native = check(&root, search);
        let executions: u64 = native.iter().map(|test| test.executions).sum();
        let pairs = || judged.iter().zip(&native).filter(|(model, _)| !model.races);
        let more = pairs().filter(|(model, test)| test.executions > model.executions).count();
        println!(
            "{search}: {executions} executions; {more} race-free programs need more than the model by transactions"
        );
        if search == FEW {
            let wrong = |model: &&Judged| model.races || model.deadlocks;
            let all = judged.iter().filter(wrong).count();
            let found = native.iter().filter(|test| !test.bugs.is_empty()).count();
            println!("{found} of {all} programs with bugs show one");
            assert!(10 * found >= 9 * all, "few preemptions are enough for most bugs");
        }
        for (model, native) in judged.iter().zip(&native) {
            let wrong = differences(model, native);
            if !wrong.is_empty() {
                println!("{}", describe(model, native, &wrong));
                differing += 1;
            }
        }
    }
    assert_eq!(differing, 0, "results that differ; they are printed above");
}
