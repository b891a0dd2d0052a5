//! Small programs as functions over the hooks, run by the real machine under the real search: what
//! is explored and found.
//!
//! A program is a function of [`Words`], a block of zeroed words in the arena (the only state that
//! a restore puts back besides stacks). It does everything by [`hooks`], as instrumented code does.

mod births;
mod channel_timeouts;
mod choices;
mod ends;
mod hooks;
mod locks;
mod looks;
mod loops;
mod memory;
mod processors;
mod regions;
mod shared;
mod times;
mod undone;
mod waits;

use crate::drive::native::Native;
use crate::drive::restore;
use crate::hooks::blocks as heap;
use crate::hooks::process;
use crate::hooks::pthread;
use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::start;
use crate::machine::state::State;
use crate::scheduler::stops;
use crate::tasks::minimal;
use crate::tasks::response;
use hooks::Words;
use lockred_protocol::codes::{AssumptionKind, BugKind, WarningKind};
use lockred_protocol::message::{Exploration, Finding, Message, Minimised, Replay, Stop};
use lockred_protocol::schedule::{Choice, Schedule};
use lockred_protocol::session::{
    Environment, Limits, Request, Share, Strategy, Target, Task, Time,
};
use lockred_search::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use lockred_search::targeted::Aim;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program's main function; returns the exit status.
type Program = fn(Words) -> i32;

/// The process has one machine: tests take turns.
static MACHINE: Mutex<Option<Program>> = Mutex::new(None);

/// Words that a program has.
const WORDS: usize = 64;

extern "C" fn bottom(_argument: usize) -> ! {
    // SAFETY: the test that runs this holds the lock and has set the program; nobody else writes
    // it.
    let program = unsafe { PROGRAM }
        .unwrap_or_else(|| crate::session::files::fatal("a test without a program"));
    let words = heap::__lr_libc_calloc(WORDS, 8);
    let status = program(Words(words.cast()));
    let entered = &mut hook::enter();
    pthread::run_destructors(entered);
    process::run_at_exit(entered);
    process::exit(entered, status, true)
}

/// What `bottom` runs; written only under [`MACHINE`].
static mut PROGRAM: Option<Program> = None;

/// A fresh machine, with its program at the root (`true`) or ended before it.
fn prepare(
    program: Program,
    task: Task,
    environment: Environment,
) -> (MutexGuard<'static, Option<Program>>, bool) {
    let guard = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: this thread holds the lock.
    unsafe { PROGRAM = Some(program) };
    let mode = match task {
        Task::Explore { .. } | Task::Minimise { .. } | Task::Observe { .. } | Task::Walk { .. } => {
            Mode::Explore
        }
        Task::Replay { .. } => Mode::Replay,
    };
    let request = Request { environment, ..Request::of(task) };
    let mut fresh = State::new(mode, Some(request), None);
    if let Some(mut old) = hook::enter_if_ready() {
        // Address space that would else be lost with every test.
        if let Some(root) = old.root.take() {
            root.remove();
        }
        fresh.monitors.detector =
            old.monitors.detector.take().filter(|_| !fresh.config.by_transactions);
    }
    crate::machine::watch::rest();
    hook::install(fresh);
    let entered = &mut hook::enter();
    start::main_thread(entered, bottom);
    stops::run(entered, 0);
    let rooted = !entered.execution.threads[0].has_ended() && entered.step.flow == Flow::On;
    if rooted {
        restore::reached(entered);
    }
    (guard, rooted)
}

fn search(program: Program, strategy: Strategy, keep_going: bool) -> Exploration {
    search_in(program, Environment::default(), strategy, keep_going)
}

fn search_in(
    program: Program,
    environment: Environment,
    strategy: Strategy,
    keep_going: bool,
) -> Exploration {
    let limits = Limits {
        executions: Some(10_000),
        seconds: None,
        operations: 30_000,
        share: Share::default(),
    };
    let task = Task::Explore { strategy, limits, keep_going };
    let (_guard, rooted) = prepare(program, task, environment);
    match response::explore(strategy, limits, keep_going, rooted) {
        Message::Explored(exploration) => exploration,
        other => panic!("an exploration got the response {other:?}"),
    }
}

/// So many walks towards each target.
fn walked(program: Program, targets: Vec<Target>, walks: u64) -> Exploration {
    let limits =
        Limits { executions: None, seconds: None, operations: 30_000, share: Share::default() };
    let aim = Aim { targets: targets.len() as u32, walks, operations: u64::MAX, seed: 1 };
    let Aim { operations, seed, .. } = aim;
    let task = Task::Walk { targets, walks, operations, seed, limits, keep_going: false };
    let (_guard, rooted) = prepare(program, task, Environment::default());
    match response::walk(aim, limits, false, rooted) {
        Message::Explored(exploration) => exploration,
        other => panic!("walks got the response {other:?}"),
    }
}

/// Explores everything, by single operations; the search by transactions comes to the same end, in
/// no more executions.
#[track_caller]
fn explore(program: Program) -> Exploration {
    explore_in(program, Environment::default())
}

/// The same, with what the environment may do.
#[track_caller]
fn explore_in(program: Program, environment: Environment) -> Exploration {
    let found = search_in(program, environment, Strategy::Dpor, false);
    let same = search_in(program, environment, Strategy::Transactions, false);
    let bugs = |found: &Exploration| -> Vec<BugKind> {
        found.findings.iter().map(|finding| finding.kind).collect()
    };
    assert_eq!((&found.stop, bugs(&found)), (&same.stop, bugs(&same)), "{same:?}");
    assert_eq!(kinds(&found), kinds(&same), "assumptions");
    assert_eq!(warnings(&found), warnings(&same), "warnings");
    if found.stop == Stop::Complete {
        let (single, by_transactions) = (found.counts.executions, same.counts.executions);
        assert!(by_transactions <= single, "{by_transactions} executions instead of {single}");
    }
    found
}

/// The program is right, nothing is assumed, and so many executions show it.
#[track_caller]
fn right(program: Program, executions: u64) {
    let found = explore(program);
    assert_eq!(found.findings, []);
    assert_eq!(found.assumptions, []);
    assert_eq!((found.stop, found.counts.executions), (Stop::Complete, executions));
}

/// The program is right under sequential consistency, and so many executions show it.
#[track_caller]
fn right_but_weak(program: Program, executions: u64) {
    let found = explore(program);
    assert_eq!(found.findings, []);
    assert_eq!(kinds(&found), [AssumptionKind::MemoryModelSc]);
    assert_eq!((found.stop, found.counts.executions), (Stop::Complete, executions));
}

/// Everything was explored, and nothing was found.
#[track_caller]
fn complete(found: &Exploration) {
    assert_eq!(found.findings, []);
    assert_eq!(found.stop, Stop::Complete);
}

fn kinds(found: &Exploration) -> Vec<AssumptionKind> {
    found.assumptions.iter().map(|assumption| assumption.kind).collect()
}

fn warnings(found: &Exploration) -> Vec<WarningKind> {
    found.warnings.iter().map(|warning| warning.kind).collect()
}

/// The search finds a bug of this kind, and its replay shows the same one.
#[track_caller]
fn wrong(program: Program, kind: BugKind) -> Replay {
    wrong_in(program, Environment::default(), kind)
}

/// The same, with what the environment may do.
#[track_caller]
fn wrong_in(program: Program, environment: Environment, kind: BugKind) -> Replay {
    let found = explore_in(program, environment);
    let [finding] = &found.findings[..] else { panic!("{found:?}") };
    assert_eq!((finding.kind, found.stop), (kind, Stop::Bug), "{}", finding.message);
    let replay = replay_in(program, environment, finding.schedule.clone());
    let bug = replay.bug.as_ref().unwrap_or_else(|| panic!("not reproduced: {finding:?}"));
    assert_eq!((bug.kind, &bug.key), (kind, &finding.key));
    assert_eq!(replay.drift, None);
    // So does its least schedule.
    let least = minimise(program, environment, finding);
    let runs = |choice: &Choice| matches!(choice, Choice::Thread(_));
    // Without a root there is nothing to choose.
    assert!(least.is_some() || !finding.schedule.0.iter().any(runs), "{}", finding.message);
    if let Some(least) = least {
        assert!(least.minimal && least.measure <= least.given, "{:?}", least.measure);
        let time = if least.ordered { Time::Ordered } else { environment.time };
        let environment = Environment { time, ..environment };
        let again = replay_in(program, environment, least.schedule);
        assert_eq!(again.bug.map(|bug| bug.key), Some(finding.key.clone()));
        assert_eq!(again.drift, None);
    }
    replay
}

/// Looks for the least schedule of a bug.
fn minimise(program: Program, environment: Environment, finding: &Finding) -> Option<Minimised> {
    let Finding { kind, key, schedule, .. } = finding.clone();
    let wanted = minimal::Wanted::new(kind, key.clone(), 60.0);
    let steps = if kind == BugKind::Livelock { 300 } else { 500_000 };
    let task = Task::Minimise { schedule: schedule.clone(), kind, key, steps, seconds: 60.0 };
    let (_guard, rooted) = prepare(program, task, environment);
    match minimal::respond(&schedule, wanted, steps, rooted) {
        Message::Minimised(least) => least,
        other => panic!("a minimisation got the response {other:?}"),
    }
}

fn replay(program: Program, schedule: Schedule) -> Replay {
    replay_in(program, Environment::default(), schedule)
}

fn replay_in(program: Program, environment: Environment, schedule: Schedule) -> Replay {
    let (_guard, rooted) =
        prepare(program, Task::Replay { schedule: schedule.clone() }, environment);
    match response::replay(&schedule, 100_000, rooted) {
        Message::Replayed(replay) => replay,
        other => panic!("a replay got the response {other:?}"),
    }
}

/// Runs the machine by hand: threads in the given order until each stops, each named once a step.
fn by_hand(program: Program, order: &[u32]) -> Vec<Step<crate::record::failure::Failure>> {
    struct First;
    impl Chooser for First {
        fn choose(&mut self, _of: u32) -> u32 {
            0
        }
    }
    let limits = Limits { executions: None, seconds: None, operations: 1, share: Share::default() };
    let task = Task::Explore { strategy: Strategy::Dpor, limits, keep_going: false };
    let (_guard, _) = prepare(program, task, Environment::default());
    let mut machine = Native::default();
    machine.restore_root();
    let steps = order.iter().map(|&number| {
        let thread = ThreadId(number);
        assert_eq!(machine.status(thread), Status::Enabled, "thread {number}");
        let mut step = Step::default();
        machine.step(thread, &mut First, &mut step);
        step
    });
    steps.collect()
}

#[test]
fn equal_schedules_give_equal_signatures() {
    fn program(words: Words) -> i32 {
        let thread = words.spawn(|words| {
            words.add(0, 1);
        });
        words.add(0, 2);
        words.join(thread);
        0
    }
    let signatures = |order: &[u32]| -> Vec<u64> {
        by_hand(program, order).iter().map(|step| step.signature).collect()
    };
    assert_eq!(signatures(&[0, 1, 1, 0, 0]), signatures(&[0, 1, 1, 0, 0]));
    assert_ne!(signatures(&[0, 1, 1, 0, 0]), signatures(&[0, 0, 1, 1, 0]));
}
