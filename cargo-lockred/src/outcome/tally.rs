//! What a whole check came to: counts, and the exit status.

use super::{Ended, Outcome};
use crate::baseline::Entry;
use crate::cli::check::Require;
use crate::exit::Exit;
use lockred_protocol::codes::{AssumptionKind, Verdict};
use lockred_protocol::message::Proved;
use std::collections::{BTreeMap, BTreeSet};

/// Counts over all tests that were checked.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// `verified` tests.
    pub verified: usize,
    /// `passed` tests.
    pub passed: usize,
    /// `interrupted` tests.
    pub interrupted: usize,
    /// `failed` tests, those with known findings only included.
    pub failed: usize,
    /// `failed` tests whose findings are all known.
    pub known: usize,
    /// `unsupported` tests, those ended by errors of ours included.
    pub unsupported: usize,
    /// `unsupported` tests that an error of ours ended.
    pub ended_by_errors: usize,
    /// Tests with an error of ours, failed ones included.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Verified tests: every interleaving of them was covered.
    pub complete: usize,
    /// Tests that passed, and whose search was complete as far as what they rest on holds.
    pub assuming: usize,
    /// Tests that passed a complete search and rest on nothing: what they were warned of keeps them
    /// from being verified.
    pub warned: usize,
    /// Tests without a bug whose search was stopped, by what stopped it.
    pub stopped: BTreeMap<&'static str, usize>,
    /// Codes of what is reported in full.
    pub codes: BTreeSet<&'static str>,
    /// Names of the tests that failed.
    pub failures: Vec<String>,
    /// Cycles in the order of locks that fail the check.
    pub cycles: usize,
    /// Warnings of the audit that fail the check.
    pub audited: usize,
    /// Entries of the baseline that nothing stands after any more.
    pub stale: Vec<Entry>,
    /// Assumptions, with how many tests rest on each.
    pub assumptions: BTreeMap<AssumptionKind, usize>,
    /// What was known of accesses before they were made, where that was compared; of all tests
    /// together.
    pub proved: Proved,
}

impl Tally {
    /// Counts one test.
    pub fn add(&mut self, outcome: &Outcome) {
        match outcome.verdict {
            Verdict::Verified => self.verified += 1,
            Verdict::Passed => self.passed += 1,
            Verdict::Interrupted => self.interrupted += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Unsupported => self.unsupported += 1,
        }
        self.warnings +=
            outcome.warnings.iter().filter(|reported| !reported.known && !reported.denied).count();
        let warnings = outcome.warnings.iter().filter(|reported| !reported.known);
        self.codes.extend(warnings.map(|reported| reported.kind.code()));
        self.codes.extend(outcome.bugs.iter().filter(|bug| !bug.known).map(|bug| bug.kind.code()));
        if let Some(proved) = outcome.proved {
            self.proved.ran += proved.ran;
            self.proved.unshared += proved.unshared;
            self.proved.proved += proved.proved;
            self.proved.protected += proved.protected;
            self.proved.known += proved.known;
        }
        self.errors += usize::from(outcome.error.is_some());
        if outcome.verdict == Verdict::Unsupported && outcome.error.is_some() {
            self.ended_by_errors += 1;
        }
        match outcome.verdict {
            Verdict::Failed if !outcome.fails() => self.known += 1,
            Verdict::Failed => self.failures.push(outcome.name.clone()),
            Verdict::Unsupported | Verdict::Interrupted => {}
            Verdict::Verified => self.complete += 1,
            Verdict::Passed if outcome.ended == Ended::Complete => {
                let assumes = !outcome.assumptions.is_empty();
                *(if assumes { &mut self.assuming } else { &mut self.warned }) += 1;
            }
            Verdict::Passed => *self.stopped.entry(outcome.ended.text()).or_insert(0) += 1,
        }
        if outcome.verdict == Verdict::Passed {
            let mut kinds: Vec<_> =
                outcome.assumptions.iter().map(|reported| reported.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            for kind in kinds {
                *self.assumptions.entry(kind).or_insert(0) += 1;
            }
        }
    }

    /// Tests that were checked.
    pub const fn total(&self) -> usize {
        self.verified + self.passed + self.interrupted + self.failed + self.unsupported
    }

    /// The exit status: the first of README.md#exit-codes that applies, in the order 2, 3, 1, 4, 5.
    /// A test with known findings only fails nothing, but is not verified.
    pub fn exit(&self, require: Option<Require>) -> Exit {
        if self.failed > self.known || self.cycles + self.audited > 0 {
            Exit::BugFound
        } else if self.unsupported > 0 || self.errors > 0 {
            Exit::Unsupported
        } else if require == Some(Require::Verified)
            && self.passed + self.interrupted + self.known > 0
        {
            Exit::NotVerified
        } else {
            Exit::Success
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decides() {
        let tally = |failed, unsupported, passed| Tally {
            failed,
            unsupported,
            passed,
            verified: 1,
            ..Tally::default()
        };
        let required = Some(Require::Verified);
        assert_eq!(tally(1, 1, 1).exit(required), Exit::BugFound);
        assert_eq!(tally(0, 1, 1).exit(required), Exit::Unsupported);
        assert_eq!(tally(0, 0, 1).exit(required), Exit::NotVerified);
        assert_eq!(tally(0, 0, 1).exit(None), Exit::Success);
        assert_eq!(tally(0, 0, 0).exit(required), Exit::Success);
        let cycles = Tally { cycles: 1, ..tally(0, 1, 0) };
        assert_eq!(cycles.exit(None), Exit::BugFound);
        let audited = Tally { audited: 1, ..tally(0, 1, 0) };
        assert_eq!(audited.exit(None), Exit::BugFound);
        let known = |failed| Tally { failed, known: 1, ..Tally::default() };
        assert_eq!(known(2).exit(None), Exit::BugFound);
        assert_eq!(known(1).exit(None), Exit::Success);
        assert_eq!(known(1).exit(required), Exit::NotVerified);
    }
}
