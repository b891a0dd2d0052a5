//! The conditions on systems (section 3.6), and what else the theorems take for granted, checked.
//!
//! *Separation*: at a control point all transitions are visible or none is. It holds by
//! construction: visibility is a property of the control point here (`classes`). *InitVis*: threads
//! begin at visible control points; so do they, for the same reason. *BoundedInvis*: sequences of
//! invisible transitions are bounded; checked while they run, against a number, as the paper does.
//! *DetermInvis*: invisible transitions are deterministic; checked while they run. *NonBlockInvis*:
//! at invisible control points a thread is never blocked; checked where they are reached.
//! *PureVis*: visible transitions have no operation on objects under the locking discipline;
//! checked on the code.
//!
//! Beside these: unshared objects are accessed by one thread only, and LD or LD′ itself holds
//! (`lockset`). That who notifies owns the lock (SyncWithoutLock, section 3.3) is part of what
//! `System` asks of machines.

use super::classes::{Class, Classes};
use super::system::{Point, System};
use lockred_search::Choice;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// A condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Initial control points are visible.
    InitVis,
    /// Sequences of invisible transitions are bounded. (Possibly violated: a sequence was longer
    /// than the given number.)
    BoundedInvis,
    /// Invisible transitions are no choice.
    DetermInvis,
    /// Invisible control points never block.
    NonBlockInvis,
    /// Visible transitions do not operate on objects under the locking discipline.
    PureVis,
    /// An unshared object is accessed by one thread only.
    Unshared,
    /// The locking discipline, in the variant that is checked.
    Discipline,
}

/// A condition that the program violates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The condition.
    pub condition: Condition,
    /// The thread that violates it.
    pub thread: ThreadId,
    /// Where it stands.
    pub place: usize,
    /// The object that it is about, if any.
    pub object: Option<ObjectId>,
    /// Leads to it; empty if it was seen on the code.
    pub schedule: Vec<Choice>,
}

/// The violations that the code shows.
pub(super) fn check<M: System>(machine: &M, classes: &Classes) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (thread, place, point) in machine.points() {
        let mut add = |condition, object| {
            let schedule = Vec::new();
            violations.push(Violation { condition, thread, place, object, schedule });
        };
        if !classes.is_visible_point(&point) {
            continue;
        }
        for operation in &point.operations {
            if classes.class(operation.object) == Class::Discipline {
                add(Condition::PureVis, Some(operation.object));
            }
        }
    }
    let mut point = Point::default();
    for thread in (0..machine.threads()).map(ThreadId) {
        machine.point(thread, &mut point);
        if !point.operations.is_empty() && !classes.is_visible_point(&point) {
            let (condition, place) = (Condition::InitVis, machine.place(thread));
            let schedule = Vec::new();
            violations.push(Violation { condition, thread, place, object: None, schedule });
        }
    }
    violations
}
