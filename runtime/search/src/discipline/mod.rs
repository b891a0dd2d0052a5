//! The discipline: the facts that the reduction relies on, which every operation checks, and the
//! movers that follow from them.
//!
//! A [`Discipline`] starts optimistic and only grows weaker; whatever it learns that changes how
//! programs are cut into transactions makes the search start again. See
//! docs/algorithm.md#the-discipline, docs/algorithm.md#movers-and-boundaries and
//! docs/algorithm.md#blocking.
//!
//! | module | what |
//! |---|---|
//! | [`operation`] | what machines report of operations |
//! | [`monitor`] | decides before each operation whether the transaction goes on |
//! | `run` | what a transaction did |
//! | `lock_order` | nested locks |
//! | [`Locksets`] | which locks protect which data |

mod lock_order;
mod locksets;
pub mod monitor;
pub mod operation;
mod run;

pub use locksets::Locksets;
pub use monitor::{Go, TransactionMonitor};
pub use operation::{Effect, Kind, Mode, Operation, Ordering, Passing, Value};
pub use run::lock_access;
pub(crate) use run::{Event, Run, Wanted};

use crate::core::chains::Objects;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use lock_order::LockOrder;
use serde::{Deserialize, Serialize};

/// What orders operations that are not seen by others, until that is refuted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
enum Protection {
    /// Happens-before orders plain data, guarded atomics and queues. All other atomics are seen.
    #[default]
    HappensBefore,
    /// A common lock, which every access checks, protects data and queues.
    Locks,
    /// Happens-before orders plain data. Locks, or the creation and joining of threads, keep
    /// operations on atomics and queues apart.
    Apart,
}

/// The facts that the reduction relies on. They survive restarts of the search.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Discipline {
    /// Data and queues with conflicting operations that nothing orders.
    unprotected: Objects,
    /// Atomics and queues with conflicting operations that nothing keeps apart in all executions.
    seen: Objects,
    /// Locks whose state is seen by a try.
    observed: Objects,
    order: LockOrder,
    /// Locks that were held between two transactions of their holder, as far as
    /// [`Discipline::split`] was reported.
    split: Objects,
    protection: Protection,
    locksets: Locksets,
    /// Something was learned since the search started.
    grown: bool,
}

impl Discipline {
    /// Whether some conflicting operations on the data or queue are not ordered.
    #[must_use]
    pub fn is_unprotected(&self, object: ObjectId) -> bool {
        !self.unprotected.is_empty() && self.unprotected.contains(&object)
    }

    /// Whether others see operations on the atomic, or the queue.
    fn is_seen(&self, object: ObjectId) -> bool {
        self.is_unprotected(object) || !self.seen.is_empty() && self.seen.contains(&object)
    }

    /// Whether the lock's state is seen by a try.
    #[must_use]
    pub fn is_observed(&self, lock: ObjectId) -> bool {
        !self.observed.is_empty() && self.observed.contains(&lock)
    }

    /// Whether the lock may be held by a thread that is blocked for good.
    #[must_use]
    pub fn is_held_for_good(&self, lock: ObjectId) -> bool {
        is_on(Fault::EagerPark) || self.order.is_held_for_good(lock)
    }

    /// Whether wanting `wanted` while holding `held` is part of a cycle of the lock order.
    #[must_use]
    pub fn is_cyclic(&self, held: ObjectId, wanted: ObjectId) -> bool {
        self.order.is_cyclic(held, wanted)
    }

    /// A discipline under which data and queues are protected by locks only.
    #[must_use]
    pub fn by_locks() -> Self {
        Self { protection: Protection::Locks, ..Self::default() }
    }

    /// A discipline under which happens-before orders plain data, and atomics and queues are not
    /// seen by others as long as locks, or the creation and joining of threads, keep apart what is
    /// done to them in all executions.
    #[must_use]
    pub fn hybrid() -> Self {
        Self { protection: Protection::Apart, ..Self::default() }
    }

    /// Whether operations on atomics are not seen by others until that is refuted.
    fn hides_atomics(&self) -> bool {
        self.protection != Protection::HappensBefore
    }

    /// Whether only locks protect data and queues.
    fn is_by_locks(&self) -> bool {
        self.protection == Protection::Locks
    }

    /// Which locks protect which data, as far as a search under [`Discipline::by_locks`] has seen.
    #[must_use]
    pub fn locksets(&self) -> &Locksets {
        &self.locksets
    }

    /// Checks an access against the locks that protect its object.
    fn check_locks(
        &mut self,
        object: ObjectId,
        writes: bool,
        plain: bool,
        held: &[(ObjectId, Mode)],
    ) {
        if self.is_by_locks() && !self.locksets.note(object, writes, plain, held) {
            self.refute(object);
        }
    }

    /// Notes conflicting operations that nothing orders.
    pub(crate) fn refute(&mut self, object: ObjectId) {
        self.grown |= self.unprotected.insert(object);
    }

    /// Notes conflicting operations that nothing keeps apart in all executions: others see them.
    pub(crate) fn show(&mut self, object: ObjectId) {
        self.grown |= self.seen.insert(object);
    }

    /// Whether the lock may be held between two transactions of its holder, as far as a search with
    /// persistent sets has seen.
    #[must_use]
    pub fn is_split(&self, lock: ObjectId) -> bool {
        !self.split.is_empty() && self.split.contains(&lock)
    }

    /// Notes that a lock is held between two transactions of its holder.
    pub(crate) fn split(&mut self, lock: ObjectId) {
        self.grown |= self.split.insert(lock);
    }

    fn observe(&mut self, lock: ObjectId) {
        self.grown |= self.observed.insert(lock);
    }

    fn hold_for_good(&mut self, lock: ObjectId) {
        self.grown |= self.order.hold_for_good(lock);
    }

    fn nest(&mut self, thread: ThreadId, held: &[(ObjectId, Mode)], wanted: ObjectId) {
        self.grown |= self.order.nest(thread, held, wanted);
    }

    /// Whether something was learned since the last time this was asked.
    pub(crate) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }
}
