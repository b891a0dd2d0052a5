//! Locks that walks have met under each other at places of their targets, and which of these close
//! cycles.

use std::collections::{BTreeMap, BTreeSet};

/// Pairs of locks that are kept: cycles are looked for among them.
const MOST: usize = 1_000;

/// What walks have met.
#[derive(Debug, Default)]
pub struct Met {
    /// By address of a lock: those that were acquired under it.
    under: BTreeMap<usize, BTreeSet<usize>>,
    /// The pairs of these that are part of cycles.
    closing: BTreeSet<(usize, usize)>,
}

impl Met {
    /// Whether a lock is known to be acquired under another one.
    pub fn knows(&self, pair: (usize, usize)) -> bool {
        self.under.get(&pair.0).is_some_and(|under| under.contains(&pair.1))
    }

    /// Locks were acquired under others.
    pub fn add(&mut self, pairs: impl Iterator<Item = (usize, usize)>) {
        let before = self.number();
        for (held, wanted) in pairs.take(MOST.saturating_sub(before)) {
            self.under.entry(held).or_default().insert(wanted);
        }
        if self.number() > before {
            let all =
                self.under.iter().flat_map(|(&held, under)| under.iter().map(move |&w| (held, w)));
            self.closing = all.filter(|&(held, wanted)| self.leads(wanted, held)).collect();
        }
    }

    /// Whether acquiring one lock under another one is part of a cycle.
    pub fn closes(&self, pair: (usize, usize)) -> bool {
        self.closing.contains(&pair)
    }

    /// Whether some lock is acquired under this one as a part of a cycle.
    pub fn is_outer(&self, lock: usize) -> bool {
        self.closing.iter().any(|&(held, _)| held == lock)
    }

    fn number(&self) -> usize {
        self.under.values().map(BTreeSet::len).sum()
    }

    /// Whether locks that were acquired under each other lead from one to the other.
    fn leads(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
        while let Some(lock) = left.pop() {
            if lock == to {
                return true;
            }
            let under = self.under.get(&lock).into_iter().flatten();
            left.extend(under.filter(|&&next| seen.insert(next)));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_part_of_a_cycle_closes_one() {
        let mut met = Met::default();
        met.add([(1, 2), (2, 3), (3, 4)].into_iter());
        assert!(met.closing.is_empty() && met.knows((1, 2)) && !met.knows((2, 1)));
        met.add([(3, 1)].into_iter());
        assert_eq!(met.closing, BTreeSet::from([(1, 2), (2, 3), (3, 1)]));
    }

    #[test]
    fn no_more_pairs_are_kept_than_can_be_looked_at() {
        let mut met = Met::default();
        met.add((0..2 * MOST).map(|lock| (lock, lock + 1)));
        assert_eq!(met.number(), MOST);
        assert!(!met.knows((MOST, MOST + 1)));
    }
}
