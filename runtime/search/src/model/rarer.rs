//! The part of a state that only programs over the rarer members of the lock family have: empty otherwise, so that it costs
//! nothing to keep and to restore.

use super::program::{Body, Mutex, Program};

/// How the rarer locks stand.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Rarer {
    /// How often the owners of re-entrant mutexes have locked them again; by mutex, if any is re-entrant.
    pub depths: Vec<u8>,
    /// How the onces stand.
    pub onces: Vec<Running>,
}

/// How a once stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Running {
    /// Nobody has come yet.
    NotYet,
    /// The thread runs the body (or has died in it).
    By(Body),
    /// The body has been run.
    Done,
}

impl Clone for Rarer {
    fn clone(&self) -> Self {
        Self { depths: self.depths.clone(), onces: self.onces.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.depths.clone_from(&other.depths);
        self.onces.clone_from(&other.onces);
    }
}

impl Rarer {
    pub(super) fn root(program: &Program) -> Self {
        let reentrant = if program.reentrant.is_empty() { 0 } else { program.mutexes };
        Self {
            depths: vec![0; usize::from(reentrant)],
            onces: vec![Running::NotYet; usize::from(program.onces)],
        }
    }

    /// The depth of a mutex that may be re-entrant; it becomes `depth`.
    pub(super) fn set_depth(&mut self, mutex: Mutex, depth: u8) -> u8 {
        let kept = self.depths.get_mut(usize::from(mutex.0));
        kept.map_or(0, |kept| std::mem::replace(kept, depth))
    }
}
