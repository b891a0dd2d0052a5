//! Vector clocks over the runs of an execution: how many runs of every thread happen before.

use crate::core::machine::ThreadId;
use crate::core::thin::Thin;

/// Threads whose counts need no memory of their own. Most programs have no more, and clocks are
/// copied and joined all the time.
const NEAR: usize = 8;

/// A vector clock. Threads that it does not mention count as 0. Keeps its memory when it is
/// cleared.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Clock {
    near: [u32; NEAR],
    /// The counts of threads from `NEAR` on.
    far: Thin<u32>,
}

impl Clock {
    /// Nothing is before.
    pub fn clear(&mut self) {
        self.near = [0; NEAR];
        self.far.clear();
    }

    /// The number of runs of `thread` that are before.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> u32 {
        match self.near.get(thread.index()) {
            Some(&runs) => runs,
            None => self.far.get(thread.index() - NEAR).copied().unwrap_or(0),
        }
    }

    /// So many runs of `thread` are before.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, runs: u32) {
        if let Some(slot) = self.near.get_mut(thread.index()) {
            *slot = runs;
            return;
        }
        let far = thread.index() - NEAR;
        if self.far.len() <= far {
            self.far.grow().resize(far + 1, 0);
        }
        self.far[far] = runs;
    }

    /// What is before by the other clock is so by this one, too.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.near.iter_mut().zip(&other.near) {
            *mine = (*mine).max(*theirs);
        }
        if !other.far.is_empty() {
            self.join_far(other);
        }
    }

    fn join_far(&mut self, other: &Self) {
        if self.far.len() < other.far.len() {
            self.far.grow().resize(other.far.len(), 0);
        }
        for (mine, theirs) in self.far.iter_mut().zip(&other.far) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether everything that is before by this clock is so by the other.
    pub fn is_within(&self, other: &Self) -> bool {
        let near = self.near.iter().zip(&other.near).all(|(mine, theirs)| mine <= theirs);
        let mut far = (NEAR..NEAR + self.far.len()).map(|number| ThreadId(number as u32));
        near && far.all(|thread| self.of(thread) <= other.of(thread))
    }

    /// Becomes the other clock, keeping the memory.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.near = other.near;
        if !(self.far.is_empty() && other.far.is_empty()) {
            let far = self.far.grow();
            far.clear();
            far.extend_from_slice(&other.far);
        }
    }
}
