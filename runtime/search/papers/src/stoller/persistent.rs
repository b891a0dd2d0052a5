//! Persistent sets by Algorithms 2-LD and 2-LD′ (sections 6 and 7), after Algorithm 2 of Godefroid,
//! LNCS 1032 (Overman's).
//!
//! 1. Begin with the thread of an enabled transition.
//! 2. Add every thread that may still perform an operation that might be the first to interfere
//!    (`interfere`) with an operation of a pending transition of a thread of the set. Repeat while
//!    that adds any.
//! 3. The enabled transitions of these threads are persistent.
//!
//! The operations of a pending transition are its visible ones (pendVisOps), which the machine
//! tells, and at most those invisible ones that the discipline allows with the locks that the
//! thread owns and acquires (pendInvisOps, from what the lockset algorithm has found): they are
//! part of the transition in C(M), and executed at once in IF-SSS. Without checking these are all
//! that the thread may still perform.
//!
//! Departures: ops(θ) is what θ may still perform from where it stands, not in all its life. The
//! second half of a wait counts as acquiring its lock. The first step is made with every enabled
//! thread in turn, and the smallest set is taken.

use std::collections::BTreeSet;

use super::classes::{Class, Classes};
use super::interfere::interferes;
use super::lockset::{Checking, Locksets};
use super::system::{Action, Operation, Point, System};
use lockred_search::machine::ThreadId;
use lockred_search::thread_set::ThreadSet;

/// Which enabled transitions are explored from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Persistent {
    /// All.
    Enabled,
    /// A persistent set.
    Algorithm2,
}

/// What the threads could do next and later, in one state.
pub(super) struct Prospects {
    /// Per thread, what its pending transitions do.
    pending: Vec<Vec<Operation>>,
    /// Per thread, what it may still do.
    operations: Vec<BTreeSet<Operation>>,
}

impl Prospects {
    pub(super) fn new<M: System>(
        machine: &mut M,
        classes: &Classes,
        (checking, locksets): (Checking, &Locksets),
    ) -> Self {
        let threads = (0..machine.threads()).map(ThreadId);
        let mut prospects = Self { pending: Vec::new(), operations: Vec::new() };
        let (mut point, mut locks) = (Point::default(), Vec::new());
        for thread in threads {
            let mut operations = BTreeSet::new();
            machine.operations(thread, &mut operations);
            machine.point(thread, &mut point);
            machine.held(thread, &mut locks);
            locks.extend(point.operations.iter().filter_map(|o| {
                matches!(o.action, Action::Acquire | Action::Wait2).then_some(o.object)
            }));
            let mut pending = point.operations.clone();
            let may_follow = |operation: &Operation| match classes.class(operation.object) {
                Class::Unshared | Class::Communication => false,
                Class::Synchronization => !classes.is_visible(*operation),
                Class::Discipline => {
                    locksets.allows(thread, *operation, &locks, (checking, classes))
                }
            };
            pending.extend(operations.iter().copied().filter(may_follow));
            prospects.pending.push(pending);
            prospects.operations.push(operations);
        }
        prospects
    }

    /// The threads of the set that the algorithm finds from `start`.
    pub(super) fn from<M: System>(&self, machine: &M, start: ThreadId) -> ThreadSet {
        let mut set = ThreadSet::default();
        set.insert(start);
        let mut left = vec![start];
        // Ending the execution disables what has no operation, too.
        let aborts = |operation: &Operation| operation.action == Action::Abort;
        if self.operations.iter().any(|operations| operations.iter().any(aborts)) {
            (0..self.operations.len() as u32).for_each(|thread| set.insert(ThreadId(thread)));
            return set;
        }
        while let Some(thread) = left.pop() {
            for &first in &self.pending[thread.index()] {
                let value = machine.value(first.object);
                for (other, operations) in self.operations.iter().enumerate() {
                    let other = ThreadId(other as u32);
                    let interferes =
                        |&later: &Operation| interferes((thread, first), (other, later), &value);
                    if !set.contains(other) && operations.iter().any(interferes) {
                        set.insert(other);
                        left.push(other);
                    }
                }
            }
        }
        set
    }

    /// The members of `enabled` that are in the smallest set.
    pub(super) fn smallest<M: System>(&self, machine: &M, enabled: &[ThreadId]) -> Vec<ThreadId> {
        let of = |&start: &ThreadId| {
            let set = self.from(machine, start);
            enabled.iter().copied().filter(|&thread| set.contains(thread)).collect::<Vec<_>>()
        };
        enabled.iter().map(of).min_by_key(Vec::len).unwrap_or_default()
    }
}
