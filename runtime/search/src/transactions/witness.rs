//! The order in which a data race shows: critical sections that happened to run between the two accesses are moved away.
//!
//! ALGORITHM.md section 5 puts what does not come after the first transaction before it, and the rest behind it in trace
//! order. Departure: of the rest, what begins without knowing of the first access (a waiter that the first transaction woke,
//! say) goes before what knows of it, as far as the trace allows, so that no lock passes the knowledge on; and what never
//! learns of it before what does so on the way.

use crate::chains::Position;
use crate::clock::Clock;

use super::trace::Trace;
use super::weak::{Unordered, Weak};

/// The transactions to run before the one of the later access, in order. `trace` has prepared that one, cut off before the
/// access.
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
    let thread_knows = |at: usize, node: usize| {
        let thread = trace.event(at).thread;
        weak.knows(thread, node as Position, pair.earlier.0, pair.epoch)
    };
    let knows = |at: usize| thread_knows(at, at);
    let learns = |at: usize| thread_knows(at, at + 1);
    let comes_before = |before: usize, at: usize| covers(&trace.event(at).real, before);
    let mut ignorant: Vec<usize> = rest.iter().copied().filter(|&at| !knows(at)).collect();
    ignorant.sort_by_key(|&at| {
        rest.iter().filter(|&&before| learns(before) && comes_before(before, at)).count()
    });
    for &at in ignorant.iter().chain(&rest) {
        for &before in rest.iter().filter(|&&before| before <= at) {
            if comes_before(before, at) && !order.contains(&before) {
                order.push(before);
            }
        }
    }
    order
}
