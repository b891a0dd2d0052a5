//! What a machine gives beyond [`Transactional`] to be searched by persistent sets: what its
//! threads may still do.

use lockred_search::footprint::{Access, ObjectId};
use lockred_search::machine::ThreadId;
use lockred_search::transactional::Transactional;

/// What a thread may still do, until it ends: more than it will do, never less.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prospect {
    /// Accesses that it and the threads it may start may still make, as in the footprints of single
    /// runs: locks are acquired and released. An end is an [`Access::End`], a join that may come
    /// after taking a lock an [`Access::LateJoin`] of [`lockred_search::footprint::thread_object`];
    /// other joins are left out.
    pub accesses: Vec<(ObjectId, Access)>,
    /// It may come by the same place twice.
    pub loops: bool,
    /// Its next operation waits for the end of this thread, which has not ended.
    pub awaits: Option<ThreadId>,
}

impl Prospect {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.accesses.clear();
        self.loops = false;
        self.awaits = None;
    }
}

/// A machine that knows what its threads may still do.
pub trait Foreseeing: Transactional {
    /// What `thread` may still do from where it stands, in any state of the others. Cleared and
    /// filled; empty for a thread that has ended or was not started yet, and for no other. May not
    /// miss anything.
    fn foresee(&mut self, thread: ThreadId, prospect: &mut Prospect);
}
