//! `cargo lockred check`: builds, lists, explores every test, prints verdicts.

pub mod bugs;
mod examine;
mod explore;
mod minimal;
pub mod outcome;
mod side_by_side;
pub mod tally;
mod unfinished;

use crate::build::artifact::Built;
use crate::cli::check::{CheckOptions, StrategyName};
use crate::error::{Error, Result};
use crate::executable::list::{self, Test};
use crate::executable::sidecar;
use crate::executable::symbols::Symbols;
use crate::exit::Exit;
use crate::fingerprint;
use crate::interrupt;
use crate::output::console::Console;
use crate::output::human::Human;
use crate::output::json;
use crate::session::Launch;
use crate::subject::Subject;
use examine::Examiner;
use explore::Explored;
use lockred_trace::message::Counts;
use lockred_trace::session::Order;
use lockred_trace::sites::Sidecar;
use std::collections::BTreeSet;
use std::path::Path;
use tally::Tally;
use unfinished::Unfinished;

/// The wanted tests of one executable.
struct Target {
    built: Built,
    sidecar: Sidecar,
    tests: Vec<Test>,
}

/// Runs the command.
///
/// # Errors
/// When nothing could be checked: wrong usage, a failed build, a place that cannot be written.
pub fn run(options: &CheckOptions) -> Result<Exit> {
    let display = &options.selection.display;
    let console = Console::new(display.color, display.quiet);
    let directory = std::env::current_dir()
        .map_err(|e| Error::usage(format!("there is no current directory: {e}")))?;
    interrupt::listen();
    let subject = Subject::find(&directory, &options.selection, &console)?;
    let built = subject.build(&options.selection)?;
    let targets = targets(built, options, &console)?;
    check(targets, &subject, options, &console, &directory)
}

/// Lists the tests of everything that was built.
fn targets(built: Vec<Built>, options: &CheckOptions, console: &Console) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    let mut skipped = Vec::new();
    let any = !built.is_empty();
    for built in built {
        if built.kind == "proc-macro" {
            // They are compiled for, and run inside of, the compiler; cargo builds them as host code, without our flags.
            skipped.push(format!("{} of {}", built.label(), built.package));
            continue;
        }
        let sidecar = sidecar::read(&built.executable)?;
        let tests = list::tests(&built, sidecar.libtest, &options.filter)?;
        if !tests.is_empty() {
            targets.push(Target { built, sidecar, tests });
        }
    }
    if !skipped.is_empty() {
        console.warning(&format!(
            "proc macros run inside of the compiler and cannot be checked: skipped the {}",
            skipped.join(", the ")
        ));
    }
    if !targets.is_empty() {
        return Ok(targets);
    }
    let none = if options.filter.is_empty() {
        Error::usage("there is no test to check")
    } else {
        Error::usage("no test matches the filter")
    };
    Err(if options.filter.is_empty() || !any {
        none.hint("lockred checks #[test] functions; --bin NAME checks a program itself, --example NAME an example")
    } else {
        none.hint(
            "`cargo test -- --list` shows the names; --include-ignored adds the ignored tests",
        )
    })
}

/// One test to explore.
struct Job<'a> {
    examiner: usize,
    test: &'a Test,
    launch: Launch,
    order: Order,
    unfinished: Unfinished,
}

/// Explores the tests, as many at a time as was asked for, and prints their outcomes in order.
fn check(
    targets: Vec<Target>,
    subject: &Subject,
    options: &CheckOptions,
    console: &Console,
    directory: &Path,
) -> Result<Exit> {
    let packages: BTreeSet<&str> = targets.iter().map(|t| t.built.package.as_str()).collect();
    let names = targets.iter().flat_map(|target| {
        target.tests.iter().map(|test| (target.built.package.as_str(), test.name.as_str()))
    });
    let by_states = options.search.strategy == StrategyName::Stateful;
    let human = Human::new(console, packages.len() > 1, by_states, names);
    let json = options.output.message_format == crate::cli::check::MessageFormat::Json;
    let number = targets.iter().map(|target| target.tests.len()).sum();
    human.start(number, targets.len(), options, &subject.toolchain.release);
    let examiners: Vec<Examiner<'_>> = targets
        .iter()
        .map(|target| examiner(target, subject, options, directory))
        .collect::<Result<_>>()?;
    let jobs = jobs(&targets, &examiners, subject, options.resume);
    let mut tally = Tally::default();
    side_by_side::run(
        jobs.len(),
        options.selection.compilation.side_by_side(),
        |number, seen| {
            let job = &jobs[number];
            if interrupt::requested() {
                return Ok(Explored::Interrupted { counts: Counts::default() });
            }
            explore::explore(&job.launch, &job.order, &job.unfinished, seen)
        },
        &mut |number, seen| {
            let job = &jobs[number];
            let built = examiners[job.examiner].built;
            human.progress(built, job.test).show(seen);
        },
        |number, explored| {
            let job = &jobs[number];
            console.clear();
            let Some(outcome) = examiners[job.examiner].examine(job.test, explored)? else {
                return Ok(false);
            };
            human.outcome(&outcome);
            if json {
                json::test_finished(&outcome, options, &subject.project.root)?;
            }
            tally.add(&outcome);
            Ok(!interrupt::requested())
        },
    )?;
    let interrupted = interrupt::requested();
    if !interrupted {
        jobs.iter().for_each(|job| job.unfinished.clear());
    }
    human.summary(&tally, number, interrupted);
    if json {
        json::finished(&tally)?;
    }
    Ok(if interrupted { Exit::Interrupted } else { tally.exit(options.output.require) })
}

/// What judges the tests of one executable.
fn examiner<'a>(
    target: &'a Target,
    subject: &'a Subject,
    options: &'a CheckOptions,
    directory: &'a Path,
) -> Result<Examiner<'a>> {
    let executable = &target.built.executable;
    Ok(Examiner {
        built: &target.built,
        subject,
        options,
        believed: target.sidecar.models.clone(),
        symbols: Symbols::open(executable, target.sidecar.clone(), subject.places()),
        directory,
        hash: fingerprint::of_file(executable).map_err(|e| Error::file("read", executable, &e))?,
    })
}

/// The tests to explore. Unless the check goes on with an unfinished one, nothing is kept of that.
fn jobs<'a>(
    targets: &'a [Target],
    examiners: &[Examiner<'_>],
    subject: &Subject,
    resume: bool,
) -> Vec<Job<'a>> {
    let directory = subject.project.unfinished();
    if !resume {
        unfinished::forget(&directory);
    }
    let job = |number: usize, test: &'a Test| {
        let examiner = &examiners[number];
        let (launch, order) = (examiner.launch(test), examiner.exploration(test));
        let unfinished = Unfinished::new(&directory, &examiner.hash, &launch, &order);
        Job { examiner: number, test, launch, order, unfinished }
    };
    let of_target =
        |(number, target): (usize, &'a Target)| target.tests.iter().map(move |test| (number, test));
    let tests = targets.iter().enumerate().flat_map(of_target);
    tests.map(|(number, test)| job(number, test)).collect()
}
