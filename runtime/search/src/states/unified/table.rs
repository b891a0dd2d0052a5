//! States that were met: those on the way of the search, whose components are *open*, and those
//! after which everything is explored (Tarjan: Depth-first search and linear graph algorithms,
//! 1972).

use std::collections::VecDeque;

use crate::core::fingerprint::ByFingerprint;

use super::settings::Keep;
use super::summary::{Summaries, SummaryId};

/// A state that was met.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// Its component is not complete. Its number, in the order in which states were met.
    Open(u32),
    /// What can be executed from it.
    Closed(SummaryId),
}

/// An open state.
struct Open {
    fingerprint: u128,
    /// What can be executed from it, as far as is known.
    summary: SummaryId,
}

/// See the module.
pub(super) struct Nodes {
    keep: Keep,
    nodes: ByFingerprint<Node>,
    /// The open states, in the order in which they were met.
    open: Vec<Open>,
    /// The closed ones, in the order in which they were closed, if only some are kept.
    closed: VecDeque<u128>,
    next: u32,
    pub(super) forgotten: u64,
}

impl Nodes {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            keep,
            nodes: ByFingerprint::default(),
            open: Vec::new(),
            closed: VecDeque::new(),
            next: 0,
            forgotten: 0,
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.keep);
    }

    pub(super) fn get(&self, fingerprint: u128) -> Option<Node> {
        self.nodes.get(&fingerprint).copied()
    }

    /// A new state is met. Its number.
    pub(super) fn open(&mut self, fingerprint: u128) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.nodes.insert(fingerprint, Node::Open(number));
        self.open.push(Open { fingerprint, summary: SummaryId::EMPTY });
        number
    }

    /// How many states are open.
    pub(super) fn opened(&self) -> usize {
        self.open.len()
    }

    /// Everything from an open state was explored but what others of its component lead to. `at`:
    /// how many states were open when it was met.
    pub(super) fn leave(&mut self, at: usize, summary: SummaryId) {
        self.open[at].summary = summary;
    }

    /// The component of an open state is complete, which is the first of it that was met. What can
    /// be executed from all of it.
    pub(super) fn close(&mut self, at: usize, summaries: &mut Summaries) -> SummaryId {
        let members = || self.open[at..].iter().map(|open| open.summary);
        let all = members().fold(SummaryId::EMPTY, |all, one| summaries.unite(all, one));
        for open in self.open.drain(at..) {
            let kept = match self.keep {
                Keep::Half => open.fingerprint & 1 == 0,
                Keep::Most(most) => most > 0,
                Keep::All => true,
            };
            if !kept {
                self.nodes.remove(&open.fingerprint);
                self.forgotten += 1;
                continue;
            }
            self.nodes.insert(open.fingerprint, Node::Closed(all));
            if let Keep::Most(most) = self.keep {
                self.closed.push_back(open.fingerprint);
                if self.closed.len() > most
                    && let Some(oldest) = self.closed.pop_front()
                {
                    self.nodes.remove(&oldest);
                    self.forgotten += 1;
                }
            }
        }
        all
    }
}
