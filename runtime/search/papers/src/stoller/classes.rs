//! Object classes, and which operations and control points are visible (sections 3.1 and 3.5).
//!
//! Objects are *unshared* (accessed by at most one thread), *synchronization objects* (locks with
//! their wait sets), under the *locking discipline*, or *communication objects*. Visible are all
//! operations on communication objects, and acquire and wait on synchronization objects. A
//! transition is visible if it has a visible operation or is part of a non-deterministic choice; a
//! control point if its transitions are.
//!
//! Departures. The operations of a control point are those of all its transitions together,
//! exception-throwing ones included, so it is visible or not as a whole: an over-approximation,
//! which is safe. Where a thread begins, its transition counts as visible, as the paper proposes to
//! get InitVis.

use std::collections::{BTreeMap, BTreeSet};

use super::system::{Action, Operation, Point};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// A class of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Accessed by at most one thread.
    Unshared,
    /// A lock with its wait set.
    Synchronization,
    /// Accessed under the locking discipline.
    Discipline,
    /// Anything else: it is always right to call an object this.
    Communication,
}

/// The classes of a program's objects, and what else its model fixes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Classes {
    classes: BTreeMap<ObjectId, Class>,
    /// The paper's initThread: who initializes an object.
    initial: BTreeMap<ObjectId, ThreadId>,
    /// Places whose transition goes on with the next one.
    merged: BTreeSet<(ThreadId, usize)>,
}

impl Classes {
    /// The object is of this class. Objects of which nothing is said are communication objects.
    pub fn set(&mut self, object: ObjectId, class: Class) -> &mut Self {
        self.classes.insert(object, class);
        self
    }

    /// The object is initialized by this thread (LD′, section 7).
    pub fn initialized_by(&mut self, object: ObjectId, thread: ThreadId) -> &mut Self {
        self.initial.insert(object, thread);
        self
    }

    /// The transition from this place and the next one of the thread are one (a coarser granularity
    /// of the model, as that of the two releases in the paper's example, section 3.3). The next one
    /// may not wait.
    pub fn merge(&mut self, thread: ThreadId, place: usize) -> &mut Self {
        self.merged.insert((thread, place));
        self
    }

    /// The object's class.
    #[must_use]
    pub fn class(&self, object: ObjectId) -> Class {
        self.classes.get(&object).copied().unwrap_or(Class::Communication)
    }

    /// Who initializes the object, if that is said.
    #[must_use]
    pub fn initial_thread(&self, object: ObjectId) -> Option<ThreadId> {
        self.initial.get(&object).copied()
    }

    pub(super) fn has_initial_threads(&self) -> bool {
        !self.initial.is_empty()
    }

    pub(super) fn is_merged(&self, thread: ThreadId, place: usize) -> bool {
        self.merged.contains(&(thread, place))
    }

    /// Whether the operation is visible.
    #[must_use]
    pub fn is_visible(&self, operation: Operation) -> bool {
        use Action::{Abort, Acquire, Wait1, Wait2};
        match self.class(operation.object) {
            Class::Communication => true,
            Class::Synchronization => matches!(operation.action, Acquire | Wait1 | Wait2 | Abort),
            Class::Discipline | Class::Unshared => operation.action == Abort,
        }
    }

    /// Whether the control point is visible. (So is the point of a thread that has ended.)
    #[must_use]
    pub fn is_visible_point(&self, point: &Point) -> bool {
        point.choice || point.first || point.operations.iter().any(|&o| self.is_visible(o))
    }
}
