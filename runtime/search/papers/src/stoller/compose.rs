//! The operations of composed transitions (section 5.2).
//!
//! C(M) has, for every visible transition and every sequence of invisible ones of the same thread
//! after it that leads to a visible control point, their sequential composition. Guards are
//! evaluated as they are met (short-circuiting, section 7): a machine runs the sequence that its
//! state leads to, so the operations are those that are executed.
//!
//! A lock that a composed transition acquires and gives back is left as it was. Two such
//! transitions are independent in this lock (section 5.3), whatever they do with it in between. Of
//! a wait that is over, being notified remains.

use super::system::{Action, Operation, System, Value};
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// The owner of a lock.
pub(super) fn owner<M: System>(machine: &M, lock: ObjectId) -> Option<ThreadId> {
    match machine.value(lock) {
        Value::Monitor { owner, .. } => owner,
        _ => None,
    }
}

/// Puts [`Action::Section`] in place of acquiring and releasing a lock that has the same owner
/// after the transition as before.
pub(super) fn simplify<M: System>(
    operations: &mut Vec<Operation>,
    owners: &[(ObjectId, Option<ThreadId>)],
    machine: &M,
) {
    use Action::{Acquire, Notified, Release, Section, Wait2};
    for &(lock, before) in owners {
        let is_kept = owner(machine, lock) != before && !is_on(Fault::KeptLockIsSection);
        if is_kept {
            continue;
        }
        let is_resumed = operations.iter().any(|o| o.object == lock && o.action == Wait2);
        let part =
            |o: &Operation| o.object == lock && matches!(o.action, Acquire | Wait2 | Release);
        operations.retain(|operation| !part(operation));
        operations.push(Operation { object: lock, action: Section });
        if is_resumed {
            operations.push(Operation { object: lock, action: Notified });
        }
    }
}
