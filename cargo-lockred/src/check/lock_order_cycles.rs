//! What came of the cycles in the order of locks that were found before it: `check --lock-order`.
//!
//! A cycle is confirmed where a test ends in a deadlock at its places, to which the search or a
//! walk towards the cycle ([`super::walks`]) has led, and seen nested where a test is warned of it
//! there (`LR0101`). Otherwise, no schedule has led there: none can, in the tests that were
//! checked, if all their interleavings were covered. A cycle fails a check only where `lock-order`
//! is denied: what a test shows that the baseline does not have, and what nothing but luck keeps
//! threads from waiting in.

use super::Target;
use super::confirmation::{Reported, lines};
use crate::lock_order::{self, Line};
use crate::outcome::confirmation::Status;
use crate::outcome::{Ended, Outcome};
use crate::printing::line::json;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_protocol::lock_order::{Cycle, Kind};
use lockred_protocol::message::Role;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// A finding of locks: of a test of one executable, where they are acquired.
struct Finding {
    target: usize,
    test: String,
    is_deadlock: bool,
    /// The baseline has it.
    is_known: bool,
    lines: BTreeSet<Line>,
}

/// What people read of cycles.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// All of each, whatever came of it.
    Verbose,
    /// All; what nothing has confirmed takes one line.
    #[default]
    All,
    /// A line of each that no schedule has led to, and that nothing is known to exclude: tests are
    /// warned of the others.
    NotReached,
    /// Nothing.
    Nothing,
}

impl Shown {
    fn has(self, cycle: &Cycle, status: Status) -> bool {
        match self {
            Self::Verbose | Self::All => true,
            Self::NotReached => status == Status::NotReached && cycle.kind == Kind::Cycle,
            Self::Nothing => false,
        }
    }
}

/// What the tests found.
#[derive(Default)]
pub struct Cycles {
    /// Whether cycles that are not excluded fail the check.
    denied: bool,
    shown: Shown,
    findings: Vec<Finding>,
    /// By number of the target: its tests that were covered.
    covered: BTreeMap<usize, usize>,
}

/// What came of one cycle.
struct Confirmation<'a> {
    status: Status,
    /// The baseline has all that was found of it.
    is_known: bool,
    /// The tests that show it.
    tests: Vec<&'a str>,
}

/// A line of JSON.
#[derive(Serialize)]
struct CycleLine<'a> {
    reason: &'static str,
    v: u32,
    target: &'a str,
    kind: &'static str,
    locks: Vec<String>,
    status: Status,
    denied: bool,
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

impl Cycles {
    /// None so far. `denied`: those that are not excluded fail the check.
    pub fn new(denied: bool, shown: Shown) -> Self {
        Self { denied, shown, ..Self::default() }
    }

    /// Adds what a test came to, by the number of its target.
    pub fn add(&mut self, target: usize, outcome: &Outcome) {
        let bugs = outcome.bugs.iter().filter(|bug| bug.kind == BugKind::Deadlock);
        let bugs = bugs.map(|bug| (true, bug.known, &bug.rendered.report));
        let warnings = outcome.warnings.iter().filter(|w| w.kind == WarningKind::LockOrder);
        let warnings = warnings.map(|reported| (false, reported.known, &reported.rendered.report));
        for (is_deadlock, is_known, report) in bugs.chain(warnings) {
            let lines = lines(report, &[Role::Waits, Role::Holds, Role::Nests]);
            let test = outcome.name.clone();
            self.findings.push(Finding { target, test, is_deadlock, is_known, lines });
        }
        if outcome.ended == Ended::Complete {
            *self.covered.entry(target).or_insert(0) += 1;
        }
    }

    /// What came of the cycles of all executables.
    pub fn reported(&self, targets: &[Target], root: &Path) -> Reported {
        let mut reported = Reported::default();
        for (number, target) in targets.iter().enumerate() {
            let label = target.built.label();
            let sidecar = &target.sidecar;
            let names =
                lock_order::Reported { order: &target.order, sidecar, root, target: &label };
            // Tests that an interrupted check has not come to are not covered.
            let covered = self.covered.get(&number) == Some(&target.tests.len());
            self.of_target(number, covered, &names, &mut reported);
        }
        reported
    }

    fn of_target(
        &self,
        number: usize,
        covered: bool,
        names: &lock_order::Reported<'_>,
        reported: &mut Reported,
    ) {
        let (order, target) = (names.order, names.target);
        if !order.known {
            // By default, it is found in small programs only.
            if matches!(self.shown, Shown::NotReached | Shown::Nothing) {
                return;
            }
            let line = UnknownLine { reason: "lock-order", v: VERSION, target, known: false };
            reported.json += &json(&line);
            reported.human += &format!(
                "the order of locks in {target} is not known: the program is too large for it\n"
            );
            return;
        }
        for cycle in &order.cycles {
            let Confirmation { status, is_known, tests } =
                self.of_cycle(number, covered, names, cycle);
            let fails = match status {
                Status::NotReached => cycle.kind == Kind::Cycle,
                Status::Static | Status::Excluded => false,
                Status::Nested | Status::Confirmed => !is_known,
            };
            let denied = self.denied && fails;
            reported.failing += usize::from(denied);
            if denied || self.shown.has(cycle, status) {
                reported.human += &self.words(names, cycle, status, &tests, denied);
            }
            reported.json += &json(&CycleLine {
                reason: "cycle",
                v: VERSION,
                target,
                kind: cycle.kind.text(),
                locks: cycle.locks.iter().map(|&lock| names.lock(lock)).collect(),
                status,
                denied,
                tests,
            });
        }
    }

    /// What people read of a cycle.
    fn words(
        &self,
        names: &lock_order::Reported<'_>,
        cycle: &Cycle,
        status: Status,
        tests: &[&str],
        denied: bool,
    ) -> String {
        let is_whole = self.shown == Shown::Verbose || status == Status::Confirmed;
        let mut words = match is_whole {
            true => format!("{}    {}", names.cycle(cycle), status.text()),
            false => format!("{}; {}", names.in_one_line(cycle), status.text()),
        };
        if !tests.is_empty() {
            words += &format!(" ({})", tests.join(", "));
        }
        words += if denied { "; it fails the check, as --deny asks for\n" } else { "\n" };
        words
    }

    /// What came of a cycle of a target.
    fn of_cycle(
        &self,
        target: usize,
        covered: bool,
        names: &lock_order::Reported<'_>,
        cycle: &Cycle,
    ) -> Confirmation<'_> {
        let lines = names.lines(cycle);
        let of_target = self.findings.iter().filter(|finding| finding.target == target);
        let there = of_target.filter(|finding| lines.is_subset(&finding.lines));
        let there: Vec<&Finding> = there.collect();
        let is_known = there.iter().all(|finding| finding.is_known);
        let status = match there.iter().any(|finding| finding.is_deadlock) {
            _ if there.is_empty() && covered => Status::Excluded,
            _ if there.is_empty() => Status::NotReached,
            false => Status::Nested,
            true => Status::Confirmed,
        };
        let best = there.iter().filter(|f| f.is_deadlock == (status == Status::Confirmed));
        let tests: BTreeSet<&str> = best.map(|finding| &*finding.test).collect();
        Confirmation { status, is_known, tests: tests.into_iter().collect() }
    }
}
