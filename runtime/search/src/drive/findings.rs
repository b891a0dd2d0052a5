//! An observer that collects failures, each once, with the first schedule that led to it.

use std::collections::BTreeSet;

use crate::core::choice::Choice;
use crate::drive::observer::Observer;

/// What a search has found. It never stops a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Findings<F> {
    /// The failures.
    pub failures: BTreeSet<F>,
    /// A schedule for each failure, in the order in which they were found.
    pub schedules: Vec<(F, Vec<Choice>)>,
}

impl<F> Default for Findings<F> {
    fn default() -> Self {
        Self { failures: BTreeSet::new(), schedules: Vec::new() }
    }
}

impl<F: Ord + Clone> Observer<F> for Findings<F> {
    fn on_failure(&mut self, failure: F, schedule: &[Choice]) -> bool {
        if self.failures.insert(failure.clone()) {
            self.schedules.push((failure, schedule.to_vec()));
        }
        true
    }
}
