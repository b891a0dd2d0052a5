//! Checking one test: explore it, replay what was found, judge.

use super::bugs;
use super::outcome::{Ended, FoundWarning, Outcome, Rendered, Told, verdict_without_bugs};
use crate::build::artifact::Built;
use crate::cli::check::CheckOptions;
use crate::error::Result;
use crate::executable::list::Test;
use crate::executable::symbols::Symbols;
use crate::report::render::{self, Stacks};
use crate::report::{Report, warning};
use crate::session::{self, Ending, Failure, Launch, Patience, Progress};
use crate::subject::Subject;
use lockred_trace::FORMAT_VERSION;
use lockred_trace::codes::{AssumptionKind, Verdict};
use lockred_trace::message::{Assumption, Counts, Exploration, Stop};
use lockred_trace::session::{Order, Task};
use lockred_trace::sites::SiteId;
use std::path::Path;

/// Checks the tests of one executable.
pub struct Examiner<'a> {
    /// The executable.
    pub(super) built: &'a Built,
    /// What it is of.
    pub(super) subject: &'a Subject,
    /// How to search.
    pub(super) options: &'a CheckOptions,
    /// Libraries of the workspace's own sync models that it was built with.
    pub(super) believed: Vec<String>,
    /// Its sites and source locations.
    pub(super) symbols: Symbols,
    /// Where cargo was called.
    pub(super) directory: &'a Path,
    /// Hash of the executable, made when it is first needed.
    pub(super) hash: Option<String>,
}

impl Examiner<'_> {
    /// Explores a test and replays what was found; `None` when it was interrupted before it had done anything.
    ///
    /// # Errors
    /// When no session can be made, or no schedule written: nothing else could be checked either.
    pub fn examine(
        &mut self,
        test: &Test,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Outcome>> {
        let search = &self.options.search;
        let task = Task::Explore {
            strategy: search.strategy(),
            limits: search.limits(),
            keep_going: search.keep_going,
        };
        let order = self.order(task, test);
        let patience = Patience::of_budget(Some(search.max_seconds));
        match session::run(&self.launch(test), &order, patience, progress)? {
            Ending::Explored(mut answer) => {
                answer.assumptions.extend(self.believed.iter().map(|library| believed(library)));
                self.judge(test, &answer).map(Some)
            }
            Ending::Interrupted { counts } if counts == Counts::default() => Ok(None),
            Ending::Interrupted { counts } => {
                let mut outcome = self.outcome(test, Verdict::Passed, Ended::Interrupted);
                outcome.counts = counts;
                Ok(Some(outcome))
            }
            Ending::Failed(failure) => self.failed(test, failure).map(Some),
            Ending::Replayed(_) => {
                let message = "the process answered another question than it was asked".into();
                let failure =
                    Failure { message, counts: Counts::default(), trail: Default::default() };
                self.failed(test, failure).map(Some)
            }
        }
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

    /// An order for a test.
    pub(super) fn order(&self, task: Task, test: &Test) -> Order {
        let writable = [std::env::temp_dir(), self.subject.project.target.clone()];
        Order {
            version: FORMAT_VERSION,
            task,
            libtest: test.libtest,
            random_seed: self.options.search.seed,
            writable: writable.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            environment: self.options.search.environment(),
        }
    }

    /// The verdict on an exploration.
    fn judge(&mut self, test: &Test, exploration: &Exploration) -> Result<Outcome> {
        let mut outcome =
            self.outcome(test, verdict_without_bugs(exploration), Ended::of(&exploration.stop));
        outcome.counts = exploration.counts;
        outcome.seconds = exploration.seconds;
        outcome.assumptions = self.assumptions(&exploration.assumptions);
        if let Stop::Unsupported(unsupported) = &exploration.stop {
            let report = warning::unsupported(unsupported, &self.symbols);
            outcome.unsupported = Some(self.rendered(report, Stacks::User));
        }
        for warning in &exploration.warnings {
            let report = warning::warning(warning, &self.symbols);
            let rendered = self.rendered(report, Stacks::User);
            outcome.warnings.push(FoundWarning { kind: warning.kind, rendered });
        }
        let mut lost = Vec::new();
        for finding in &exploration.findings {
            match bugs::reproduce(self, test, finding)? {
                // Findings that turn out to be the same are one.
                Ok(bug)
                    if outcome.bugs.iter().any(|known| known.fingerprint == bug.fingerprint) => {}
                Ok(bug) => outcome.bugs.push(bug),
                Err(reason) => lost.push(reason),
            }
        }
        if exploration.stop == Stop::Bug && exploration.findings.is_empty() {
            lost.push("the search stopped at a bug, but told none".into());
        }
        if !outcome.bugs.is_empty() {
            outcome.verdict = Verdict::Failed;
        } else if !lost.is_empty() {
            outcome.verdict = Verdict::Unsupported;
        }
        outcome.error = (!lost.is_empty()).then(|| lost.join("\n"));
        Ok(outcome)
    }

    /// The outcome of a test that an error of ours ended; its schedule is kept.
    fn failed(&mut self, test: &Test, failure: Failure) -> Result<Outcome> {
        let mut outcome = self.outcome(test, Verdict::Unsupported, Ended::Error);
        outcome.counts = failure.counts;
        let mut message = failure.message;
        if !failure.trail.0.is_empty() {
            let (id, _) = bugs::keep_error(self, test, &message, failure.trail)?;
            message = format!("{message}\nthe schedule under way: cargo lockred replay {id}");
        }
        outcome.error = Some(message);
        Ok(outcome)
    }

    fn outcome(&self, test: &Test, verdict: Verdict, ended: Ended) -> Outcome {
        Outcome {
            package: self.built.package.clone(),
            kind: self.built.kind,
            target: self.built.target.clone(),
            name: test.name.clone(),
            verdict,
            ended,
            counts: Counts::default(),
            seconds: 0.0,
            assumptions: Vec::new(),
            bugs: Vec::new(),
            warnings: Vec::new(),
            unsupported: None,
            error: None,
        }
    }

    /// A report with its text, as it is printed here.
    pub(super) fn rendered(&self, report: Report, stacks: Stacks) -> Rendered {
        let color = self.options.selection.display.color;
        let colored = crate::output::style::Style::choose(color).is_colored();
        let text = render::text(&report, self.symbols.sources(), stacks, colored);
        Rendered { report, text }
    }

    fn assumptions(&self, assumptions: &[Assumption]) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
        for assumption in assumptions {
            let this = Told::of(assumption, self.place(assumption.site));
            if !told.contains(&this) {
                told.push(this);
            }
        }
        told
    }

    /// `file:line:column` of the user's code at a site.
    fn place(&self, site: SiteId) -> Option<String> {
        let frames = self.symbols.frames(site, &[]);
        let place = crate::report::Place {
            role: None,
            thread: String::new(),
            label: String::new(),
            frames,
        };
        place.frame().filter(|frame| frame.line > 0).map(render::location)
    }
}

/// The assumption that the workspace's own sync model of a library is right.
fn believed(library: &str) -> Assumption {
    Assumption { kind: AssumptionKind::UserModels, detail: library.to_owned(), site: SiteId(0) }
}
