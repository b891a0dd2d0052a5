//! Sets of small numbers, as sorted words of 64 bits: sparse, and quick to unite.

/// A set of numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bits {
    /// Numbers of words and words, sorted; no word is 0.
    words: Vec<(u32, u64)>,
}

impl Bits {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many there are. O(words).
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|(_, w)| w.count_ones() as usize).sum()
    }

    /// Whether a number is in it. O(log words).
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        self.words
            .binary_search_by_key(&(number / 64), |w| w.0)
            .is_ok_and(|at| self.words[at].1 >> (number % 64) & 1 != 0)
    }

    /// Adds a number; whether it is new. O(words).
    pub fn insert(&mut self, number: u32) -> bool {
        let bit = 1_u64 << (number % 64);
        match self.words.binary_search_by_key(&(number / 64), |w| w.0) {
            Ok(at) => {
                let new = self.words[at].1 & bit == 0;
                self.words[at].1 |= bit;
                new
            }
            Err(at) => {
                self.words.insert(at, (number / 64, bit));
                true
            }
        }
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().flat_map(|&(block, word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    block * 64 + bit
                })
            })
        })
    }

    /// Adds what is in another set; what was new goes to `fresh` too. Whether anything was. O(words
    /// of both), and in place where all words are there.
    pub fn add(&mut self, other: &Self, fresh: &mut Self) -> bool {
        let mut news: Vec<(u32, u64)> = Vec::new();
        let (mut at, mut missing) = (0, 0);
        for &(block, word) in &other.words {
            while at < self.words.len() && self.words[at].0 < block {
                at += 1;
            }
            match self.words.get_mut(at) {
                Some((mine, bits)) if *mine == block => {
                    let new = word & !*bits;
                    if new != 0 {
                        news.push((block, new));
                        *bits |= new;
                    }
                }
                _ => {
                    news.push((block, word));
                    missing += 1;
                }
            }
        }
        if news.is_empty() {
            return false;
        }
        if missing > 0 {
            self.insert_words(&news, missing);
        }
        if fresh.words.is_empty() {
            fresh.words = news;
        } else {
            fresh.add(&Self { words: news }, &mut Self::default());
        }
        true
    }

    /// Adds those of some sorted words that are not there, of which there are so many: from the
    /// end, in place.
    fn insert_words(&mut self, words: &[(u32, u64)], missing: usize) {
        let mut from = self.words.len();
        self.words.resize(from + missing, (0, 0));
        let mut to = self.words.len();
        for &(block, word) in words.iter().rev() {
            while from > 0 && self.words[from - 1].0 > block {
                (from, to) = (from - 1, to - 1);
                self.words[to] = self.words[from];
            }
            if from == 0 || self.words[from - 1].0 != block {
                to -= 1;
                self.words[to] = (block, word);
            }
        }
    }

    /// What is in it and not in another set.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let rest = |&(block, word): &(u32, u64)| {
            let theirs = other.words.binary_search_by_key(&block, |w| w.0);
            let word = word & !theirs.map_or(0, |at| other.words[at].1);
            (word != 0).then_some((block, word))
        };
        Self { words: self.words.iter().filter_map(rest).collect() }
    }

    /// Adds what is in another set.
    pub fn unite(&mut self, other: Self) {
        if self.words.is_empty() {
            self.words = other.words;
        } else if !other.words.is_empty() {
            self.add(&other, &mut Self::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sets_do_what_sets_do() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32
        };
        for _ in 0..200 {
            let (mut a, mut b) = (BTreeSet::new(), BTreeSet::new());
            let (mut x, mut y) = (Bits::default(), Bits::default());
            for _ in 0..next() % 40 {
                let number = next() % 500;
                assert_eq!(a.insert(number), x.insert(number));
                let number = next() % 500;
                assert_eq!(b.insert(number), y.insert(number));
            }
            let mut fresh = Bits::default();
            let new: Vec<u32> = b.difference(&a).copied().collect();
            assert_eq!(x.add(&y, &mut fresh), !new.is_empty());
            assert_eq!(fresh.iter().collect::<Vec<_>>(), new);
            let all: Vec<u32> = a.union(&b).copied().collect();
            assert_eq!(x.iter().collect::<Vec<_>>(), all);
            assert_eq!(x.len(), all.len());
            assert!((0..500).all(|n| x.contains(n) == all.contains(&n)));
        }
    }
}
