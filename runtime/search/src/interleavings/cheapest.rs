//! The states that a search has come to, each with the least that it has cost.

use crate::core::fault::{Fault, is_on};
use crate::core::fingerprint::{self, ByFingerprint};
use crate::core::machine::{Status, ThreadId};
use crate::interleavings::causes::Causes;
use std::collections::hash_map::Entry;

/// States that are kept; further ones count as new each time. 32 bytes each, and some.
const MOST: usize = 1 << 22;

/// See the module. A state is what led to it, in executions in which no data race has shown so far.
#[derive(Default)]
pub(crate) struct Cheapest {
    /// What led to where the execution stands.
    pub(crate) causes: Causes,
    visited: ByFingerprint<u32>,
}

impl Cheapest {
    /// Whether the search comes to a state for the first time, or for less than before: it has
    /// `cost` so much, and switches away from `last` will cost more. (The state of who waits for
    /// any change counts what all others have done, so the threads' statuses are told apart too.)
    pub(crate) fn is_new(
        &mut self,
        statuses: &[Status],
        last: Option<ThreadId>,
        cost: u32,
    ) -> bool {
        let last = last.filter(|_| !is_on(Fault::LastForgotten));
        let state = fingerprint::of(&(self.causes.hash(), last, statuses));
        let full = self.visited.len() >= MOST;
        match self.visited.entry(state) {
            Entry::Occupied(known) if *known.get() <= cost => false,
            Entry::Occupied(mut known) => {
                known.insert(cost);
                !is_on(Fault::CostForgotten)
            }
            Entry::Vacant(place) => {
                if !full {
                    place.insert(cost);
                }
                true
            }
        }
    }
}
