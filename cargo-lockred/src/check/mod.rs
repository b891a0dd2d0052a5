//! `cargo lockred check`: builds, lists, explores every test, prints verdicts.

mod audited;
pub mod bugs;
mod confirmation;
mod examine;
mod explore;
mod lock_order_cycles;
mod minimal;
mod observed;
mod own_options;
mod portfolio;
mod side_by_side;
mod timing;
mod unfinished;
mod walks;

use crate::audit::{self, Sources};
use crate::baseline::{Baseline, Found};
use crate::build::artifact::Built;
use crate::cli::check::CheckOptions;
use crate::cli::findings::Reporter;
use crate::cli::search::Search;
use crate::error::{Error, Result};
use crate::executable::list::{self, Test};
use crate::executable::sidecar;
use crate::executable::symbols::Symbols;
use crate::exit::Exit;
use crate::fingerprint;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::outcome::tally::Tally;
use crate::output::human::Human;
use crate::output::outputs::Outputs;
use crate::printing::console::Console;
use crate::session::Launch;
use crate::session::printable::in_line;
use crate::under_check::UnderCheck;
use audited::Audited;
use examine::Examiner;
use explore::{By, Explored};
use lock_order_cycles::{Cycles, Shown};
use lockred_protocol::codes::WarningKind;
use lockred_protocol::lock_order::{LockOrder, Programs};
use lockred_protocol::message::Counts;
use lockred_protocol::notes::Note;
use lockred_protocol::session::{self, Request};
use lockred_protocol::sites::Sidecar;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unfinished::Unfinished;

/// The wanted tests of one executable.
struct Target {
    built: Built,
    sidecar: Sidecar,
    order: LockOrder,
    notes: Vec<Note>,
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
    if !options.audit {
        options.findings.reported_by(Reporter::Check)?;
    }
    interrupt::listen();
    let known = known(options)?;
    let mut outputs = Outputs::open(options)?;
    let checked = find_and_check(options, &console, &directory, &known, &mut outputs);
    checked.inspect_err(|error| outputs.failed(error))
}

/// Checks, and gives what each test came to, with the root of the workspace. Nothing is reported to
/// machines.
///
/// # Errors
/// As [`run`].
pub fn outcomes(options: &CheckOptions) -> Result<(Vec<Outcome>, PathBuf)> {
    let display = &options.selection.display;
    let console = Console::new(display.color, display.quiet);
    let directory = std::env::current_dir()
        .map_err(|e| Error::usage(format!("there is no current directory: {e}")))?;
    interrupt::listen();
    let mut outputs = Outputs::none(options);
    let exit = find_and_check(options, &console, &directory, &Baseline::default(), &mut outputs)?;
    if exit == Exit::Interrupted {
        return Err(Error::interrupted());
    }
    Ok(outputs.into_outcomes())
}

/// The findings that are accepted.
fn known(options: &CheckOptions) -> Result<Baseline> {
    match &options.findings.baseline {
        Some(path) => Baseline::read(path, options.findings.write_baseline),
        None => Ok(Baseline::default()),
    }
}

fn find_and_check(
    options: &CheckOptions,
    console: &Console,
    directory: &Path,
    known: &Baseline,
    outputs: &mut Outputs,
) -> Result<Exit> {
    let mut under_check = UnderCheck::find(directory, &options.selection, console)?;
    outputs.begin(&under_check.project.root);
    let sources = options.audit.then(|| Sources::read(&mut under_check)).transpose()?;
    let built = under_check.build(&options.selection)?;
    let audits = sources.map(|sources| sources.audits(&built, &under_check.project.root));
    let audits =
        audit::judged(audits.transpose()?.unwrap_or_default(), &options.findings, Some(known));
    let built = match options.audit && options.selection.analysis.lock_order {
        // For an audit, functions are open to callers that are not known; the order of locks is
        // that of the program as it is.
        true => {
            under_check.end_audit();
            under_check.build(&options.selection)?
        }
        false => built,
    };
    let targets = targets(built, options, console)?;
    let check = Check { under_check: &under_check, options, console, directory, known };
    check.run(&targets, Audited::new(audits, &targets), outputs)
}

/// Lists the tests of everything that was built.
fn targets(built: Vec<Built>, options: &CheckOptions, console: &Console) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    let mut skipped = Vec::new();
    // A file may be part of several targets, and a library of several programs.
    let (mut lost, mut unmodelled) = (BTreeSet::new(), BTreeSet::new());
    let any = !built.is_empty();
    for built in built {
        if built.kind == "proc-macro" {
            // They are compiled for, and run inside of, the compiler; cargo builds them as host
            // code, without our flags.
            skipped.push(format!("{} of {}", built.label(), built.package));
            continue;
        }
        let sidecar = sidecar::read(&built.executable)?;
        let mut tests = list::tests(&built, sidecar.libtest, &options.filter)?;
        let notes = sidecar::notes(&built.executable)?;
        lost.extend(own_options::give(&mut tests, &notes, &options.search)?);
        let tests = tests.wanted;
        if !tests.is_empty() {
            unmodelled.extend(sidecar.unmodelled.iter().cloned());
            let order = sidecar::carried(&built.executable)?;
            targets.push(Target { built, sidecar, order, notes, tests });
        }
    }
    lost.iter().chain(&unmodelled).for_each(|text| console.warning(text));
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

/// What is explored as written although there is a sync model, with the reason.
fn unmodelled(targets: &[Target]) -> BTreeSet<&str> {
    targets.iter().flat_map(|target| &target.sidecar.unmodelled).map(String::as_str).collect()
}

/// One test to explore.
struct Job<'a> {
    examiner: usize,
    test: &'a Test,
    launch: Launch,
    request: Request,
    /// Cycles in the order of locks to walk towards.
    cycles: Arc<[session::Target]>,
    by: By,
    unfinished: Unfinished,
}

/// What a check works with.
struct Check<'a> {
    under_check: &'a UnderCheck,
    options: &'a CheckOptions,
    console: &'a Console,
    directory: &'a Path,
    known: &'a Baseline,
}

impl Check<'_> {
    /// Explores the tests, as many at a time as was asked for, and reports their outcomes in order.
    fn run(&self, targets: &[Target], mut audited: Audited, outputs: &mut Outputs) -> Result<Exit> {
        let Self { under_check, options, console, .. } = *self;
        let number = targets.iter().map(|target| target.tests.len()).sum();
        let human = self.human(targets);
        human.start(number, targets.len(), options, &under_check.toolchain.release);
        let examiners: Vec<Examiner<'_>> =
            targets.iter().map(|target| self.examiner(target)).collect::<Result<_>>()?;
        let jobs = jobs(targets, &examiners, under_check, options, self.console)?;
        let (mut tally, mut found) = (Tally::default(), Found::default());
        let verbose = options.selection.display.verbose > 0;
        let asked = options.selection.analysis.lock_order;
        let denied = asked && options.findings.denies(WarningKind::LockOrder);
        let mut cycles = Cycles::new(denied, shown(options));
        side_by_side::run(
            jobs.len(),
            options.selection.compilation.side_by_side(),
            |number, seen| {
                let job = &jobs[number];
                if interrupt::requested() {
                    return Ok(Explored::Interrupted { counts: Counts::default() });
                }
                let Job { launch, request, cycles, by, unfinished, .. } = job;
                explore::explore(launch, request, cycles, *by, unfinished, seen)
            },
            &mut |number, seen| {
                let job = &jobs[number];
                human.progress(number, jobs.len(), examiners[job.examiner].built, job.test, seen);
            },
            |number, explored| {
                let job = &jobs[number];
                console.clear();
                let Some(outcome) = examiners[job.examiner].examine(job.test, explored)? else {
                    return Ok(false);
                };
                human.outcome(&outcome);
                tally.add(&outcome);
                outcome.note(&mut found);
                cycles.add(job.examiner, &outcome);
                audited.add(&outcome);
                outputs.test(outcome)?;
                Ok(!interrupt::requested())
            },
        )?;
        let interrupted = interrupt::requested();
        if !interrupted {
            jobs.iter().for_each(|job| job.unfinished.clear());
        }
        audited.note(&mut found);
        tally.stale = found.stale(self.known);
        if options.selection.analysis.order() != Programs::None {
            let reported = cycles.reported(targets, &under_check.project.root);
            reported.human.lines().for_each(|line| console.line(line));
            outputs.lines(&reported.json)?;
            tally.cycles = reported.failing;
        }
        if options.audit {
            let reported = audited.reported(console.style, verbose);
            reported.human.lines().for_each(|line| console.line(line));
            outputs.lines(&reported.json)?;
            outputs.audited(audited.warned())?;
            tally.audited = reported.failing;
        }
        human.summary(&tally, number, interrupted);
        if options.findings.write_baseline {
            self.write_baseline(&found, &mut tally, interrupted)?;
        }
        let exit = if interrupted { Exit::Interrupted } else { tally.exit(options.output.require) };
        outputs.finished(&tally, &unmodelled(targets), exit)?;
        Ok(exit)
    }

    /// What prints for people.
    fn human(&self, targets: &[Target]) -> Human<'_> {
        let packages: BTreeSet<&str> = targets.iter().map(|t| t.built.package.as_str()).collect();
        let names = targets.iter().flat_map(|target| {
            target.tests.iter().map(|test| (target.built.package.as_str(), test.name.as_str()))
        });
        Human::new(self.console, packages.len() > 1, self.options, names)
    }

    /// What judges the tests of one executable.
    fn examiner<'a>(&'a self, target: &'a Target) -> Result<Examiner<'a>> {
        let executable = &target.built.executable;
        let hash =
            fingerprint::of_file(executable).map_err(|e| Error::file("read", executable, &e))?;
        Ok(Examiner {
            built: &target.built,
            under_check: self.under_check,
            options: self.options,
            believed: target.sidecar.models.clone(),
            symbols: Symbols::open(executable, target.sidecar.clone(), self.under_check.places()),
            directory: self.directory,
            notes: target.notes.clone(),
            hash,
            baseline: self.known,
        })
    }

    /// Writes the baseline with what was found, unless that is only a part.
    fn write_baseline(&self, found: &Found, tally: &mut Tally, interrupted: bool) -> Result<()> {
        let Some(path) = &self.options.findings.baseline else { return Ok(()) };
        if interrupted {
            self.console.warning("interrupted; the baseline is left as it is");
            return Ok(());
        }
        let baseline = found.baseline(self.known);
        std::fs::write(path, baseline.text()).map_err(|e| Error::file("write", path, &e))?;
        // They are not in the file any more.
        tally.stale.clear();
        let known = format!("{} (known findings: {})", path.display(), baseline.len());
        self.console.status("Wrote", &known);
        Ok(())
    }
}

/// What people read of cycles in the order of locks: all that is asked for; else those that no test
/// has come to, of all tests.
fn shown(options: &CheckOptions) -> Shown {
    let all_tests = options.filter.filters.is_empty() && options.filter.skip.is_empty();
    match (options.selection.analysis.lock_order, all_tests) {
        (true, _) if options.selection.display.verbose > 0 => Shown::Verbose,
        (true, _) => Shown::All,
        (false, true) => Shown::NotReached,
        (false, false) => Shown::Nothing,
    }
}

/// The tests to explore. Unless the check goes on with an unfinished one, nothing is kept of that.
fn jobs<'a>(
    targets: &'a [Target],
    examiners: &[Examiner<'_>],
    under_check: &UnderCheck,
    options: &CheckOptions,
    console: &Console,
) -> Result<Vec<Job<'a>>> {
    let directory = under_check.project.unfinished();
    if !options.resume {
        unfinished::forget(&directory);
    }
    // Other searches are asked for by name: they are to do what they are called. What the static
    // analysis claims is compared with what the search alone comes to.
    let analysis = &options.selection.analysis;
    let is_usual = !analysis.no_lock_order && !analysis.check_static;
    let walks = analysis.lock_order
        || is_usual && matches!(options.search.search, Search::Exhaustive | Search::Alone);
    let cycles = |target: &Target| match walks {
        true => walks::targets(&target.order).into(),
        false => Arc::default(),
    };
    let cycles: Vec<Arc<[_]>> = targets.iter().map(cycles).collect();
    let job = |number: usize, test: &'a Test| {
        let (examiner, cycles) = (&examiners[number], cycles[number].clone());
        let (launch, request) = (examiner.launch(test), examiner.exploration(test));
        let by = examiner.by(test);
        let unfinished = Unfinished::new(&directory, &examiner.hash, &launch, (&request, by));
        if unfinished.is_damaged() {
            let name = in_line(&test.name);
            console.warning(&format!("what was kept of {name} is damaged: it begins again"));
        }
        Job { examiner: number, test, launch, request, cycles, by, unfinished }
    };
    let of_target =
        |(number, target): (usize, &'a Target)| target.tests.iter().map(move |test| (number, test));
    let tests = targets.iter().enumerate().flat_map(of_target);
    Ok(tests.map(|(number, test)| job(number, test)).collect())
}
