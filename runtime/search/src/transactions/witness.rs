//! The order in which a data race shows: critical sections that happened to run between the two
//! accesses are moved away.
//!
//! What does not come after the first transaction comes before it, the rest after it in trace order
//! (docs/algorithm.md#witness). In the rest, a lock must not pass the knowledge of the first access
//! on where the trace does not want it to. So of two transactions that take the same lock and that
//! the trace does not order, the one that never learns of the first access runs before the one that
//! does so on the way, and this one before the one that knows of it when it begins (as the first
//! transaction's own thread does), if both is possible; else the former.

use std::collections::{BTreeMap, VecDeque};

use crate::core::chains::Position;
use crate::core::clock::Clock;
use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::discipline::Mode;

use super::trace::Trace;
use super::weak::{Unordered, Weak};

/// The transactions to run before the one of the later access, in order. `trace` has prepared that
/// one, cut off before the access.
pub(super) fn order(trace: &Trace, weak: &Weak, pair: &Unordered) -> Vec<usize> {
    let first = pair.position as usize;
    let covers = |clock: &Clock, at: usize| {
        let event = trace.event(at);
        clock.of(event.thread) >= event.index
    };
    let after_first = |at: usize| covers(&trace.event(at).real, first);
    let needed = |at: usize| covers(&trace.event(first).real, at) || covers(trace.real(), at);
    let mut order: Vec<usize> =
        (0..trace.len()).filter(|&at| needed(at) && !after_first(at)).collect();
    order.push(first);
    let rest: Vec<usize> =
        (first + 1..trace.len()).filter(|&at| needed(at) && after_first(at)).collect();
    let knows = |at: usize, node: usize| {
        let thread = trace.event(at).thread;
        weak.knows(thread, node as Position, pair.earlier.0, pair.epoch)
    };
    let knowledge = rest.iter().map(|&at| u8::from(knows(at, at)) + u8::from(knows(at, at + 1)));
    let knowledge: Vec<u8> = knowledge.collect();
    let locks: Vec<Vec<(ObjectId, Mode)>> = rest.iter().map(|&at| trace.locks(at)).collect();
    let comes_before = |before: usize, at: usize| covers(&trace.event(rest[at]).real, rest[before]);
    let passes_on = |before: usize, at: usize| {
        let excludes = |&(lock, mode): &(ObjectId, Mode)| {
            locks[at].iter().any(|&(other, wanted)| lock == other && mode.excludes(wanted))
        };
        knowledge[before] > knowledge[at] && locks[before].iter().any(excludes)
    };
    // What a thread did later comes after what it did before: only the first ones that are left can
    // run.
    let mut left: BTreeMap<ThreadId, VecDeque<usize>> = BTreeMap::new();
    for (number, &at) in rest.iter().enumerate() {
        left.entry(trace.event(at).thread).or_default().push_back(number);
    }
    for _ in &rest {
        let heads: Vec<usize> = left.values().filter_map(|of| of.front().copied()).collect();
        let can_run = |&at: &usize| !heads.iter().any(|&o| o != at && comes_before(o, at));
        // What runs now keeps its knowledge from all that are left and know at most so much.
        let keeps_from = |at: usize, most: u8| {
            let mut others = left.values().flatten().filter(|&&o| o != at && knowledge[o] <= most);
            locks[at].is_empty() || !others.any(|&o| passes_on(at, o) && !comes_before(at, o))
        };
        let best = |may: &dyn Fn(usize) -> bool| {
            let may_run = heads.iter().copied().filter(|at| can_run(at) && may(*at));
            may_run.min_by_key(|&at| (knowledge[at], at))
        };
        // (Where the trace itself is in the way, some lock passes it on all the same.)
        let next = best(&|at| keeps_from(at, 1))
            .or_else(|| best(&|at| keeps_from(at, 0)))
            .or_else(|| best(&|_| true));
        let Some(next) = next else { break };
        order.push(rest[next]);
        if let Some(of) = left.get_mut(&trace.event(rest[next]).thread) {
            of.pop_front();
        }
    }
    order
}
