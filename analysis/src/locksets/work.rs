//! How much is done for the order of locks, before a program is too large for it.
//!
//! Locks that may be held come from all that a function calls, and pairs of them are more again;
//! those that are held surely are few, and have no part in this.

use std::cell::Cell;

/// Locks that are passed on, and locks in nestings that are made.
const MOST: usize = 5_000_000;

/// See the module.
#[derive(Debug)]
pub struct Work {
    /// `None`: nothing is done any more.
    left: Cell<Option<usize>>,
}

impl Default for Work {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Work {
    /// So much may be done.
    pub const fn of(most: usize) -> Self {
        Self { left: Cell::new(Some(most)) }
    }

    /// So much is to be done. Whether it may.
    pub fn spend(&self, amount: usize) -> bool {
        self.left.set(self.left.get().and_then(|left| left.checked_sub(amount)));
        self.goes_on()
    }

    /// Whether locks that may be held are still looked for.
    pub fn goes_on(&self) -> bool {
        self.left.get().is_some()
    }

    /// They are not any more.
    pub fn end(&self) {
        self.left.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_too_much_once_stays_so() {
        let work = Work::of(10);
        assert!(work.spend(4) && work.spend(6) && work.spend(0) && work.goes_on());
        assert!(!work.spend(1));
        assert!(!work.spend(0) && !work.goes_on());
        let work = Work::of(10);
        work.end();
        assert!(!work.spend(0));
    }
}
