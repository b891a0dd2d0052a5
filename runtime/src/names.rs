//! What the search by transactions calls objects: memory by aligned blocks, locks and queues by their words.
//!
//! A block has 1, 2, 4 or 8 bytes. An access is one to the largest aligned blocks that make it up, and one to a part of every larger
//! block that these are in ([`Access::to_whole`]): so dependencies are exact to the byte, at one object for eight bytes.
//!
//! A word that was told as a lock and turns out to be used in other ways is told as data from then on ([`Names::use_as_data`],
//! [`Names::use_lock`]): the search starts again. That can happen only once a word. All of this outlives executions; a thread's memory
//! has the same addresses in all of them.
//!
//! [`Access::to_whole`]: lockred_search::footprint::Access::to_whole

use lockred_search::footprint::ObjectId;
use std::collections::{HashMap, HashSet};

/// Bytes of the largest block.
const LARGEST: usize = 8;

/// See the module.
#[derive(Default, Debug)]
pub struct Names {
    /// Words that were used as locks, and words that were used as data by atomic operations.
    locks: HashSet<usize>,
    data: HashSet<usize>,
    /// Per lock, the ways in which it was used.
    uses: HashMap<usize, u8>,
    /// Locks that are told as data.
    irregular: HashSet<usize>,
    renamed: bool,
    /// Queues of recognised condition variables, and queues that were used in other ways.
    condvars: HashSet<usize>,
    exposed: HashSet<usize>,
}

/// A way of using a lock. All three together do not go with being told as a lock: a writer that waits holds back readers, who
/// then hold back whoever waits for what they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Use {
    /// Shared acquisition.
    Reads = 1,
    /// Exclusive acquisition that changes the word while it waits.
    Announces = 2,
    /// Tries, and waiting for anything while it is held or is being acquired.
    Entangles = 4,
}

/// The lock at an address.
pub fn lock(address: usize) -> ObjectId {
    ObjectId(address as u64 | 1 << 62)
}

/// The address of a lock that [`lock`] named.
pub const fn address(lock: ObjectId) -> usize {
    (lock.0 & !(1 << 62)) as usize
}

/// The queue of waiters at an address.
pub fn queue(address: usize) -> ObjectId {
    ObjectId(address as u64 | 1 << 63)
}

/// The numbering of threads, which follows the order of their creation.
pub const NUMBERING: ObjectId = ObjectId(1 << 61);

/// The block of `size` bytes at an address that is a multiple of it.
const fn block(address: usize, size: usize) -> ObjectId {
    ObjectId(address as u64 | (size as u64) << 56)
}

/// Calls `visit` with the blocks of an access to `size` bytes, and whether it is one to a part.
pub fn blocks(address: usize, size: usize, mut visit: impl FnMut(ObjectId, bool)) {
    let end = address + size;
    let mut at = address;
    while at < end {
        let aligned = (at & at.wrapping_neg()).clamp(1, LARGEST);
        let mut size = aligned;
        while at + size > end {
            size /= 2;
        }
        visit(block(at, size), false);
        let mut whole = size * 2;
        while whole <= LARGEST {
            visit(block(at & !(whole - 1), whole), true);
            whole *= 2;
        }
        at += size;
    }
}

/// The first block of an access.
pub fn first_block(address: usize, size: usize) -> ObjectId {
    let mut first = None;
    blocks(address, size, |block, _| {
        first.get_or_insert(block);
    });
    first.unwrap_or(block(address, 1))
}

/// The aligned word in which an address is: locks and data are told apart by it.
const fn word(address: usize) -> usize {
    address & !3
}

impl Names {
    /// Whether the word at an address, which is about to be used as a lock, is told as one.
    pub fn is_lock(&mut self, address: usize) -> bool {
        let word = word(address);
        if self.data.contains(&word) {
            self.make_irregular(word);
        }
        self.locks.insert(word);
        !self.irregular.contains(&word)
    }

    /// The same, for who only asks.
    pub fn is_told_as_lock(&self, address: usize) -> bool {
        !self.irregular.contains(&word(address))
    }

    /// The lock at an address is used in this way.
    pub fn use_lock(&mut self, address: usize, how: Use) {
        let word = word(address);
        let uses = self.uses.entry(word).or_insert(0);
        *uses |= how as u8;
        if *uses == Use::Reads as u8 | Use::Announces as u8 | Use::Entangles as u8 {
            self.make_irregular(word);
        }
    }

    /// An atomic operation that is none of a lock uses `size` bytes.
    pub fn use_as_data(&mut self, address: usize, size: usize) {
        for word in [word(address), word(address + size - 1)] {
            if self.data.insert(word) && self.locks.contains(&word) {
                self.make_irregular(word);
            }
        }
    }

    /// The lock at an address is used in a way that locks are not.
    pub fn refuse_lock(&mut self, address: usize) {
        self.make_irregular(word(address));
    }

    /// The queue at an address is that of a condition variable. Whether it turns out to be more than that.
    pub fn use_condvar(&mut self, address: usize) -> bool {
        self.condvars.insert(address) && self.exposed.contains(&address)
    }

    /// The queue at an address is used in a way that condition variables do not know. Whether it turns out to be one.
    pub fn expose(&mut self, address: usize) -> bool {
        self.exposed.insert(address) && self.condvars.contains(&address)
    }

    fn make_irregular(&mut self, word: usize) {
        self.renamed |= self.irregular.insert(word);
    }

    /// Whether something has another name since the last time this was asked.
    pub fn take_renamed(&mut self) -> bool {
        std::mem::take(&mut self.renamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(address: usize, size: usize) -> Vec<(u64, u64, bool)> {
        let mut all = Vec::new();
        super::blocks(address, size, |block, part| {
            all.push((block.0 & 0xff_ffff, block.0 >> 56, part));
        });
        all
    }

    #[test]
    fn an_aligned_access_is_one_block_and_parts_of_larger_ones() {
        assert_eq!(blocks(16, 8), [(16, 8, false)]);
        assert_eq!(blocks(20, 4), [(20, 4, false), (16, 8, true)]);
        let byte = [(21, 1, false), (20, 2, true), (20, 4, true), (16, 8, true)];
        assert_eq!(blocks(21, 1), byte);
    }

    #[test]
    fn any_access_is_made_up_of_aligned_blocks() {
        let wholes = |address, size| -> Vec<(u64, u64)> {
            let all = blocks(address, size).into_iter();
            all.filter(|&(.., part)| !part).map(|(address, size, _)| (address, size)).collect()
        };
        assert_eq!(wholes(16, 24), [(16, 8), (24, 8), (32, 8)]);
        assert_eq!(wholes(17, 7), [(17, 1), (18, 2), (20, 4)]);
        assert_eq!(wholes(6, 12), [(6, 2), (8, 8), (16, 2)]);
    }

    #[test]
    fn a_lock_with_readers_whose_writers_announce_themselves_is_one_unless_it_is_entangled() {
        let mut names = Names::default();
        for how in [Use::Reads, Use::Announces, Use::Reads] {
            names.use_lock(0x100, how);
            assert!(names.is_lock(0x100));
        }
        names.use_lock(0x100, Use::Entangles);
        assert!(!names.is_lock(0x100));
    }

    #[test]
    fn a_queue_that_is_more_than_a_condition_variable_s_is_noticed_once() {
        let mut names = Names::default();
        assert!(!names.use_condvar(0x100) && !names.expose(0x200));
        assert!(names.expose(0x100) && names.use_condvar(0x200));
        assert!(!names.expose(0x100) && !names.use_condvar(0x200));
    }

    #[test]
    fn a_lock_that_is_also_data_is_told_as_data() {
        let mut names = Names::default();
        assert!(names.is_lock(0x100));
        names.use_as_data(0x104, 1);
        assert!(names.is_lock(0x100) && !names.take_renamed());
        names.use_as_data(0x100, 4);
        assert!(names.take_renamed());
        assert!(!names.is_lock(0x100));
        assert!(!names.is_lock(0x104), "it was used as data before");
    }
}
