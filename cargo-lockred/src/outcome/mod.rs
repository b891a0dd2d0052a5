//! What a check came to: of one test the verdict, and everything that is reported with it; of all
//! of them the [`tally::Tally`].

pub mod confirmation;
mod known;
pub mod tally;

use crate::cli::search::Search;
use crate::discipline::facts::Facts;
use crate::report::Report;
use crate::report::thread_flows::ThreadFlow;
use crate::report::timing::Timing;
use lockred_protocol::codes::{AssumptionKind, BugKind, Verdict, WarningKind};
use lockred_protocol::message::{Assumption, Counts, Exploration, Measure, Proved, Stop};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The outcome of one test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The package's name.
    pub package: String,
    /// The target's kind.
    pub kind: &'static str,
    /// The target's name.
    pub target: String,
    /// The test's name.
    pub name: String,
    /// How it was searched.
    pub search: Search,
    /// Options that it says of itself, as the command line has them.
    pub own_options: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the search ended.
    pub ended: Ended,
    /// What it did.
    pub counts: Counts,
    /// Number of directed walks before the search; `None` without lock-order cycles.
    pub walks: Option<u64>,
    /// What each part of the search did; empty where there was one.
    pub parts: Vec<Part>,
    /// Seconds of processor time from the root to the end of the search.
    pub seconds: f64,
    /// Seconds of these that going back to the root took, if that was asked for.
    pub restoring: Option<f64>,
    /// All executions with at most so many preemptions were covered, where these are counted.
    pub preemptions: Option<u32>,
    /// How much of what is true of its accesses the plan knows, where that was compared.
    pub proved: Option<Proved>,
    /// What the verdict rests on.
    pub assumptions: Vec<Reported>,
    /// The bugs that were reproduced.
    pub bugs: Vec<FoundBug>,
    /// What fails nothing.
    pub warnings: Vec<FoundWarning>,
    /// What was observed of the locking discipline, where that was looked at.
    pub facts: Option<Facts>,
    /// What cannot be modelled, with its place.
    pub unsupported: Option<Rendered>,
    /// Where a thread was computing when the time was up, if that ended the search in the middle of
    /// a step.
    pub computing: Option<Rendered>,
    /// An error of ours that ended the test, or bugs that could not be reproduced.
    pub error: Option<String>,
}

impl Outcome {
    /// Of a test of which everything was covered, and nothing found.
    #[cfg(test)]
    pub fn sample() -> Self {
        Self {
            package: "p".into(),
            kind: "lib",
            target: "p".into(),
            name: "t".into(),
            search: Search::Exhaustive,
            own_options: Vec::new(),
            verdict: Verdict::Verified,
            ended: Ended::Complete,
            counts: Counts::default(),
            walks: None,
            parts: Vec::new(),
            seconds: 0.5,
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

    /// Adds a bug. Bugs that turn out to be the same are one.
    pub fn add(&mut self, bug: FoundBug) {
        if !self.bugs.iter().any(|known| known.fingerprint == bug.fingerprint) {
            self.bugs.push(bug);
        }
    }

    /// What fails the test: bugs and denied warnings that the baseline does not have.
    pub fn failing(&self) -> impl Iterator<Item = &Rendered> {
        let bugs = self.bugs.iter().filter(|bug| !bug.known).map(|bug| &bug.rendered);
        let denied = self.warnings.iter().filter(|warning| warning.denied && !warning.known);
        bugs.chain(denied.map(|warning| &warning.rendered))
    }

    /// Whether something fails the test, rather than what is known only.
    pub fn fails(&self) -> bool {
        self.failing().next().is_some()
    }

    /// What the baseline has.
    pub fn known(&self) -> impl Iterator<Item = &Rendered> {
        let bugs = self.bugs.iter().filter(|bug| bug.known).map(|bug| &bug.rendered);
        let warnings = self.warnings.iter().filter(|warning| warning.known);
        bugs.chain(warnings.map(|warning| &warning.rendered))
    }
}

/// What a part of a search did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// How it searched.
    pub search: Search,
    /// What all its slices did.
    pub counts: Counts,
    /// Seconds of processor time that they took.
    pub seconds: f64,
    /// Why the last one ended.
    pub ended: Ended,
    /// All executions with at most so many preemptions were covered, where these are counted.
    pub preemptions: Option<u32>,
    /// About the share of everything that it has covered, where that can be said.
    pub share: Option<f64>,
    /// Bugs that it has found.
    pub bugs: usize,
    /// Why it was left out, if it was.
    pub reason: Option<String>,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Ended {
    /// Everything was covered.
    Complete,
    /// At the first bug.
    Bug,
    /// At the limit on executions.
    Executions,
    /// At the limit on time.
    Seconds,
    /// At the limit on operations in all; of a part: its share was taken.
    Total,
    /// Some execution was cut at the limit on operations.
    Operations,
    /// Everything within the bound on preemptions was covered.
    Preemptions,
    /// The user interrupted it.
    Interrupted,
    /// It met something that cannot be modelled.
    Unsupported,
    /// An error of ours.
    Error,
}

impl Ended {
    /// Of an exploration's response.
    pub const fn of(stop: &Stop) -> Self {
        match stop {
            Stop::Complete => Self::Complete,
            Stop::Bug => Self::Bug,
            Stop::Executions => Self::Executions,
            Stop::Seconds | Stop::Computing(_) => Self::Seconds,
            Stop::Total => Self::Total,
            Stop::Operations => Self::Operations,
            Stop::Preemptions => Self::Preemptions,
            Stop::Interrupted => Self::Interrupted,
            Stop::Unsupported(_) => Self::Unsupported,
        }
    }

    /// As printed in JSON.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Bug => "bug",
            Self::Executions => "executions",
            Self::Seconds => "seconds",
            Self::Total => "operations-total",
            Self::Operations => "operations",
            Self::Preemptions => "preemptions",
            Self::Interrupted => "interrupted",
            Self::Unsupported => "unsupported",
            Self::Error => "error",
        }
    }
}

/// An assumption, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reported {
    /// Which of the closed list.
    pub kind: AssumptionKind,
    /// Its meaning, and the concrete case.
    pub message: String,
}

impl Reported {
    /// An assumption of the runtime's, with its place where that is known.
    pub fn of(assumption: &Assumption, place: Option<String>) -> Self {
        let mut message = assumption.kind.meaning().to_owned();
        if !assumption.detail.is_empty() {
            message = format!("{message}: {}", assumption.detail);
        }
        if let Some(place) = place {
            message = format!("{message} ({place})");
        }
        Self { kind: assumption.kind, message }
    }
}

/// A report with its text.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The report.
    pub report: Report,
    /// As people read it here, perhaps with colours.
    pub text: String,
    /// The same without colours.
    pub plain: String,
}

/// What a schedule that was made minimal takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// What it takes.
    pub measure: Measure,
    /// No schedule with fewer preemptions shows the bug.
    pub minimal: bool,
    /// Time ended the search for a lesser one.
    pub out_of_time: bool,
}

/// A bug that was reproduced.
#[derive(Clone, Debug)]
pub struct FoundBug {
    /// What replay takes.
    pub id: String,
    /// Equal for equal root causes in one test.
    pub fingerprint: String,
    /// Whether the baseline has it.
    pub known: bool,
    /// Which of the closed list.
    pub kind: BugKind,
    /// The file of its schedule, if that could be written.
    pub schedule: Option<PathBuf>,
    /// What the schedule takes, where it was made minimal.
    pub size: Option<Size>,
    /// Its report.
    pub rendered: Rendered,
    /// How it came about, thread by thread; empty unless a format says that.
    pub thread_flows: Vec<ThreadFlow>,
    /// It shows where a sleep is overtaken: a warning.
    pub timing: Option<Timing>,
}

/// What is noted of a warning that fails its test.
pub const DENIED: &str = "a warning that fails the test, as --deny asks for";

impl FoundBug {
    /// The command that replays it, if its schedule could be written.
    pub fn replay(&self) -> Option<String> {
        self.schedule.as_ref().map(|_| format!("cargo lockred replay {}", self.id))
    }
}

/// A warning.
#[derive(Clone, Debug)]
pub struct FoundWarning {
    /// Equal for equal root causes in one test.
    pub fingerprint: String,
    /// Whether the baseline has it.
    pub known: bool,
    /// Whether it fails the test, as was asked for.
    pub denied: bool,
    /// Which of the closed list.
    pub kind: WarningKind,
    /// Its report.
    pub rendered: Rendered,
}

/// The verdict that an exploration without bugs deserves.
pub fn verdict_without_bugs(exploration: &Exploration) -> Verdict {
    match exploration.stop {
        Stop::Unsupported(_) => Verdict::Unsupported,
        Stop::Interrupted => Verdict::Interrupted,
        Stop::Complete if exploration.assumptions.is_empty() => Verdict::Verified,
        _ => Verdict::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::message::Unsupported;
    use lockred_protocol::sites::SiteId;

    fn exploration(stop: Stop, assumed: bool) -> Exploration {
        let assumption = Assumption {
            kind: AssumptionKind::MemoryModelSc,
            detail: String::new(),
            site: SiteId(0),
        };
        Exploration {
            stop,
            counts: Counts::default(),
            seconds: 0.0,
            restoring: 0.0,
            preemptions: None,
            share: None,
            proved: None,
            threads: 1,
            findings: Vec::new(),
            warnings: Vec::new(),
            assumptions: if assumed { vec![assumption] } else { Vec::new() },
        }
    }

    #[test]
    fn only_what_is_complete_without_assumptions_is_verified() {
        let verdict = |stop, assumed| verdict_without_bugs(&exploration(stop, assumed));
        assert_eq!(verdict(Stop::Complete, false), Verdict::Verified);
        assert_eq!(verdict(Stop::Complete, true), Verdict::Passed);
        let bounded = [Stop::Executions, Stop::Seconds, Stop::Operations, Stop::Preemptions];
        for stop in bounded {
            assert_eq!(verdict(stop, false), Verdict::Passed);
        }
        assert_eq!(verdict(Stop::Interrupted, false), Verdict::Interrupted);
        let unsupported = Unsupported { message: "x".into(), site: SiteId(0), stack: Vec::new() };
        assert_eq!(verdict(Stop::Computing(unsupported.clone()), false), Verdict::Passed);
        assert_eq!(verdict(Stop::Unsupported(unsupported), false), Verdict::Unsupported);
    }
}
