//! From the exploration of a test to its outcome: what was found is replayed, and judged.

use super::bugs::{self, Lost};
use super::explore::{By, Explored};
use super::observed;
use super::timing::{self, Sifted};
use crate::baseline::{self, Baseline};
use crate::build::artifact::Built;
use crate::cli::check::{CheckOptions, SearchOptions};
use crate::cli::search::Search;
use crate::discipline;
use crate::error::Result;
use crate::executable::list::Test;
use crate::executable::symbols::Symbols;
use crate::fingerprint::Fingerprint;
use crate::outcome::{
    DENIED, Ended, FoundWarning, Outcome, Rendered, Reported, verdict_without_bugs,
};
use crate::printing::style::Style;
use crate::report::render::{self, Stacks};
use crate::report::{Report, Severity, identity, warning};
use crate::session::{Failure, Launch};
use crate::under_check::UnderCheck;
use lockred_protocol::codes::{AssumptionKind, Verdict, WarningKind};
use lockred_protocol::message::{Assumption, Counts, Exploration, Stop, Unsupported, Warning};
use lockred_protocol::notes::Note;
use lockred_protocol::session::{Request, Task, Time};
use lockred_protocol::sites::SiteId;
use std::path::Path;

/// Checks the tests of one executable.
pub struct Examiner<'a> {
    /// The executable.
    pub(super) built: &'a Built,
    /// What it is of.
    pub(super) under_check: &'a UnderCheck,
    /// How to search.
    pub(super) options: &'a CheckOptions,
    /// Libraries of the workspace's own sync models that it was built with.
    pub(super) believed: Vec<String>,
    /// Its sites and source locations.
    pub(super) symbols: Symbols,
    /// Where cargo was called.
    pub(super) directory: &'a Path,
    /// Hash of the executable.
    pub(super) hash: String,
    /// What the program says of itself.
    pub(super) notes: Vec<Note>,
    /// The findings that are known already.
    pub(super) baseline: &'a Baseline,
}

impl Examiner<'_> {
    /// Judges what the exploration of a test came to, and replays what was found; `None` when it
    /// was interrupted before it had done anything.
    ///
    /// # Errors
    /// When no session can be made: nothing else could be checked either.
    pub fn examine(&self, test: &Test, explored: Explored) -> Result<Option<Outcome>> {
        match explored {
            Explored::Response(response) => {
                let mut sifted = match timing::sift(self, test, *response)? {
                    Ok(sifted) => sifted,
                    Err(explored) => return self.examine(test, explored),
                };
                let assumptions = self.believed.iter().map(|library| believed(library));
                sifted.response.exploration.assumptions.extend(assumptions);
                self.judge(test, sifted).map(Some)
            }
            Explored::Interrupted { counts } if counts == Counts::default() => Ok(None),
            Explored::Interrupted { counts } => {
                let mut outcome = self.outcome(test, Verdict::Interrupted, Ended::Interrupted);
                outcome.counts = counts;
                Ok(Some(outcome))
            }
            Explored::Failed(failure) => Ok(Some(self.failed(test, failure))),
        }
    }

    /// The request to explore a test.
    pub(super) fn exploration(&self, test: &Test) -> Request {
        let search = self.search(test);
        let task = Task::Explore {
            strategy: search.strategy(),
            limits: search.limits(),
            keep_going: search.keep_going || self.searches_on(test),
        };
        self.request(task, test)
    }

    /// Whether a test is searched in several ways. What static analysis claims is compared with
    /// what the exhaustive search alone comes to, and executions are counted in one search.
    pub(super) fn by(&self, test: &Test) -> By {
        let search = self.search(test);
        let compares = self.options.selection.analysis.check_static;
        match search.search == Search::Exhaustive && search.max_executions.is_none() && !compares {
            true => By::Portfolio,
            false => By::Alone,
        }
    }

    /// How a test is searched.
    pub(super) fn search<'t>(&'t self, test: &'t Test) -> &'t SearchOptions {
        test.own.as_ref().map_or(&self.options.search, |own| &own.search)
    }

    /// Whether the search goes on after a bug without being asked to: where that may be a known
    /// one.
    fn searches_on(&self, test: &Test) -> bool {
        self.options.findings.write_baseline || self.baseline.knows_of(&self.place_of(test))
    }

    /// The test as a baseline has it.
    fn place_of(&self, test: &Test) -> baseline::Place {
        let Built { package, kind, target, .. } = self.built;
        baseline::Place::new(package, kind, target, &test.name)
    }

    /// Whether a finding in a test is accepted.
    pub(super) fn knows(&self, test: &Test, fingerprint: &str) -> bool {
        let place = self.place_of(test);
        self.options.findings.write_baseline || self.baseline.has(&place, fingerprint)
    }

    /// How a test is started.
    pub(super) fn launch(&self, test: &Test) -> Launch {
        Launch {
            executable: self.built.executable.clone(),
            arguments: test.arguments.clone(),
            directory: self.built.directory.clone(),
            environment: self.built.environment.clone(),
        }
    }

    /// When sleeps end in a test.
    pub(super) fn time(&self, test: &Test) -> Time {
        self.search(test).environment().time
    }

    /// A request for a test.
    pub(super) fn request(&self, task: Task, test: &Test) -> Request {
        Request {
            libtest: test.libtest,
            random_seed: self.search(test).seed,
            environment: self.search(test).environment(),
            ..Request::of(task)
        }
    }

    /// The verdict on an exploration.
    fn judge(&self, test: &Test, sifted: Sifted) -> Result<Outcome> {
        let Sifted { response, found, timing } = sifted;
        let exploration = &response.exploration;
        let mut outcome =
            self.outcome(test, verdict_without_bugs(exploration), Ended::of(&exploration.stop));
        outcome.counts = exploration.counts;
        outcome.walks = response.walks;
        outcome.parts.clone_from(&response.parts);
        outcome.seconds = exploration.seconds;
        outcome.restoring = self.options.search.time_restores.then_some(exploration.restoring);
        outcome.preemptions = exploration.preemptions;
        outcome.proved = exploration.proved;
        outcome.assumptions = self.assumptions(&exploration.assumptions);
        if let Stop::Unsupported(unsupported) = &exploration.stop {
            let report = warning::unsupported(unsupported, &self.symbols);
            outcome.unsupported = Some(self.rendered(report, Stacks::User));
        }
        if let Stop::Computing(place) = &exploration.stop {
            let report = warning::computing(place, &self.symbols);
            outcome.computing = Some(self.rendered(report, Stacks::User));
        }
        let reported = |warning: &&Warning| !self.options.findings.allows(warning.kind);
        for warning in exploration.warnings.iter().filter(reported) {
            if let Some(warning) = bugs::in_full(self, test, warning)? {
                outcome.warnings.push(self.warning(test, &warning));
            }
        }
        for replay in &response.deaths {
            let Some(bug) = &replay.bug else { continue };
            let how = bugs::How::plain(replay.schedule.clone(), self.time(test));
            let bug = bugs::found_bug(self, test, replay, bug, how);
            outcome.add(bug);
        }
        let has_bug = found.iter().any(Result::is_ok) || !response.deaths.is_empty();
        // What has no end is not gone through again.
        let ends = !matches!(exploration.stop, Stop::Computing(_));
        if ends && exploration.threads > 1 && observed::is_wanted(self.options, has_bug) {
            self.observe(test, exploration, &mut outcome)?;
        }
        let mut lost = Vec::new();
        for found in found {
            match found {
                Ok(bug) => outcome.add(bug),
                Err(Lost::Ours(reason)) => lost.push(reason),
                Err(Lost::Shared(message)) => {
                    let unsupported = Unsupported { message, site: SiteId(0), stack: Vec::new() };
                    let report = warning::unsupported(&unsupported, &self.symbols);
                    outcome.unsupported = Some(self.rendered(report, Stacks::User));
                    outcome.ended = Ended::Unsupported;
                }
            }
        }
        if !timing.is_empty() && outcome.verdict == Verdict::Verified {
            outcome.verdict = Verdict::Passed;
        }
        let denied = self.options.findings.denies(WarningKind::Timing);
        if !self.options.findings.allows(WarningKind::Timing) {
            outcome.warnings.extend(timing.into_iter().map(|bug| timing::warning(bug, denied)));
        }
        let reported = !exploration.findings.is_empty() || !response.deaths.is_empty();
        if exploration.stop == Stop::Bug && !reported {
            lost.push("the search stopped at a bug, but reported none".into());
        }
        if !outcome.bugs.is_empty() {
            outcome.verdict = Verdict::Failed;
        } else if !lost.is_empty() || outcome.unsupported.is_some() {
            outcome.verdict = Verdict::Unsupported;
        }
        if outcome.verdict != Verdict::Failed && outcome.fails() {
            outcome.verdict = Verdict::Failed;
        }
        outcome.error = (!lost.is_empty()).then(|| lost.join("\n"));
        Ok(outcome)
    }

    /// A warning, which is an error where it was denied.
    fn warning(&self, test: &Test, warning: &Warning) -> FoundWarning {
        let report = warning::warning(warning, &self.symbols);
        self.found_warning(test, warning.kind, report, &warning.message)
    }

    fn found_warning(
        &self,
        test: &Test,
        kind: WarningKind,
        mut report: Report,
        key: &str,
    ) -> FoundWarning {
        let fingerprint = self.fingerprint(test, &report, key);
        let known = self.knows(test, &fingerprint);
        let denied = self.options.findings.denies(kind);
        if denied && !known {
            report.severity = Severity::Error;
            report.notes.push(DENIED.into());
        }
        let rendered = self.rendered(report, Stacks::User);
        FoundWarning { fingerprint, known, denied, kind, rendered }
    }

    /// Looks at the locking discipline of a test, and warns of what is not as it should be.
    fn observe(&self, test: &Test, exploration: &Exploration, outcome: &mut Outcome) -> Result<()> {
        let Some(facts) = observed::of(self, test, exploration)? else { return Ok(()) };
        let kind = WarningKind::LockingDiscipline;
        if exploration.findings.is_empty() && !self.options.findings.allows(kind) {
            let wrong = discipline::annotated::wrong(&facts, &self.notes, &self.built.executable);
            // What the program says is the rule: what else could be one is not reported then.
            let reported: Vec<&String> = wrong.iter().flat_map(|wrong| &wrong.fields).collect();
            let others = discipline::warning::all(&facts).into_iter();
            let others =
                others.filter(|(name, _)| !reported.contains(name)).map(|(_, report)| report);
            let others: Vec<Report> = others.collect();
            for report in wrong.into_iter().map(|wrong| wrong.report).chain(others) {
                let key = report.title.clone();
                outcome.warnings.push(self.found_warning(test, kind, report, &key));
            }
        }
        outcome.facts = Some(facts);
        Ok(())
    }

    /// The outcome of a test that an error of ours ended; its schedule is kept.
    fn failed(&self, test: &Test, failure: Failure) -> Outcome {
        let mut outcome = self.outcome(test, Verdict::Unsupported, Ended::Error);
        outcome.counts = failure.counts;
        let mut message = failure.message;
        if !failure.schedule_log.0.is_empty() {
            let kept = bugs::keep_error(self, test, &message, failure.schedule_log);
            message = format!("{message}\nthe schedule under way: {}", bugs::replay_of(&kept));
        }
        outcome.error = Some(message);
        outcome
    }

    fn outcome(&self, test: &Test, verdict: Verdict, ended: Ended) -> Outcome {
        Outcome {
            package: self.built.package.clone(),
            kind: self.built.kind,
            target: self.built.target.clone(),
            name: test.name.clone(),
            search: self.search(test).search,
            own_options: test.own.as_ref().map_or_else(Vec::new, |own| own.words.clone()),
            verdict,
            ended,
            counts: Counts::default(),
            walks: None,
            parts: Vec::new(),
            seconds: 0.0,
            restoring: None,
            preemptions: None,
            proved: None,
            assumptions: Vec::new(),
            bugs: Vec::new(),
            warnings: Vec::new(),
            facts: None,
            unsupported: None,
            computing: None,
            error: None,
        }
    }

    /// A report with its text, as it is printed here.
    pub(super) fn rendered(&self, report: Report, stacks: Stacks) -> Rendered {
        let plain = render::text(&report, self.symbols.sources(), stacks, false);
        let text = match self.style().is_colored() {
            true => render::text(&report, self.symbols.sources(), stacks, true),
            false => plain.clone(),
        };
        Rendered { report, text, plain }
    }

    /// The beginning of the fingerprints of a test.
    pub(super) fn test_fingerprint(&self, test: &Test) -> Fingerprint {
        let built = self.built;
        Fingerprint::new().add(&built.package).add(built.kind).add(&built.target).add(&test.name)
    }

    /// The fingerprint of a finding in a test; `key` is for what has no place in source code.
    pub(super) fn fingerprint(&self, test: &Test, report: &Report, key: &str) -> String {
        let begun = self.test_fingerprint(test);
        identity::add(begun, report, self.symbols.sources(), key).hex()
    }

    /// How reports are coloured.
    pub(super) fn style(&self) -> Style {
        Style::choose(self.options.selection.display.color)
    }

    fn assumptions(&self, assumptions: &[Assumption]) -> Vec<Reported> {
        let mut reported: Vec<Reported> = Vec::new();
        for assumption in assumptions {
            let this = Reported::of(assumption, self.place(assumption.site));
            if !reported.contains(&this) {
                reported.push(this);
            }
        }
        reported
    }

    /// `file:line:column` of the user's code at a site.
    fn place(&self, site: SiteId) -> Option<String> {
        let frames = self.symbols.frames(site, &[]);
        let place = crate::report::Place {
            role: None,
            thread: String::new(),
            label: String::new(),
            frames,
            order: None,
        };
        place.frame().filter(|frame| frame.line > 0).map(render::location)
    }
}

/// The assumption that the workspace's own sync model of a library is right.
fn believed(library: &str) -> Assumption {
    Assumption { kind: AssumptionKind::UserModels, detail: library.to_owned(), site: SiteId(0) }
}
