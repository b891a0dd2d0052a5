//! Which operations depend on each other (section 4; SPIN version, section 7).
//!
//! Transitions are independent if they neither enable nor disable each other and commute.
//! *Unconditional* dependency says so for all states, *conditional* dependency for one. Both are
//! put together from the operations' (Godefroid, LNCS 1032, definitions 3.15 and 3.21). Conditional
//! dependency looks at the values of semaphores, FIFO queues and locks only, in the state before
//! the transition, so these are all that is recorded of it.
//!
//! Semaphores: two ups commute; an up and a down do while the value is positive; two downs unless
//! they want the last one. FIFO queues: a send and a receive commute unless the queue is empty or
//! full (one then waits for the other).
//!
//! *No access after update*: conditional dependency may not be used for an object that one
//! transition operates on again after it has changed it, so it is used where both transitions have
//! one operation on the object, else unconditional dependency. The exception that the paper makes,
//! for transitions that acquire a lock and give it back, is [`Action::Section`] (`compose`).
//!
//! Synchronization objects: every operation but acquire and the second half of wait needs the lock,
//! so operations of two threads of which neither takes the lock are never enabled together, and do
//! not enable each other.

use super::system::{Action, Operation, Value};
use lockred_search::footprint::ObjectId;

/// Whether two operations of different threads depend on each other in some state.
pub(super) fn depends(one: Operation, other: Operation) -> bool {
    if one.action == Action::Abort || other.action == Action::Abort {
        return true;
    }
    one.object == other.object && actions_depend(one.action, other.action)
}

/// The same for their actions on one object.
fn actions_depend(one: Action, other: Action) -> bool {
    use Action::*;
    let takes = |action| matches!(action, Acquire | Wait2);
    let gives = |action| matches!(action, Release | Wait1);
    let is_sync = |action| {
        takes(action) || gives(action) || matches!(action, Notify | NotifyAll | Section | Notified)
    };
    match (one, other) {
        (Read, Read) | (Update, Update) | (Up, Up) | (Section, Section) => false,
        (Notified, Notify | NotifyAll) | (Notify | NotifyAll, Notified) => true,
        (a, b) if is_sync(a) && is_sync(b) => {
            let changes = |action| takes(action) || gives(action);
            let wants = |action| takes(action) || action == Section;
            (wants(a) && changes(b)) || (changes(a) && wants(b))
        }
        _ => true,
    }
}

/// Whether two operations of different threads depend on each other in a state in which the object
/// has this value.
pub(super) fn depends_in(one: Operation, other: Operation, value: &Value) -> bool {
    use Action::*;
    if !depends(one, other) {
        return false;
    }
    match (value, one.action, other.action) {
        (Value::Semaphore(value), Up, Down) | (Value::Semaphore(value), Down, Up) => *value <= 0,
        (Value::Semaphore(value), Down, Down) => *value == 1,
        (Value::Queue { is_empty, is_full }, Send, Receive)
        | (Value::Queue { is_empty, is_full }, Receive, Send) => *is_empty || *is_full,
        (Value::Queue { is_full, .. }, Send, Send) => !is_full,
        (Value::Queue { is_empty, .. }, Receive, Receive) => !is_empty,
        (Value::Monitor { owner, .. }, Acquire, Acquire) => owner.is_none(),
        _ => true,
    }
}

/// Whether two transitions of different threads depend on each other, in any state or, if the
/// values of the objects of one of them are given, in the state that has these.
pub(super) fn transitions_depend(
    one: &[Operation],
    other: &[Operation],
    values: Option<&[(ObjectId, Value)]>,
) -> bool {
    let once = |operations: &[Operation], object| {
        operations.iter().filter(|operation| operation.object == object).count() == 1
    };
    let value = |object| {
        let values = values?;
        let usable = once(one, object) && once(other, object);
        values.iter().find(|(known, _)| usable && *known == object).map(|(_, value)| value)
    };
    // Ending the execution disables what has no operation, too.
    if one.iter().chain(other).any(|operation| operation.action == Action::Abort) {
        return true;
    }
    one.iter().any(|&a| {
        other.iter().any(|&b| match value(a.object).filter(|_| a.object == b.object) {
            Some(value) => depends_in(a, b, value),
            None => depends(a, b),
        })
    })
}
