//! Where threads stand to the circles of locks that walks are to close ([`lockred_search::targeted`]).
//!
//! A circle is known by the operations that acquire its locks, and a lock that a thread holds by the operation that has acquired it. Which
//! lock that is does not matter: the walk ends in a deadlock, or it does not.

use crate::operation::Pending;
use crate::state::State;
use lockred_search::machine::{Approach, ThreadId};
use lockred_trace::hooks::Class;
use lockred_trace::session::Task;

/// How near a thread's next operation is to a target of the order.
pub fn approach(state: &State, thread: ThreadId, target: u32) -> Approach {
    let Pending::Atomic(operation) = state.execution.threads[thread.index()].pending else {
        return Approach::Away;
    };
    let Some(Task::Walk { targets, .. }) = state.order.as_ref().map(|order| &order.task) else {
        return Approach::Away;
    };
    let Some(target) = targets.get(target as usize) else { return Approach::Away };
    if !matches!(operation.how.class(), Class::Lock | Class::ReadLock) {
        return Approach::Away;
    }
    let held = state.execution.held.iter().filter(|held| held.thread == thread.0);
    let mut at = target.nestings.iter().filter(|[_, inner]| *inner == operation.site);
    if at.any(|&[outer, _]| held.clone().any(|held| held.site == outer)) {
        Approach::Inner
    } else if target.nestings.iter().any(|[outer, _]| *outer == operation.site) {
        Approach::Outer
    } else {
        Approach::Away
    }
}
