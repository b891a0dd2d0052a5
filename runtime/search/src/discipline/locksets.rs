//! Which locks protect which data: candidate locksets that every access intersects (Savage and
//! others: Eraser, TOCS 1997; Flanagan and Qadeer: Transactions for software model checking, SoftMC
//! 2003).

use crate::core::chains::ByObject;
use crate::core::footprint::ObjectId;
use serde::{Deserialize, Serialize};

use super::operation::Mode;

/// What is known of one piece of data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Candidates {
    /// Locks that were held at every access, exclusively at every write.
    locks: Vec<ObjectId>,
    written: bool,
    /// Some access was plain. (Atomic ones alone need no protection.)
    plain: bool,
}

/// The candidate locksets of all data.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Locksets(ByObject<Candidates>);

impl Locksets {
    /// Notes an access under these locks. Returns whether the data may still be protected: it was
    /// never written, or some lock was always held.
    pub(crate) fn note(
        &mut self,
        object: ObjectId,
        writes: bool,
        plain: bool,
        held: &[(ObjectId, Mode)],
    ) -> bool {
        let guards = |held: &&(ObjectId, Mode)| !writes || held.1 == Mode::Exclusive;
        let candidates = self.0.entry(object).or_insert_with(|| Candidates {
            locks: held.iter().filter(guards).map(|&(lock, _)| lock).collect(),
            written: false,
            plain: false,
        });
        candidates
            .locks
            .retain(|&lock| held.iter().filter(guards).any(|&(other, _)| other == lock));
        candidates.written |= writes;
        candidates.plain |= plain;
        !candidates.plain || !candidates.written || !candidates.locks.is_empty()
    }

    /// The locks that were held at every access to the data.
    #[must_use]
    pub fn protecting(&self, object: ObjectId) -> &[ObjectId] {
        self.0.get(&object).map_or(&[], |candidates| &candidates.locks)
    }
}
