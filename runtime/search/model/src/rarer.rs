//! The part of a state that only programs over the rarer members of the lock family have: empty
//! otherwise, so that it costs nothing to keep and to restore.

use super::program::{Body, Condvar, Mutex, Program};

/// How the rarer locks stand.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Rarer {
    /// How often the owners of re-entrant mutexes have locked them again; by mutex, if any is
    /// re-entrant.
    pub depths: Vec<u8>,
    /// Who waits in the queues of condition variables that keep the order; by condition variable,
    /// if any does.
    pub lines: Vec<Vec<Body>>,
    /// How the onces stand.
    pub onces: Vec<Running>,
    /// Per barrier, whether the round that threads come to has an odd number.
    pub odd_rounds: Vec<bool>,
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
        Self {
            depths: self.depths.clone(),
            lines: self.lines.clone(),
            onces: self.onces.clone(),
            odd_rounds: self.odd_rounds.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.depths.clone_from(&other.depths);
        self.lines.clone_from(&other.lines);
        self.onces.clone_from(&other.onces);
        self.odd_rounds.clone_from(&other.odd_rounds);
    }
}

impl Rarer {
    pub(super) fn root(program: &Program) -> Self {
        let reentrant = if program.reentrant.is_empty() { 0 } else { program.mutexes };
        let lines = if program.fifo.is_empty() { 0 } else { program.condvars };
        Self {
            depths: vec![0; usize::from(reentrant)],
            lines: vec![Vec::new(); usize::from(lines)],
            onces: vec![Running::NotYet; usize::from(program.onces)],
            odd_rounds: vec![false; program.barriers.len()],
        }
    }

    /// Whether the program has none of these locks.
    pub(super) fn is_empty(&self) -> bool {
        let Self { depths, lines, onces, odd_rounds } = self;
        depths.is_empty() && lines.is_empty() && onces.is_empty() && odd_rounds.is_empty()
    }

    /// The thread waits no longer.
    pub(super) fn leave_line(&mut self, condvar: Condvar, thread: Body) {
        if let Some(line) = self.lines.get_mut(usize::from(condvar.0)) {
            line.retain(|&other| other != thread);
        }
    }

    /// The depth of a mutex that may be re-entrant; it becomes `depth`.
    pub(super) fn set_depth(&mut self, mutex: Mutex, depth: u8) -> u8 {
        let kept = self.depths.get_mut(usize::from(mutex.0));
        kept.map_or(0, |kept| std::mem::replace(kept, depth))
    }
}
