//! What the search came to of the warnings of an audit: `audit --confirm`.
//!
//! An access that nothing protects is confirmed by a data race there, a publishing operation by a
//! race that a stronger order would have kept from happening, a wait under a lock by a deadlock in
//! which somebody waits there, a cycle of locks as in [`super::lock_order_cycles`]. Otherwise no
//! schedule shows it: none can, in the tests of its package that were checked, if all their
//! interleavings were covered; of accesses that is said only where a test was seen to make them to
//! memory that threads share.

use super::Target;
use super::confirmation::{Reported, lines};
use crate::audit::human;
use crate::audit::report::{Audit, Finding};
use crate::baseline::Found;
use crate::lock_order::Line;
use crate::outcome::confirmation::{Status, Warned};
use crate::outcome::{Ended, Outcome};
use crate::printing::line::json;
use crate::printing::style::Style;
use crate::report::Report;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_protocol::message::Role;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// Tests that are named for people.
const MOST: usize = 3;

/// What tests have shown of a warning.
struct Shown {
    /// What shows it; `None`: no schedule can.
    evidence: Option<Evidence>,
    /// Those that fail of it.
    confirmed: BTreeSet<String>,
    /// Those that come near it.
    nested: BTreeSet<String>,
    /// Some test was seen there, with threads beside.
    ran: bool,
}

/// Warnings, and what tests have shown of them.
pub struct Audited {
    audits: Vec<Audit>,
    /// As the warnings are.
    shown: Vec<Vec<Shown>>,
    /// What came of each, once that is reported.
    warned: Vec<Warned>,
    /// By package: its tests that are not covered (yet).
    open: BTreeMap<String, usize>,
}

/// A line of JSON.
#[derive(Serialize)]
struct WarningLine<'a> {
    reason: &'static str,
    v: u32,
    package: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
    status: Status,
    tests: &'a BTreeSet<String>,
}

impl Audited {
    /// Nothing is shown yet.
    pub(super) fn new(audits: Vec<Audit>, targets: &[Target]) -> Self {
        let none = |finding: &Finding| Shown {
            evidence: Evidence::of(finding),
            confirmed: BTreeSet::new(),
            nested: BTreeSet::new(),
            ran: false,
        };
        let shown = audits.iter().map(|audit| audit.findings.iter().map(none).collect()).collect();
        let mut open = BTreeMap::new();
        for target in targets {
            *open.entry(target.built.package.clone()).or_insert(0) += target.tests.len();
        }
        Self { audits, shown, warned: Vec::new(), open }
    }

    /// Adds what a test came to.
    pub fn add(&mut self, outcome: &Outcome) {
        if outcome.ended == Ended::Complete
            && let Some(open) = self.open.get_mut(&outcome.package)
        {
            *open -= 1;
        }
        let fields = outcome.facts.iter().flat_map(|facts| facts.fields.values());
        let frames = fields.flat_map(|field| &field.places).flat_map(|place| &place.frames);
        let ran: BTreeSet<Line> = match self.audits.is_empty() {
            true => BTreeSet::new(),
            false => frames.map(|frame| (frame.file.clone(), frame.line)).collect(),
        };
        for shown in self.shown.iter_mut().flatten() {
            let Some(evidence) = &shown.evidence else { continue };
            let mut bugs = outcome.bugs.iter().filter(|bug| bug.kind == evidence.bug);
            if bugs.any(|bug| evidence.is_in(&bug.rendered.report)) {
                shown.confirmed.insert(outcome.name.clone());
            }
            let mut warnings =
                outcome.warnings.iter().filter(|reported| Some(reported.kind) == evidence.warning);
            if warnings.any(|reported| evidence.is_in(&reported.rendered.report)) {
                shown.nested.insert(outcome.name.clone());
            }
            shown.ran |= !evidence.is_access || !evidence.lines.is_disjoint(&ran);
        }
    }

    /// Notes all warnings, for a baseline.
    pub fn note(&self, found: &mut Found) {
        crate::audit::note(&self.audits, found);
    }

    /// The warnings with what came of them, as they were reported.
    pub fn warned(&mut self) -> Vec<Warned> {
        std::mem::take(&mut self.warned)
    }

    /// What came of all of them.
    pub fn reported(&mut self, style: Style, all: bool) -> Reported {
        let mut reported = Reported::default();
        if self.audits.iter().any(|audit| !audit.findings.is_empty()) {
            reported.human = "warnings of the audit, and what came of them:\n".into();
        }
        for (audit, shown) in self.audits.iter_mut().zip(&self.shown) {
            let covered = self.open.get(&audit.package) == Some(&0);
            for (finding, shown) in audit.findings.iter_mut().zip(shown) {
                let status = match shown {
                    shown if shown.evidence.is_none() => Status::Static,
                    shown if !shown.confirmed.is_empty() => Status::Confirmed,
                    shown if !shown.nested.is_empty() => Status::Nested,
                    shown if covered && shown.ran => Status::Excluded,
                    _ => Status::NotReached,
                };
                finding.denied &= status != Status::Excluded;
                reported.failing += usize::from(finding.denied);
                let tests = match status {
                    Status::Confirmed => &shown.confirmed,
                    _ => &shown.nested,
                };
                reported.human += &human::warning(finding, style, all);
                reported.human += &format!("    = {}{}\n", status.text(), named(tests));
                reported.json += &json(&WarningLine {
                    reason: "audit-warning",
                    v: VERSION,
                    package: &audit.package,
                    finding,
                    status,
                    tests,
                });
                self.warned.push(Warned {
                    package: audit.package.clone(),
                    finding: finding.clone(),
                    status,
                    tests: tests.clone(),
                });
            }
        }
        reported
    }
}

/// Tests, for people.
fn named(tests: &BTreeSet<String>) -> String {
    let first: Vec<&str> = tests.iter().take(MOST).map(String::as_str).collect();
    match tests.len().saturating_sub(MOST) {
        _ if first.is_empty() => String::new(),
        0 => format!(" ({})", first.join(", ")),
        more => format!(" ({} and {more} more)", first.join(", ")),
    }
}

/// What shows that a warning is right.
struct Evidence {
    /// A bug of this kind,
    bug: BugKind,
    /// or, nearly, a warning of this one,
    warning: Option<WarningKind>,
    /// in which somebody is at these lines,
    lines: BTreeSet<Line>,
    /// at all of them rather than one,
    all: bool,
    /// and does this.
    roles: &'static [Role],
    /// It is about an access to memory.
    is_access: bool,
}

impl Evidence {
    /// For a warning; `None` where no schedule can show it.
    fn of(finding: &Finding) -> Option<Self> {
        use Role::{AtomicRead, AtomicWrite, Holds, Nests, Read, Waits, WeakOrder, Write};
        let first = finding.places.first().map(|(label, _)| label.as_str());
        // The other places are those of who does it right, and of the lock.
        let are_first = finding.places.iter().filter(|(label, _)| Some(label.as_str()) == first);
        let (bug, all, roles): (_, _, &[Role]) = match finding.kind {
            WarningKind::UnprotectedWrite | WarningKind::UnlockedRead => {
                (BugKind::DataRace, false, &[Read, Write, AtomicRead, AtomicWrite])
            }
            WarningKind::UnpairedAtomic => (BugKind::DataRace, false, &[WeakOrder]),
            WarningKind::LockAcrossThread | WarningKind::BlockingUnderLock => {
                (BugKind::Deadlock, false, &[Waits])
            }
            WarningKind::LockOrder => (BugKind::Deadlock, true, &[Waits, Holds, Nests]),
            _ => return None,
        };
        let places: Vec<_> =
            if all { finding.places.iter().collect() } else { are_first.collect() };
        let lines = places.iter().map(|(_, place)| (place.file.clone(), place.line)).collect();
        let warning = all.then_some(WarningKind::LockOrder);
        Some(Self { bug, warning, lines, all, roles, is_access: bug == BugKind::DataRace })
    }

    /// Whether a report has it.
    fn is_in(&self, report: &Report) -> bool {
        let lines = lines(report, self.roles);
        match self.all {
            true => self.lines.is_subset(&lines),
            false => !self.lines.is_disjoint(&lines),
        }
    }
}
