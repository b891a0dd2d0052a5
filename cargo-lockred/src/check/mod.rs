//! `cargo lockred check`: builds, lists, explores every test, prints verdicts.

pub mod bugs;
mod examine;
pub mod outcome;
pub mod tally;

use crate::build::artifact::Built;
use crate::cli::check::CheckOptions;
use crate::error::{Error, Result};
use crate::executable::list::{self, Test};
use crate::executable::sidecar;
use crate::executable::symbols::Symbols;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::console::Console;
use crate::output::human::Human;
use crate::output::json;
use crate::subject::Subject;
use examine::Examiner;
use lockred_trace::sites::Sidecar;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tally::Tally;

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
    check(targets, &subject, options, &console, directory)
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

/// Checks the tests one after the other.
fn check(
    targets: Vec<Target>,
    subject: &Subject,
    options: &CheckOptions,
    console: &Console,
    directory: PathBuf,
) -> Result<Exit> {
    let packages: BTreeSet<&str> = targets.iter().map(|t| t.built.package.as_str()).collect();
    let names = targets.iter().flat_map(|target| {
        target.tests.iter().map(|test| (target.built.package.as_str(), test.name.as_str()))
    });
    let human = Human::new(console, packages.len() > 1, names);
    let json = options.output.message_format == crate::cli::check::MessageFormat::Json;
    let mut tally = Tally::default();
    let number = targets.iter().map(|target| target.tests.len()).sum();
    human.start(number, targets.len(), options, &subject.toolchain.release);
    for target in targets {
        let believed = target.sidecar.models.clone();
        let symbols = Symbols::open(&target.built.executable, target.sidecar, subject.places());
        let mut examiner = Examiner {
            built: &target.built,
            subject,
            options,
            believed,
            symbols,
            directory: &directory,
            hash: None,
        };
        for test in &target.tests {
            if interrupt::requested() {
                break;
            }
            let mut progress = human.progress(&target.built, test);
            let outcome = examiner.examine(test, &mut |seen| progress.show(seen))?;
            progress.clear();
            let Some(outcome) = outcome else { break };
            human.outcome(&outcome);
            if json {
                json::test_finished(&outcome, options, &subject.project.root)?;
            }
            tally.add(&outcome);
        }
    }
    let interrupted = interrupt::requested();
    human.summary(&tally, number, interrupted);
    if json {
        json::finished(&tally)?;
    }
    Ok(if interrupted { Exit::Interrupted } else { tally.exit(options.output.require) })
}
