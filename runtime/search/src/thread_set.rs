//! Sets of threads, as bits.

use crate::machine::ThreadId;

/// A set of threads. Keeps its memory when it is cleared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadSet(Vec<u64>);

impl ThreadSet {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn insert(&mut self, thread: ThreadId) {
        let (word, bit) = place(thread);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    pub(crate) fn remove(&mut self, thread: ThreadId) {
        let (word, bit) = place(thread);
        if let Some(w) = self.0.get_mut(word) {
            *w &= !bit;
        }
    }

    pub(crate) fn retain(&mut self, keeps: impl Fn(ThreadId) -> bool) {
        for word in 0..self.0.len() {
            for bit in (0..64).filter(|bit| self.0[word] >> bit & 1 == 1).collect::<Vec<u32>>() {
                if !keeps(ThreadId(word as u32 * 64 + bit)) {
                    self.0[word] &= !(1 << bit);
                }
            }
        }
    }

    pub(crate) fn contains(&self, thread: ThreadId) -> bool {
        let (word, bit) = place(thread);
        self.0.get(word).is_some_and(|w| w & bit != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// The members, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(ThreadId(word as u32 * 64 + bit))
            })
        })
    }
}

const fn place(thread: ThreadId) -> (usize, u64) {
    (thread.index() / 64, 1 << (thread.0 % 64))
}
