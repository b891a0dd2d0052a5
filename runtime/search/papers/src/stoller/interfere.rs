//! The relation *might be the first to interfere with* (section 6 and Figure 3; Godefroid, LNCS
//! 1032, definition 4.26).
//!
//! `op ▷ op'` in a state s if there are transitions from s on, all independent of `op` where they
//! are executed, after which `op'` is executed and depends on `op` there. It is determined by hand
//! for each kind of object. For data it is dependency in any state, which is more than enough.
//!
//! Synchronization objects: Figure 3. What it says of `acquire` is taken as it stands. Of `wait2`
//! its text is damaged, so that row is derived from the definition: `wait2` of θ1 is enabled if the
//! lock is free and θ1 was notified. While θ1 waits to be notified, others may take and give back
//! the lock and notify θ1 without enabling it; the first that can is who gives the lock back. Once
//! it was notified, it is who takes a free lock, or else who gives it back. Rows of operations that
//! need the lock (release, wait1, notify, notifyAll) are empty, since nobody else executes anything
//! that depends on them before.
//!
//! Semaphores: an up interferes with a down that waits; a down with one that does not, and it may
//! take the last one. FIFO queues: alike.

use super::dependency::depends;
use super::system::{Action, Operation, Value};
use lockred_search::fault::{Fault, is_on};
use lockred_search::machine::ThreadId;

/// Whether `later` of thread `other` might be the first to interfere with `first` of thread `one`,
/// in a state in which the object of `first` has this value.
pub(super) fn interferes(
    (one, first): (ThreadId, Operation),
    (other, later): (ThreadId, Operation),
    value: &Value,
) -> bool {
    use Action::*;
    if first.action == Abort || later.action == Abort {
        return true;
    }
    if first.object != later.object {
        return false;
    }
    match (value, first.action, later.action) {
        (_, _, Other) | (_, Other, _) => true,
        (Value::Monitor { owner, waiters }, Acquire, then) => {
            let is_own = |owner: Option<ThreadId>| owner.is_none() || owner == Some(one);
            match then {
                Acquire => is_own(*owner) && !is_on(Fault::AcquiresDoNotInterfere),
                Release | Wait1 => *owner == Some(other),
                Wait2 if waiters.contains(&other) => *owner == Some(one),
                Wait2 => is_own(*owner),
                _ => false,
            }
        }
        (Value::Monitor { owner, waiters }, Wait2, then) => {
            let waits = waiters.contains(&one);
            match then {
                Acquire | Wait2 => owner.is_none() && !waits,
                Release | Wait1 => waits || *owner == Some(other),
                _ => false,
            }
        }
        (Value::Monitor { .. }, ..) => false,
        (Value::Semaphore(_), Up, Up | Down) => false,
        (Value::Semaphore(value), Down, Up) => *value <= 0,
        (Value::Semaphore(value), Down, Down) => *value > 0,
        (Value::Queue { is_full, .. }, Send, Receive) => *is_full,
        (Value::Queue { is_full, .. }, Send, Send) => !is_full,
        (Value::Queue { is_empty, .. }, Receive, Send) => *is_empty,
        (Value::Queue { is_empty, .. }, Receive, Receive) => !is_empty,
        _ => depends(first, later),
    }
}
