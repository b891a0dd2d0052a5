//! What the search came to of the circles in the order of locks that were found before it: `check --lock-order`.
//!
//! A circle is confirmed where a test ends in a deadlock at its places, and seen nested where a test is warned of it there (`LR0101`). Otherwise, no schedule
//! has led there: none can, in the tests that were checked, if all their interleavings were covered.

use super::Target;
use super::outcome::{Ended, Outcome};
use crate::error::Result;
use crate::executable::sidecar;
use crate::lock_order::{Line, Told};
use lockred_trace::codes::{BugKind, WarningKind};
use lockred_trace::lock_order::{Circle, LockOrder};
use lockred_trace::message::Role;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// What the search came to of a circle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// No schedule led there, and there may be more of them.
    NotReached,
    /// No schedule of the tests leads there.
    Excluded,
    /// Threads acquire the locks so, in no schedule at once.
    Nested,
    /// A schedule ends in it.
    Confirmed,
}

impl Status {
    const fn text(self) -> &'static str {
        match self {
            Self::NotReached => "not reached: no schedule that was run leads there",
            Self::Excluded => {
                "not reached: every interleaving of the tests that were checked was covered, and none leads there"
            }
            Self::Nested => "seen nested: threads acquire the locks so, but no schedule ends there",
            Self::Confirmed => "confirmed: a schedule ends in this deadlock",
        }
    }
}

/// A finding of locks: of a test of one executable, where they are acquired.
struct Finding {
    target: String,
    test: String,
    is_deadlock: bool,
    lines: BTreeSet<Line>,
}

/// What the tests found.
#[derive(Default)]
pub struct Circles {
    findings: Vec<Finding>,
    /// Targets with tests that were not covered.
    open: BTreeSet<String>,
}

/// A line of JSON.
#[derive(Serialize)]
struct CircleLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    kind: &'static str,
    locks: Vec<String>,
    status: Status,
    tests: Vec<&'a str>,
}

/// A line of JSON: the program is too large for its order of locks.
#[derive(Serialize)]
struct UnknownLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    known: bool,
}

impl Circles {
    /// Adds what a test came to.
    pub fn add(&mut self, label: String, outcome: &Outcome) {
        let bugs = outcome.bugs.iter().filter(|bug| bug.kind == BugKind::Deadlock);
        let bugs = bugs.map(|bug| (true, &bug.rendered.report));
        let warnings = outcome.warnings.iter().filter(|w| w.kind == WarningKind::LockOrder);
        let warnings = warnings.map(|warning| (false, &warning.rendered.report));
        for (is_deadlock, report) in bugs.chain(warnings) {
            let places = report.places.iter().filter(|place| {
                matches!(place.role, Some(Role::Waits | Role::Holds | Role::Nests))
            });
            let frames = places.flat_map(|place| &place.frames);
            let lines = frames.map(|frame| (frame.file.clone(), frame.line)).collect();
            let (target, test) = (label.clone(), outcome.name.clone());
            self.findings.push(Finding { target, test, is_deadlock, lines });
        }
        if outcome.ended != Ended::Complete {
            self.open.insert(label);
        }
    }

    /// What came of the circles of all executables: for people, and lines of JSON.
    ///
    /// # Errors
    /// When an executable cannot be read.
    pub fn told(&self, targets: &[Target], root: &Path) -> Result<(String, String)> {
        let (mut human, mut json) = (String::new(), String::new());
        for target in targets {
            let order = sidecar::lock_order(&target.built.executable)?;
            let label = target.built.label();
            let told = Told { order: &order, sidecar: &target.sidecar, root, target: &label };
            human += &self.of_target(&order, &told, &mut json);
        }
        Ok((human, json))
    }

    fn of_target(&self, order: &LockOrder, told: &Told<'_>, json: &mut String) -> String {
        if !order.known {
            let line =
                UnknownLine { reason: "lock-order", v: VERSION, target: told.target, known: false };
            *json += &(serde_json::to_string(&line).expect("names are strings") + "\n");
            return format!(
                "the order of locks in {} is not known: the program is too large for it\n",
                told.target
            );
        }
        let mut human = String::new();
        for circle in &order.circles {
            let (status, tests) = self.status(told, circle);
            human += &format!("{}    {}", told.circle(circle), status.text());
            human += &match &tests[..] {
                [] => "\n".to_owned(),
                tests => format!(" ({})\n", tests.join(", ")),
            };
            let line = CircleLine {
                reason: "circle",
                v: VERSION,
                target: told.target,
                kind: circle.kind.text(),
                locks: circle.locks.iter().map(|&lock| told.lock(lock)).collect(),
                status,
                tests,
            };
            *json += &(serde_json::to_string(&line).expect("names are strings") + "\n");
        }
        human
    }

    /// What came of a circle, and the tests that show it.
    fn status(&self, told: &Told<'_>, circle: &Circle) -> (Status, Vec<&str>) {
        let lines = told.lines(circle);
        let of_target = self.findings.iter().filter(|finding| finding.target == told.target);
        let there = of_target.filter(|finding| lines.is_subset(&finding.lines));
        let status = |finding: &Finding| match finding.is_deadlock {
            true => Status::Confirmed,
            false => Status::Nested,
        };
        let there: Vec<(Status, &str)> = there.map(|f| (status(f), &*f.test)).collect();
        let Some(best) = there.iter().map(|(status, _)| *status).max() else {
            let status = match self.open.contains(told.target) {
                true => Status::NotReached,
                false => Status::Excluded,
            };
            return (status, Vec::new());
        };
        let tests: BTreeSet<&str> =
            there.iter().filter(|(status, _)| *status == best).map(|(_, test)| *test).collect();
        (best, tests.into_iter().collect())
    }
}
