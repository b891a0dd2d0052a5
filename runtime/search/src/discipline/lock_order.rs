//! The order in which threads nest locks: its cycles, and the locks that may be held for good
//! (docs/algorithm.md#the-discipline).
//!
//! An edge `a -> b` says that a thread wanted `b` while it held `a`. A cycle can only deadlock if
//! its edges belong to different threads and no lock is held exclusively at two of them (a gate
//! lock makes the cycle harmless).

use std::collections::BTreeSet;

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use serde::{Deserialize, Serialize};

use super::operation::Mode;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Edge {
    thread: ThreadId,
    held: ObjectId,
    wanted: ObjectId,
    /// Locks that the thread held exclusively.
    exclusive: Vec<ObjectId>,
}

/// Facts about nested locks; they only grow.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LockOrder {
    edges: Vec<Edge>,
    cyclic: BTreeSet<(ObjectId, ObjectId)>,
    /// Locks that may be held by a thread that is blocked for good.
    held_for_good: BTreeSet<ObjectId>,
}

impl LockOrder {
    /// Whether wanting `wanted` while holding `held` is part of a cycle.
    pub(crate) fn is_cyclic(&self, held: ObjectId, wanted: ObjectId) -> bool {
        !self.cyclic.is_empty() && self.cyclic.contains(&(held, wanted))
    }

    /// Whether the lock may be held by a thread that is blocked for good.
    pub(crate) fn is_held_for_good(&self, lock: ObjectId) -> bool {
        self.held_for_good.contains(&lock)
    }

    /// Notes that the lock was held where its holder may be blocked for good. Returns whether that
    /// is new.
    pub(crate) fn hold_for_good(&mut self, lock: ObjectId) -> bool {
        let new = self.held_for_good.insert(lock);
        if new {
            self.close();
        }
        new
    }

    /// Notes that `thread` wants `wanted` while it holds `held`. Returns whether something of
    /// consequence was learned.
    pub(crate) fn nest(
        &mut self,
        thread: ThreadId,
        held: &[(ObjectId, Mode)],
        wanted: ObjectId,
    ) -> bool {
        let mut learned = false;
        for &(lock, mode) in held {
            if lock == wanted {
                if mode == Mode::Exclusive {
                    learned |= self.hold_for_good(lock);
                }
                continue;
            }
            let exclusive =
                || held.iter().filter(|&&(_, mode)| mode == Mode::Exclusive).map(|&(lock, _)| lock);
            let known = self.edges.iter().any(|edge| {
                edge.thread == thread
                    && edge.held == lock
                    && edge.wanted == wanted
                    && edge.exclusive.iter().copied().eq(exclusive())
            });
            if !known {
                let exclusive = exclusive().collect();
                self.edges.push(Edge { thread, held: lock, wanted, exclusive });
                learned |= self.search_cycles();
                learned |= self.close();
            }
        }
        learned
    }

    /// Looks for cycles through the last edge. Exponential in the length of a cycle only, which is
    /// at most the number of threads.
    fn search_cycles(&mut self) -> bool {
        let Some(last) = self.edges.len().checked_sub(1) else { return false };
        let mut found = Vec::new();
        self.extend(&mut vec![last], &mut found);
        let mut learned = false;
        for (held, wanted) in found {
            learned |= self.cyclic.insert((held, wanted));
            for lock in [held, wanted] {
                learned |= self.held_for_good.insert(lock);
            }
        }
        learned
    }

    fn extend(&self, path: &mut Vec<usize>, found: &mut Vec<(ObjectId, ObjectId)>) {
        let first = &self.edges[path[0]];
        let last = &self.edges[path[path.len() - 1]];
        if path.len() > 1 && last.wanted == first.held {
            found.extend(path.iter().map(|&edge| (self.edges[edge].held, self.edges[edge].wanted)));
            return;
        }
        for (number, edge) in self.edges.iter().enumerate() {
            let fits = edge.held == last.wanted
                && path.iter().all(|&other| {
                    let other = &self.edges[other];
                    other.thread != edge.thread
                        && (is_on(Fault::NoGuards)
                            || !edge.exclusive.iter().any(|lock| other.exclusive.contains(lock)))
                });
            if fits {
                path.push(number);
                self.extend(path, found);
                path.pop();
            }
        }
    }

    /// A lock that is held while one is wanted that may be held for good may itself be held for
    /// good.
    fn close(&mut self) -> bool {
        if is_on(Fault::NoClosure) {
            return false;
        }
        let before = self.held_for_good.len();
        loop {
            let size = self.held_for_good.len();
            for edge in &self.edges {
                if self.held_for_good.contains(&edge.wanted) {
                    self.held_for_good.insert(edge.held);
                }
            }
            if self.held_for_good.len() == size {
                return size > before;
            }
        }
    }
}
