//! Where threads stand to the cycles of locks that walks are to close
//! ([`lockred_search::targeted`]).
//!
//! A cycle is known by the operations that acquire its locks, and a lock that a thread holds by
//! the operation that has acquired it. All mutexes of a program may be acquired by one operation,
//! in a function that is not inlined. So it is learned from walk to walk which locks, by their
//! addresses, are acquired under each other there: those that are known to close no cycle are none
//! of the target's places. What was not seen before is one. (Addresses differ from walk to walk at
//! worst, and threads are paused in vain then.)

use crate::machine::execution::Held;
use crate::machine::operation::Pending;
use crate::machine::state::State;
use crate::monitor::lock_order::Event;
use lockred_protocol::hooks::Class;
use lockred_protocol::session::{Target, Task};
use lockred_protocol::sites::SiteId;
use lockred_search::machine::{Approach, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of locks that are kept: cycles are looked for among them.
const MOST: usize = 1_000;

/// What walks have met.
#[derive(Debug, Default)]
pub struct Met {
    /// By address of a lock: those that were acquired under it.
    under: BTreeMap<usize, BTreeSet<usize>>,
    /// The pairs of these that are part of cycles.
    closing: BTreeSet<(usize, usize)>,
}

impl Met {
    fn knows(&self, pair: (usize, usize)) -> bool {
        self.under.get(&pair.0).is_some_and(|under| under.contains(&pair.1))
    }

    fn add(&mut self, pairs: impl Iterator<Item = (usize, usize)>) {
        let before = self.number();
        for (held, wanted) in pairs.take(MOST.saturating_sub(before)) {
            self.under.entry(held).or_default().insert(wanted);
        }
        if self.number() > before {
            let all =
                self.under.iter().flat_map(|(&held, under)| under.iter().map(move |&w| (held, w)));
            self.closing = all.filter(|&(held, wanted)| self.leads(wanted, held)).collect();
        }
    }

    fn number(&self) -> usize {
        self.under.values().map(BTreeSet::len).sum()
    }

    /// Whether locks that were acquired under each other lead from one to the other.
    fn leads(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
        while let Some(lock) = left.pop() {
            if lock == to {
                return true;
            }
            let under = self.under.get(&lock).into_iter().flatten();
            left.extend(under.filter(|&&next| seen.insert(next)));
        }
        false
    }
}

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
            && (met.closing.contains(&pair) || !met.knows(pair))
    };
    let holds = nestings.iter().any(|[outer, _]| *outer == site);
    if state.execution.held.iter().any(|held| is_under(&held)) {
        Approach::Inner
    } else if holds && met.closing.iter().any(|&(held, _)| held == address) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_part_of_a_cycle_closes_one() {
        let mut met = Met::default();
        met.add([(1, 2), (2, 3), (3, 4)].into_iter());
        assert!(met.closing.is_empty() && met.knows((1, 2)) && !met.knows((2, 1)));
        met.add([(3, 1)].into_iter());
        assert_eq!(met.closing, BTreeSet::from([(1, 2), (2, 3), (3, 1)]));
    }

    #[test]
    fn no_more_pairs_are_kept_than_can_be_looked_at() {
        let mut met = Met::default();
        met.add((0..2 * MOST).map(|lock| (lock, lock + 1)));
        assert_eq!(met.number(), MOST);
        assert!(!met.knows((MOST, MOST + 1)));
    }
}
