//! The part of a state that only programs over the rarer members of the lock family have: empty otherwise, so that it costs
//! nothing to keep and to restore.

use super::program::{Mutex, Program};

/// How the rarer locks stand.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Rarer {
    /// How often the owners of re-entrant mutexes have locked them again; by mutex, if any is re-entrant.
    pub depths: Vec<u8>,
}

impl Clone for Rarer {
    fn clone(&self) -> Self {
        Self { depths: self.depths.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.depths.clone_from(&other.depths);
    }
}

impl Rarer {
    pub(super) fn root(program: &Program) -> Self {
        let reentrant = if program.reentrant.is_empty() { 0 } else { program.mutexes };
        Self { depths: vec![0; usize::from(reentrant)] }
    }

    /// The depth of a mutex that may be re-entrant; it becomes `depth`.
    pub(super) fn set_depth(&mut self, mutex: Mutex, depth: u8) -> u8 {
        let kept = self.depths.get_mut(usize::from(mutex.0));
        kept.map_or(0, |kept| std::mem::replace(kept, depth))
    }
}
