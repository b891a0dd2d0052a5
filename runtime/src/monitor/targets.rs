//! Where threads stand to the cycles of locks that walks are to close
//! ([`lockred_search::targeted`]).
//!
//! A cycle is known by the operations that acquire its locks, and a lock that a thread holds by
//! the operation that has acquired it. All mutexes of a program may be acquired by one operation,
//! in a function that is not inlined. So it is learned from walk to walk which locks, by their
//! addresses, are acquired under each other there: those that are known to close no cycle are none
//! of the target's places. What was not seen before is one. (Addresses differ from walk to walk at
//! worst, and threads are paused in vain then.)

use crate::locks::order::Event;
use crate::machine::operation::Pending;
use crate::machine::state::State;
use crate::record::held::Held;
use lockred_protocol::hooks::Class;
use lockred_protocol::session::{Target, Task};
use lockred_protocol::sites::SiteId;
use lockred_search::machine::{Approach, ThreadId};
use std::collections::BTreeSet;

/// The targets of the request.
fn targets(state: &State) -> &[Target] {
    match state.config.task() {
        Some(Task::Walk { targets, .. }) => targets,
        _ => &[],
    }
}

/// How near a thread's next operation is to a target of the request.
pub fn approach(state: &State, thread: ThreadId, target: u32) -> Approach {
    let Pending::Atomic(operation) = state.execution.threads[thread.index()].pending else {
        return Approach::Away;
    };
    let Some(Target { nestings }) = targets(state).get(target as usize) else {
        return Approach::Away;
    };
    if !matches!(operation.how.class(), Class::Lock | Class::ReadLock) {
        return Approach::Away;
    }
    let (site, address, met) = (operation.site, operation.address, &state.knowledge.met);
    let is_under = |held: &&Held| {
        let pair = (held.address, address);
        held.thread == thread.0
            && nestings.contains(&[held.site, site])
            && (met.closes(pair) || !met.knows(pair))
    };
    let holds = nestings.iter().any(|[outer, _]| *outer == site);
    if state.execution.held.iter().any(|held| is_under(&held)) {
        Approach::Inner
    } else if holds && met.is_outer(address) {
        Approach::Outer
    } else {
        Approach::Away
    }
}

/// The execution is over: learns which locks were acquired under each other at places of targets.
pub fn learn(state: &mut State) {
    let sites: BTreeSet<[SiteId; 2]> =
        targets(state).iter().flat_map(|target| target.nestings.iter().copied()).collect();
    if sites.is_empty() {
        return;
    }
    let pairs = state.execution.events.iter().filter_map(|event| match event {
        Event::Nests(edge) => edge.pair_at(&sites),
        _ => None,
    });
    state.knowledge.met.add(pairs);
}
