//! Who held which lock at which node of the execution under way: what race reversal asks
//! (docs/algorithm.md#race-reversal).

use crate::core::chains::{ByObject, Position};
use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::discipline::Mode;

/// A transaction that took a lock, or gave it back, on the whole.
struct Change {
    position: Position,
    mode: Mode,
    taken: bool,
}

/// The changes of all locks, by lock and thread, in trace order.
#[derive(Default)]
pub(super) struct Ownership {
    locks: ByObject<Vec<Vec<Change>>>,
    /// All changes in trace order, to take them back.
    log: Vec<(Position, ObjectId, ThreadId)>,
}

impl Ownership {
    pub(super) fn push(
        &mut self,
        lock: ObjectId,
        thread: ThreadId,
        mode: Mode,
        taken: bool,
        position: Position,
    ) {
        let threads = self.locks.entry(lock).or_default();
        if threads.len() <= thread.index() {
            threads.resize_with(thread.index() + 1, Vec::new);
        }
        threads[thread.index()].push(Change { position, mode, taken });
        self.log.push((position, lock, thread));
    }

    /// Takes back the changes at `position` and after it.
    pub(super) fn truncate(&mut self, position: Position) {
        while let Some((_, lock, thread)) = self.log.pop_if(|(at, ..)| *at >= position) {
            if let Some(threads) = self.locks.get_mut(&lock) {
                threads[thread.index()].pop();
            }
        }
    }

    /// Calls `visit` for every lock that is held now.
    pub(super) fn for_each_held(&self, mut visit: impl FnMut(ThreadId, ObjectId, Mode)) {
        for &(position, lock, thread) in &self.log {
            let last = self.locks.get(&lock).and_then(|threads| threads[thread.index()].last());
            if let Some(last) = last.filter(|last| last.taken && last.position == position) {
                visit(thread, lock, last.mode);
            }
        }
    }

    /// For each thread that held `lock` before the transaction at `position` in a way that excludes
    /// `mode`: the position of its next change of the lock, if there was one.
    pub(super) fn holders(
        &self,
        lock: ObjectId,
        mode: Mode,
        position: Position,
    ) -> impl Iterator<Item = Option<Position>> + '_ {
        self.locks.get(&lock).into_iter().flatten().filter_map(move |changes| {
            let next = changes.partition_point(|change| change.position < position);
            let last = &changes[next.checked_sub(1)?];
            let excludes = last.taken && last.mode.excludes(mode);
            excludes.then(|| changes.get(next).map(|change| change.position))
        })
    }
}
