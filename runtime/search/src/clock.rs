//! Vector clocks over the runs of an execution: how many runs of every thread happen before.

use crate::machine::ThreadId;

/// A vector clock. Threads beyond its length count as 0. Keeps its memory when it is cleared.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of runs of `thread` that are before.
    pub(crate) fn of(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    pub(crate) fn set(&mut self, thread: ThreadId, runs: u32) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        self.0[thread.index()] = runs;
    }

    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether everything that is before by this clock is so by the other.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        (0..self.0.len() as u32).map(ThreadId).all(|thread| self.of(thread) <= other.of(thread))
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}
