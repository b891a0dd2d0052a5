//! Sets of threads, as bits.

use crate::core::machine::ThreadId;
use crate::core::thin::Thin;
use serde::{Deserialize, Serialize};

/// A set of threads. Keeps its memory when it is cleared.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ThreadSet {
    /// The threads below 64. Most programs have no others.
    near: u64,
    /// The others, 64 a word.
    far: Thin<u64>,
}

impl ThreadSet {
    /// Removes all threads.
    pub fn clear(&mut self) {
        self.near = 0;
        self.far.clear();
    }

    /// Adds a thread.
    #[inline]
    pub fn insert(&mut self, thread: ThreadId) {
        let (word, bit) = place(thread);
        if word == 0 {
            self.near |= bit;
            return;
        }
        if self.far.len() < word {
            self.far.grow().resize(word, 0);
        }
        self.far[word - 1] |= bit;
    }

    /// Removes a thread.
    #[inline]
    pub fn remove(&mut self, thread: ThreadId) {
        let (word, bit) = place(thread);
        if let Some(w) = self.word_mut(word) {
            *w &= !bit;
        }
    }

    /// Removes the threads that `keeps` does not hold of.
    pub fn retain(&mut self, keeps: impl Fn(ThreadId) -> bool) {
        for word in 0..=self.far.len() {
            let mut rest = self.word(word);
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let thread = ThreadId(word as u32 * 64 + bit);
                if !keeps(thread) {
                    self.remove(thread);
                }
            }
        }
    }

    /// Whether the thread is a member.
    #[inline]
    pub fn contains(&self, thread: ThreadId) -> bool {
        let (word, bit) = place(thread);
        self.word(word) & bit != 0
    }

    /// Whether there is no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.near == 0 && self.far.iter().all(|&w| w == 0)
    }

    /// Whether a thread is a member of both.
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        self.near & other.near != 0 || self.far.iter().zip(&other.far).any(|(a, b)| a & b != 0)
    }

    /// The members, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        (0..=self.far.len()).flat_map(|word| {
            let mut rest = self.word(word);
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

    #[inline]
    fn word(&self, word: usize) -> u64 {
        match word {
            0 => self.near,
            _ => self.far.get(word - 1).copied().unwrap_or(0),
        }
    }

    #[inline]
    fn word_mut(&mut self, word: usize) -> Option<&mut u64> {
        match word {
            0 => Some(&mut self.near),
            _ => self.far.get_mut(word - 1),
        }
    }
}

const fn place(thread: ThreadId) -> (usize, u64) {
    (thread.index() / 64, 1 << (thread.0 % 64))
}
