//! What directed searches walk towards ([`lockred_search::targeted`]): cycles of mutexes that are
//! locked under each other.

use super::machine::ModelMachine;
use super::program::{Body, Mutex, Statement};
use super::state::Phase;
use lockred_search::machine::Approach;

/// A mutex that is held, and one that is locked under it.
pub type Nesting = (Mutex, Mutex);

impl ModelMachine {
    /// The same machine, with these targets, numbered from 0: the nestings of each cycle.
    #[must_use]
    pub fn with_targets(mut self, targets: Vec<Vec<Nesting>>) -> Self {
        self.targets = targets;
        self
    }

    /// How near the thread is to the target.
    pub(super) fn approach_of(&self, number: usize, target: u32) -> Approach {
        let wanted = match (self.state.threads[number].phase, self.next(number)) {
            (Phase::Woken(a), _) => a,
            (Phase::Ready, _) if self.is_inner(number) => return Approach::Away,
            (Phase::Ready, Some(&(Statement::Lock(a) | Statement::ReadLock(a)))) => a,
            _ => return Approach::Away,
        };
        let Some(nestings) = self.targets.get(target as usize) else { return Approach::Away };
        let holds = |a: Mutex| {
            let me = Body(number as u8);
            [false, true].into_iter().any(|shared| self.state.holds(me, a, shared))
        };
        if nestings.iter().any(|&(held, inner)| inner == wanted && holds(held)) {
            Approach::Inner
        } else if nestings.iter().any(|&(held, _)| held == wanted) {
            Approach::Outer
        } else {
            Approach::Away
        }
    }
}
