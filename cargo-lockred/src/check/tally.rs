//! What a whole check came to: counts, and the exit status.

use super::outcome::{Ended, Outcome};
use crate::cli::check::Require;
use crate::exit::Exit;
use lockred_trace::codes::{AssumptionKind, Verdict};
use std::collections::BTreeMap;

/// Counts over all tests that were checked.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// `verified` tests.
    pub verified: usize,
    /// `passed` tests.
    pub passed: usize,
    /// `failed` tests.
    pub failed: usize,
    /// `unsupported` tests, those ended by errors of ours included.
    pub unsupported: usize,
    /// Tests that an error of ours ended.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Tests without a bug whose search was complete.
    pub complete: usize,
    /// Tests without a bug whose search was stopped, by what stopped it.
    pub stopped: BTreeMap<&'static str, usize>,
    /// Names of the tests that failed.
    pub failures: Vec<String>,
    /// Assumptions, with how many tests rest on each.
    pub assumptions: BTreeMap<AssumptionKind, usize>,
}

impl Tally {
    /// Counts one test.
    pub fn add(&mut self, outcome: &Outcome) {
        match outcome.verdict {
            Verdict::Verified => self.verified += 1,
            Verdict::Passed => self.passed += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Unsupported => self.unsupported += 1,
        }
        self.warnings += outcome.warnings.len();
        self.errors += usize::from(outcome.error.is_some());
        match outcome.verdict {
            Verdict::Failed => self.failures.push(outcome.name.clone()),
            Verdict::Unsupported => {}
            _ if outcome.ended == Ended::Complete => self.complete += 1,
            _ => *self.stopped.entry(outcome.ended.text()).or_insert(0) += 1,
        }
        if outcome.verdict == Verdict::Passed {
            let mut kinds: Vec<_> = outcome.assumptions.iter().map(|told| told.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            for kind in kinds {
                *self.assumptions.entry(kind).or_insert(0) += 1;
            }
        }
    }

    /// Tests that were checked.
    pub const fn total(&self) -> usize {
        self.verified + self.passed + self.failed + self.unsupported
    }

    /// The exit status (DESIGN.md section 8: the first that applies).
    pub fn exit(&self, require: Option<Require>) -> Exit {
        if self.failed > 0 {
            Exit::BugFound
        } else if self.unsupported > 0 || self.errors > 0 {
            Exit::Unsupported
        } else if require == Some(Require::Verified) && self.passed > 0 {
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
    }
}
