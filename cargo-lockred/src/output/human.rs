//! What people read of a check: a line a test, reports where they belong, and an honest summary.

use super::covered;
use super::progress::Progress;
use crate::build::artifact::Built;
use crate::cli::check::{CheckOptions, SearchOptions};
use crate::executable::list::Test;
use crate::outcome::tally::Tally;
use crate::outcome::{Ended, Outcome};
use crate::printing::console::Console;
use crate::printing::style::Paint;
use crate::printing::words::{self, at_most, count};
use crate::session::Progress as Seen;
use crate::session::printable::in_line;
use lockred_protocol::codes::{AssumptionKind, Verdict};
use lockred_protocol::message::{Counts, Proved};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Instant;

/// Names that are longer do not move what stands after the others.
const WIDEST_NAME: usize = 60;

/// The printer of one check.
pub struct Human<'a> {
    console: &'a Console,
    /// Whether names need the package.
    several_packages: bool,
    /// What is known is reported in full.
    verbose: bool,
    /// Walks are named apart from executions of a search: the order of locks was asked for.
    names_walks: bool,
    /// Width of the longest name, to align what follows.
    width: usize,
    /// Codes of assumptions that were explained already.
    explained: RefCell<BTreeSet<&'static str>>,
    /// The test under way.
    progress: RefCell<Progress>,
    /// What a test may take.
    seconds: f64,
    started: Instant,
}

impl<'a> Human<'a> {
    /// With `several_packages`, names get the package before them. `names` are those of all tests,
    /// with their packages.
    pub fn new<'n>(
        console: &'a Console,
        several_packages: bool,
        options: &CheckOptions,
        names: impl Iterator<Item = (&'n str, &'n str)>,
    ) -> Self {
        let mut human = Self {
            console,
            several_packages,
            verbose: options.selection.display.verbose > 0,
            names_walks: options.selection.analysis.lock_order,
            width: 0,
            explained: RefCell::default(),
            progress: RefCell::default(),
            seconds: seconds(&options.search),
            started: Instant::now(),
        };
        let widths = names.map(|(package, name)| human.name(package, name).chars().count());
        human.width = widths.max().unwrap_or(0).min(WIDEST_NAME);
        human
    }

    /// Says what is about to happen.
    pub fn start(&self, tests: usize, targets: usize, options: &CheckOptions, release: &str) {
        let search = &options.search;
        let bounds = [
            search.max_executions.map(|most| count(most, "execution")),
            search.max_operations_total.map(|most| count(most, "operation")),
            search.seconds().map(|most| format!("{most} s")),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        let bounds = format!("at most {} a test", bounds.join(" or "));
        let text = format!(
            "{} in {} (rustc {release}, {}, {bounds})",
            count(tests as u64, "test"),
            count(targets as u64, "target"),
            words::search(search.search),
        );
        self.console.status("Checking", &text);
    }

    /// Draws how far a test is, the one with this number of so many.
    pub fn progress(&self, number: usize, of: usize, built: &Built, test: &Test, seen: &Seen) {
        let name = self.name(&built.package, &test.name);
        let seconds = test.own.as_ref().map_or(self.seconds, |own| seconds(&own.search));
        let text = self.progress.borrow_mut().text(number, &name, seconds, seen);
        self.console.progress("Exploring", number, of, &text);
    }

    /// The line of a test, and its reports.
    pub fn outcome(&self, outcome: &Outcome) {
        let (word, paint) = match outcome.verdict {
            Verdict::Verified => ("verified", Paint::Green),
            Verdict::Passed => ("passed", Paint::Yellow),
            Verdict::Interrupted => ("interrupted", Paint::Yellow),
            Verdict::Failed if !outcome.fails() && outcome.error.is_none() => {
                ("known", Paint::Yellow)
            }
            Verdict::Failed => ("failed", Paint::Red),
            Verdict::Unsupported if outcome.error.is_some() => ("error", Paint::Red),
            Verdict::Unsupported => ("unsupported", Paint::Red),
        };
        let name = self.name(&outcome.package, &outcome.name);
        let width = self.width;
        let line = format!("{name:width$}  {}", facts(outcome, self.names_walks));
        let good = !matches!(outcome.verdict, Verdict::Failed | Verdict::Unsupported);
        if good && outcome.warnings.iter().all(|warning| warning.known) {
            self.quietly(word, paint, &line);
        } else {
            self.console.marked(word, paint, &line);
        }
        if self.verbose && !outcome.own_options.is_empty() {
            let options: Vec<String> =
                outcome.own_options.iter().map(|word| format!("--{word}")).collect();
            let text = format!("{:>13}its own options: {}", "", options.join(" "));
            self.console.line(&self.console.style.paint(Paint::Dim, &text));
        }
        if let Some(covered) = covered::sentence(outcome).filter(|_| !self.console.is_quiet()) {
            let text = format!("{:>13}{covered}", "");
            self.console.line(&self.console.style.paint(Paint::Dim, &text));
        }
        for part in covered::lines(outcome).filter(|_| self.verbose) {
            let text = format!("{:>13}{}", "", in_line(&part));
            self.console.line(&self.console.style.paint(Paint::Dim, &text));
        }
        self.explain(outcome);
        for known in outcome.known().filter(|_| !self.verbose && !self.console.is_quiet()) {
            let (code, title) = (known.report.code.unwrap_or_default(), &known.report.title);
            let text = format!("{:>13}known: {code} {title}", "");
            self.console.line(&self.console.style.paint(Paint::Dim, &text));
        }
        for text in reports(outcome, self.verbose) {
            self.console.line(&format!("\n{text}\n"));
        }
        if let Some(error) = &outcome.error {
            let start = self.console.style.paint(Paint::Red, "error");
            self.console.line(&format!(
                "\n{start}: this is an error of lockred, not of the test: {error}\n"
            ));
        }
    }

    /// A line that is left out when quiet.
    fn quietly(&self, word: &str, paint: Paint, line: &str) {
        if !self.console.is_quiet() {
            self.console.marked(word, paint, line);
        }
    }

    /// Explains each assumption when it is met first, and names each loop that was ended early.
    fn explain(&self, outcome: &Outcome) {
        if self.console.is_quiet() || outcome.verdict != Verdict::Passed {
            return;
        }
        for reported in &outcome.assumptions {
            let is_first = self.explained.borrow_mut().insert(reported.kind.code());
            if is_first || reported.kind == AssumptionKind::ScaledLoops {
                let text = format!("{:>13}{}: {}", "", reported.kind.code(), reported.message);
                self.console.line(&self.console.style.paint(Paint::Dim, &text));
            }
        }
    }

    /// The end: what was complete, what was bounded, and by what.
    pub fn summary(&self, tally: &Tally, tests: usize, interrupted: bool) {
        let (paint, counts) = (self.summary_paint(tally, interrupted), counts(tally));
        let seconds = self.started.elapsed().as_secs_f64();
        let total = count(tally.total() as u64, "test");
        self.console.marked("Summary", paint, &format!("{total} in {seconds:.1} s: {counts}"));
        for sentence in sentences(tally, tests, interrupted) {
            self.console.line(&format!("{:13}{sentence}", ""));
        }
    }

    const fn summary_paint(&self, tally: &Tally, interrupted: bool) -> Paint {
        if tally.failed - tally.known + tally.unsupported + tally.cycles + tally.audited > 0 {
            Paint::Red
        } else if tally.passed + tally.known > 0 || interrupted {
            Paint::Yellow
        } else {
            Paint::Green
        }
    }

    fn name(&self, package: &str, test: &str) -> String {
        let test = in_line(test);
        if self.several_packages { format!("{package} {test}") } else { test }
    }
}

/// Seconds that a test may take.
fn seconds(search: &SearchOptions) -> f64 {
    search.seconds().unwrap_or(f64::INFINITY)
}

/// What stands after a test's name.
fn facts(outcome: &Outcome, names_walks: bool) -> String {
    // Where states are searched, executions are few; where they recur for ever, there are none.
    let search = covered::proof(outcome).map_or(outcome.search, |part| part.search);
    let mut facts = vec![match search.strategy(0).needs().states {
        true => count(outcome.counts.transactions, "transaction"),
        false => count(outcome.counts.executions, "execution"),
    }];
    if let Some(walks) = outcome.walks {
        // Where they have ended the test, there was no search.
        let searched = outcome.counts != Counts::default();
        facts.truncate(usize::from(searched));
        if names_walks {
            facts.push(count(walks, "walk"));
        } else if !searched {
            facts.push(count(walks, "execution"));
        }
    }
    facts.push(format!("{:.2} s", outcome.seconds));
    match outcome.ended {
        Ended::Complete | Ended::Bug | Ended::Interrupted | Ended::Unsupported | Ended::Error => {}
        Ended::Executions => facts.push("stopped at --max-executions".into()),
        Ended::Seconds => facts.push("stopped at --max-seconds".into()),
        Ended::Total => facts.push("stopped at --max-operations-total".into()),
        Ended::Operations => facts.push("executions cut at --max-operations".into()),
        Ended::Preemptions => {}
    }
    facts.extend(covered::found(outcome).map(String::from));
    match (outcome.preemptions, outcome.ended) {
        (Some(most), Ended::Preemptions) => facts.push(at_most(most.into())),
        // So far it went.
        (Some(most), _) if outcome.verdict == Verdict::Passed => {
            facts.push(format!("{} covered", at_most(most.into())));
        }
        _ => {}
    }
    if outcome.verdict == Verdict::Passed && !outcome.assumptions.is_empty() {
        let mut codes: Vec<&str> = outcome.assumptions.iter().map(|a| a.kind.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        facts.push(format!("assuming {}", codes.join(", ")));
    }
    facts.join(", ")
}

/// The texts of everything that was found; of what is known if that is `reported`.
fn reports(outcome: &Outcome, reported: bool) -> Vec<&str> {
    let bugs = outcome.bugs.iter().filter(|bug| reported || !bug.known).map(|bug| &bug.rendered);
    let warnings = outcome.warnings.iter().filter(|warning| reported || !warning.known);
    let ended = outcome.unsupported.iter().chain(&outcome.computing);
    let rendered = bugs.chain(ended).chain(warnings.map(|reported| &reported.rendered));
    rendered.map(|rendered| rendered.text.as_str()).collect()
}

/// `1 verified, 2 failed`, zeros left out.
fn counts(tally: &Tally) -> String {
    let counts = [
        (tally.verified, "verified"),
        (tally.passed, "passed"),
        (tally.interrupted, "interrupted"),
        (tally.failed - tally.known, "failed"),
        (tally.known, "with known findings only"),
        (tally.unsupported - tally.ended_by_errors, "unsupported"),
        (tally.ended_by_errors, if tally.ended_by_errors == 1 { "error" } else { "errors" }),
    ];
    let reported: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if reported.is_empty() { "nothing was checked to its end".into() } else { reported.join(", ") }
}

/// What the counts mean.
fn sentences(tally: &Tally, tests: usize, interrupted: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    if interrupted {
        let left = tests - tally.total();
        let left = if left > 0 {
            format!("; {} not checked", count(left as u64, "test"))
        } else {
            String::new()
        };
        sentences.push(format!("interrupted{left} (`cargo lockred check --resume` goes on here)"));
    }
    if tally.complete > 0 {
        let tests = count(tally.complete as u64, "test");
        sentences.push(format!("every interleaving of {tests} was covered"));
    }
    if tally.assuming > 0 {
        let tests = count(tally.assuming as u64, "test");
        sentences.push(format!("{tests} passed a complete search, under assumptions"));
    }
    if tally.warned > 0 {
        let tests = count(tally.warned as u64, "test");
        sentences.push(format!("{tests} passed a complete search, with warnings"));
    }
    for (by, number) in &tally.stopped {
        let tests = count(*number as u64, "test");
        let why = match *by {
            "executions" => "stopped at --max-executions",
            "seconds" => "stopped at --max-seconds",
            "operations-total" => "stopped at --max-operations-total",
            "operations" => "executions were cut at --max-operations",
            "bug" => "stopped after many warnings",
            _ => "those with more preemptions were left out",
        };
        sentences.push(format!("not every interleaving of {tests}: {why}"));
    }
    for (kind, number) in &tally.assumptions {
        let (tests, code) = (count(*number as u64, "test"), kind.code());
        sentences.push(format!("{tests} passed under the assumption {code}"));
    }
    if tally.warnings > 0 {
        sentences.push(count(tally.warnings as u64, "warning"));
    }
    if tally.cycles > 0 {
        let cycles = count(tally.cycles as u64, "cycle");
        sentences.push(format!("{cycles} in the order of locks, denied and not excluded"));
    }
    if tally.audited > 0 {
        let warnings = count(tally.audited as u64, "warning");
        sentences.push(format!("{warnings} of the audit, denied and not excluded"));
    }
    let Proved { ran, unshared, proved, protected, known } = tally.proved;
    if let Some(percent) = (proved * 100).checked_div(unshared) {
        sentences.push(format!(
            "{unshared} of {ran} accesses that were made touch what one thread alone touches, or nobody writes: {proved} ({percent} %) were known to"
        ));
    }
    if let Some(percent) = (known * 100).checked_div(protected) {
        sentences.push(format!(
            "{protected} of the others touch what one lock protects since it is shared, or nobody writes any more: {known} ({percent} %) were known to"
        ));
    }
    for entry in &tally.stale {
        let (code, test, fingerprint) = (&entry.code, &entry.place.test, &entry.fingerprint);
        sentences.push(format!(
            "stale in the baseline: {code} in {test} ({fingerprint}) is not found any more; --write-baseline removes it"
        ));
    }
    if tally.errors > 0 {
        let tests = count(tally.errors as u64, "test");
        sentences.push(format!("errors of lockred itself in {tests}; please report them"));
    }
    sentences.extend(tally.failures.iter().map(|name| format!("failed: {}", in_line(name))));
    if let Some(first) = tally.codes.first() {
        let others: Vec<&str> = tally.codes.iter().skip(1).copied().collect();
        let others =
            if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        sentences.push(format!("`cargo lockred explain {first}`{others} says more"));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_what_was_covered_and_what_was_not() {
        let mut tally = Tally {
            verified: 2,
            passed: 1,
            failed: 1,
            complete: 2,
            assuming: 1,
            warned: 3,
            ..Tally::default()
        };
        tally.stopped.extend([("bug", 2), ("seconds", 1)]);
        assert_eq!(counts(&tally), "2 verified, 1 passed, 1 failed");
        tally.interrupted = 1;
        assert_eq!(counts(&tally), "2 verified, 1 passed, 1 interrupted, 1 failed");
        assert_eq!(tally.total(), 5);
        tally.interrupted = 0;
        (tally.failed, tally.known) = (2, 1);
        (tally.unsupported, tally.ended_by_errors) = (3, 1);
        let all =
            "2 verified, 1 passed, 1 failed, 1 with known findings only, 2 unsupported, 1 error";
        assert_eq!(counts(&tally), all);
        (tally.failed, tally.known, tally.unsupported) = (1, 0, 0);
        tally.ended_by_errors = 0;
        tally.assumptions.insert(AssumptionKind::MemoryModelSc, 1);
        tally.failures.push("a::b".into());
        tally.codes.extend(["LR0002", "LR0001"]);
        assert_eq!(counts(&tally), "2 verified, 1 passed, 1 failed");
        assert_eq!(
            sentences(&tally, 6, true),
            [
                "interrupted; 2 tests not checked (`cargo lockred check --resume` goes on here)",
                "every interleaving of 2 tests was covered",
                "1 test passed a complete search, under assumptions",
                "3 tests passed a complete search, with warnings",
                "not every interleaving of 2 tests: stopped after many warnings",
                "not every interleaving of 1 test: stopped at --max-seconds",
                "1 test passed under the assumption memory-model-sc",
                "failed: a::b",
                "`cargo lockred explain LR0001` (LR0002) says more",
            ]
        );
    }
}
