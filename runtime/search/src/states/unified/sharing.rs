//! Which objects several threads access, and not only to read. What one thread alone accesses, or
//! nobody changes, races with nothing and orders nothing: it is left out of footprints, which are
//! long where threads compute.
//!
//! What was left out and turns out to be shared starts the search again.

use crate::core::chains::ByObject;
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;

/// Who accesses an object.
#[derive(Clone, Copy, Debug)]
struct Owner {
    /// The first thread that accessed it.
    thread: ThreadId,
    /// Others do so, too.
    several: bool,
    /// Somebody changes it.
    changes: bool,
    /// The pass over the program in which it was left out.
    left_out: u32,
}

impl Owner {
    const fn is_shared(&self) -> bool {
        self.several && self.changes
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    owners: ByObject<Owner>,
    /// The pass over the program, counted from 1.
    pass: u32,
    /// How many objects are shared.
    shared: u32,
    /// Something that was left out in this pass is shared.
    exposed: bool,
}

impl Sharing {
    /// Another pass over the program begins, for which nothing was left out yet.
    pub(super) fn begin(&mut self) {
        self.pass += 1;
        self.exposed = false;
    }

    /// A thread accesses an object, or waits to.
    pub(super) fn note(&mut self, thread: ThreadId, object: ObjectId, access: Access) {
        let new = Owner { thread, several: false, changes: false, left_out: 0 };
        let owner = self.owners.entry(object).or_insert(new);
        let before = owner.is_shared();
        owner.several |= owner.thread != thread;
        owner.changes |= !access.only_reads();
        if owner.is_shared() && !before {
            self.shared += 1;
            self.exposed |= owner.left_out == self.pass;
        }
    }

    /// How many objects are shared, as far as it is known.
    pub(super) const fn shared(&self) -> u32 {
        self.shared
    }

    /// Whether the object is not shared, as far as it is known, so that it is left out.
    pub(super) fn leaves_out(&mut self, object: ObjectId) -> bool {
        match self.owners.get_mut(&object) {
            Some(owner) if !owner.is_shared() => {
                owner.left_out = self.pass;
                true
            }
            _ => false,
        }
    }

    /// Whether something that was left out turned out to be shared since this was last asked.
    pub(super) fn take_exposed(&mut self) -> bool {
        std::mem::take(&mut self.exposed)
    }
}
