//! Fingerprints of states: 128 bits from any [`Hash`], made for speed, and tables keyed by them.
//!
//! Two lanes of multiply and fold (the product of 128 bits, its halves xored), each with constants
//! of its own, see every word that is written. States are no adversary's input, so there is no
//! secret; two different states of N are taken for one with a probability of about N^2 / 2^129.

use crate::core::machine::Machine;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The fingerprint of a value.
pub fn of<T: Hash + ?Sized>(value: &T) -> u128 {
    let mut lanes = Lanes::default();
    value.hash(&mut lanes);
    lanes.fingerprint()
}

/// A machine that can tell its state.
pub trait Fingerprint: Machine {
    /// Equal for equal states only (up to hash collisions): from equal fingerprints on, everything
    /// is equal.
    fn fingerprint(&self) -> u128;
}

/// Tables by fingerprint.
pub type ByFingerprint<T> = HashMap<u128, T, BuildHasherDefault<AsIs>>;

/// Tables by addresses that are looked up often: with the hash of states, which is several times as
/// fast as the standard one.
pub type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<Lanes>>;

/// Sets of fingerprints.
pub(crate) type Fingerprints = HashSet<u128, BuildHasherDefault<AsIs>>;

/// Digits of pi, as in Blowfish's tables.
const KEYS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

/// Hashes into 128 bits.
#[derive(Clone, Debug)]
pub struct Lanes(u64, u64);

impl Default for Lanes {
    fn default() -> Self {
        Self(KEYS[0], KEYS[2])
    }
}

impl Lanes {
    /// The fingerprint of what was written.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        let (high, low) = (fold(self.0 ^ KEYS[1], KEYS[2]), fold(self.1 ^ KEYS[3], KEYS[0]));
        u128::from(high) << 64 | u128::from(low)
    }
}

/// The halves of the product, xored. (`one` is not 0 but by chance, which the rotations in
/// `write_u64` make up for.)
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for Lanes {
    fn finish(&self) -> u64 {
        self.fingerprint() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.write_u64(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = fold(self.0.rotate_left(23) ^ word, KEYS[1] | 1).wrapping_add(word);
        self.1 =
            fold(self.1.rotate_left(41) ^ word, KEYS[3] | 1).wrapping_add(word.rotate_left(32));
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// A fingerprint is its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_differ_in_little_differ_everywhere() {
        // Words in which a few bits differ, one, two or three of them, in any place.
        let mut seen = Fingerprints::default();
        let (mut high, mut low) = (HashSet::new(), HashSet::new());
        let values = [0u64, 1, 2, 3, 1 << 32, 2 << 32, u64::MAX, u64::MAX - 1, 1 << 63, KEYS[0]];
        for a in values {
            for b in values {
                for c in values {
                    for d in values {
                        for words in [&[a, b, c, d][..], &[a, b, c, d, 0]] {
                            let fingerprint = of(words);
                            assert!(seen.insert(fingerprint), "{words:?}");
                            high.insert((fingerprint >> 64) as u64);
                            low.insert(fingerprint as u64);
                        }
                    }
                }
            }
        }
        assert_eq!((high.len(), low.len()), (seen.len(), seen.len()));
    }

    #[test]
    fn every_bit_of_the_input_changes_half_of_the_output() {
        let flipped = |bit: u32| {
            let changed = of(&(1u64 << bit, 7u64)) ^ of(&(0u64, 7u64));
            changed.count_ones()
        };
        for bit in 0..64 {
            assert!((32..=96).contains(&flipped(bit)), "bit {bit}: {}", flipped(bit));
        }
    }
}
