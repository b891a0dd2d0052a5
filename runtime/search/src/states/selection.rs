//! Which threads a search over states explores from a state: all of them ([`All`]), or those that a
//! [`Selection`] takes.

use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::thread_set::ThreadSet;
use crate::discipline::Discipline;
use crate::drive::transactional::Transactional;

/// A thread that need not run from the present state: it was explored from this state, or from one
/// before it and nothing has depended on it since.
#[derive(Clone, Copy, Debug)]
pub struct Asleep<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// It was explored from this very state.
    pub here: bool,
    /// What its transaction did, whichever values it chose.
    pub accesses: &'a [(ObjectId, Access)],
}

/// A way to explore only some threads from a state, and to see all failures and end states all the
/// same.
pub trait Selection<M: Transactional> {
    /// It leaves threads out. (Else nothing else is asked.)
    const LEAVES_OUT: bool;

    /// The thread to explore next from the present state, out of `left`; none where those that were
    /// explored are enough.
    fn next(
        &mut self,
        machine: &mut M,
        discipline: &Discipline,
        left: &ThreadSet,
        asleep: &[Asleep<'_>],
    ) -> Option<ThreadId>;

    /// Whether the thread may come by the same place twice, so that a cycle of states can put off
    /// all others for ever.
    fn loops(&mut self, machine: &mut M, discipline: &Discipline, thread: ThreadId) -> bool;
}

/// All threads are explored.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl<M: Transactional> Selection<M> for All {
    const LEAVES_OUT: bool = false;

    fn next(
        &mut self,
        _: &mut M,
        _: &Discipline,
        left: &ThreadSet,
        _: &[Asleep<'_>],
    ) -> Option<ThreadId> {
        left.iter().next()
    }

    fn loops(&mut self, _: &mut M, _: &Discipline, _: ThreadId) -> bool {
        false
    }
}
