//! Vector clocks: how much of every other thread's past a thread has seen.

/// A vector clock. Component `t` is the last epoch of thread `t` that is included; threads that it
/// has no component for count as 0, "nothing of it". Grows on demand, so the number of threads is
/// not limited here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    /// The component of one thread.
    #[inline]
    pub(crate) fn get(&self, thread: usize) -> u32 {
        self.0.get(thread).copied().unwrap_or(0)
    }

    /// Sets the component of one thread.
    pub(crate) fn set(&mut self, thread: usize, epoch: u32) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = epoch;
    }

    /// The least upper bound of both.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes a copy, keeping the memory.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }

    /// Becomes the bottom element, keeping the memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether it is known to be the bottom element (a clock of explicit zeros never arises).
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_the_componentwise_maximum() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.set(0, 3);
        a.set(2, 1);
        b.set(0, 1);
        b.set(3, 7);
        a.join(&b);
        assert_eq!((0..5).map(|t| a.get(t)).collect::<Vec<_>>(), [3, 0, 1, 7, 0]);
        a.clear();
        assert!(a.is_empty() && !b.is_empty());
    }
}
