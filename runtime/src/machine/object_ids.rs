//! Object identities for the transactional search: aligned memory blocks, lock words, futex queues.
//!
//! A block has 1, 2, 4 or 8 bytes. An access is one to the largest aligned blocks that make it up,
//! and one to a part of every larger block that contains these ([`Access::to_whole`]). So
//! dependencies are exact to the byte, at one object for eight bytes.
//!
//! A lock word that the program also uses in other ways becomes data ([`ObjectIds::use_word`]), and
//! the search starts again. That happens at most once a word. All of this outlives executions; a
//! thread's memory has the same addresses in all of them.
//!
//! [`Access::to_whole`]: lockred_search::footprint::Access::to_whole

use lockred_search::footprint::ObjectId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Bytes of the largest block.
const LARGEST: usize = 8;

/// A way in which a word, or the queue of a futex, was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Use {
    /// Shared acquisition of a lock.
    Reads = 1 << 0,
    /// Exclusive acquisition that changes the word while it waits.
    Announces = 1 << 1,
    /// Tries, and waiting for anything while the lock is held or is being acquired.
    Entangles = 1 << 2,
    /// As a lock.
    Locks = 1 << 3,
    /// By atomic operations that are none of a lock.
    Data = 1 << 4,
    /// As a lock, in a way that locks are not.
    Refused = 1 << 5,
    /// The queue is that of a recognised condition variable.
    Condvar = 1 << 6,
    /// The queue is used in a way that condition variables do not know.
    Exposed = 1 << 7,
}

/// Ways of use, as a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Uses(u8);

impl Uses {
    const fn all(self, uses: &[Use]) -> bool {
        let mut number = 0;
        while number < uses.len() {
            if self.0 & uses[number] as u8 == 0 {
                return false;
            }
            number += 1;
        }
        true
    }

    /// Whether a lock is modelled as data. (A waiting writer blocks new readers, and a blocked
    /// reader may hold other locks. That is more than a lock.)
    const fn is_irregular(self) -> bool {
        self.all(&[Use::Refused])
            || self.all(&[Use::Locks, Use::Data])
            || self.all(&[Use::Reads, Use::Announces, Use::Entangles])
    }
}

/// See the module.
#[derive(Default, Debug, Serialize, Deserialize)]
pub struct ObjectIds {
    /// Per word, by its address.
    words: HashMap<usize, Uses>,
    /// Per queue, by the address of the futex.
    queues: HashMap<usize, Uses>,
    /// Some handle of a thread was reported as dropped unseen.
    handles_unseen: bool,
    /// Others can observe who drops the handle of a thread first.
    handles_seen: bool,
    renamed: bool,
}

/// The bits of an object's number that are an address.
pub const ADDRESS: u64 = (1 << 56) - 1;

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

/// The eight bytes at an address that is a multiple of eight.
pub const fn granule(address: usize) -> ObjectId {
    block(address, LARGEST)
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

impl ObjectIds {
    /// The word at an address is used in this way. Whether it is reported as a lock.
    pub fn use_word(&mut self, address: usize, how: Use) -> bool {
        let uses = self.words.entry(word(address)).or_default();
        let before = *uses;
        uses.0 |= how as u8;
        self.renamed |= uses.is_irregular() && !before.is_irregular();
        !uses.is_irregular()
    }

    /// Whether the word at an address is reported as a lock, if it is one.
    pub fn is_reported_as_lock(&self, address: usize) -> bool {
        self.words.get(&word(address)).is_none_or(|uses| !uses.is_irregular())
    }

    /// An atomic operation that is none of a lock uses `size` bytes.
    pub fn use_as_data(&mut self, address: usize, size: usize) {
        self.use_word(address, Use::Data);
        if word(address + size - 1) != word(address) {
            self.use_word(address + size - 1, Use::Data);
        }
    }

    /// The queue of the futex at an address is used as that of a condition variable, or otherwise.
    /// Whether it thereby turns out to be used in both ways.
    pub fn use_queue(&mut self, address: usize, how: Use) -> bool {
        let uses = self.queues.entry(address).or_default();
        let before = *uses;
        uses.0 |= how as u8;
        let both = [Use::Condvar, Use::Exposed];
        uses.all(&both) && !before.all(&both)
    }

    /// A thread drops its handle of another thread. Whether that is reported as something that
    /// nobody sees.
    pub fn drop_handle(&mut self) -> bool {
        self.handles_unseen |= !self.handles_seen;
        !self.handles_seen
    }

    /// Others can observe who drops the handle of a thread first.
    pub fn see_handles(&mut self) {
        self.renamed |= self.handles_unseen && !self.handles_seen;
        self.handles_seen = true;
    }

    /// Something is reported in another way from now on.
    pub fn rename(&mut self) {
        self.renamed = true;
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
        let mut names = ObjectIds::default();
        for how in [Use::Reads, Use::Announces, Use::Reads] {
            assert!(names.use_word(0x100, how));
        }
        assert!(!names.use_word(0x100, Use::Entangles));
        assert!(names.take_renamed() && !names.is_reported_as_lock(0x100));
    }

    #[test]
    fn a_queue_that_is_more_than_a_condition_variable_s_is_noticed_once() {
        let mut names = ObjectIds::default();
        assert!(!names.use_queue(0x100, Use::Condvar) && !names.use_queue(0x200, Use::Exposed));
        assert!(names.use_queue(0x100, Use::Exposed) && names.use_queue(0x200, Use::Condvar));
        assert!(!names.use_queue(0x100, Use::Exposed) && !names.use_queue(0x200, Use::Condvar));
    }

    #[test]
    fn a_lock_that_is_also_data_is_reported_as_data() {
        let mut names = ObjectIds::default();
        assert!(names.use_word(0x100, Use::Locks));
        names.use_as_data(0x104, 1);
        assert!(names.use_word(0x100, Use::Locks) && !names.take_renamed());
        names.use_as_data(0x100, 4);
        assert!(names.take_renamed());
        assert!(!names.use_word(0x100, Use::Locks) && !names.take_renamed());
        assert!(!names.use_word(0x104, Use::Locks), "it was used as data before");
    }

    #[test]
    fn handles_that_are_seen_are_a_change_only_if_some_was_reported_as_unseen() {
        let mut names = ObjectIds::default();
        names.see_handles();
        assert!(!names.drop_handle() && !names.take_renamed());
        let mut names = ObjectIds::default();
        assert!(names.drop_handle());
        names.see_handles();
        assert!(!names.drop_handle() && names.take_renamed());
        names.see_handles();
        assert!(!names.take_renamed());
    }

    #[test]
    fn a_lock_of_somebody_else_is_refused() {
        let mut names = ObjectIds::default();
        assert!(names.is_reported_as_lock(0x100) && names.use_word(0x100, Use::Locks));
        assert!(!names.use_word(0x100, Use::Refused) && !names.is_reported_as_lock(0x102));
    }
}
