//! A state on the stack of the unified search.

use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::core::picks::Picks;
use crate::core::thread_set::ThreadSet;
use crate::discipline::Mode;
use crate::states::unordered::Past;

use super::known::Known;
use super::summary::{FootId, SummaryId};

/// What a thread that cannot go on waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waits {
    /// A lock.
    Lock(ObjectId, Mode),
    /// The end of a thread.
    End(ThreadId),
    /// That somebody does something to this object, or to one that it is about to access.
    Act(ObjectId, FootId),
    /// Anything.
    Unknown,
}

/// How a thread stands at a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// It can run (or is rolled back).
    Able,
    Waits(Waits),
    NotBegun,
    Ended,
}

/// See the module.
#[derive(Default)]
pub(super) struct Level {
    pub(super) fingerprint: u128,
    /// Its number among the states that were met, and the lowest of a state on the stack to which
    /// it is known to lead back.
    pub(super) number: u32,
    pub(super) low: u32,
    /// How many states were open when it was met.
    pub(super) opened: usize,
    /// It may be on a cycle: all threads are explored.
    pub(super) cyclic: bool,
    /// A branch ended the execution for all threads.
    pub(super) over: bool,
    /// Threads whose first operation can proceed.
    pub(super) enabled: ThreadSet,
    /// Those of them that should not run without need.
    pub(super) reluctant: ThreadSet,
    /// Threads to explore.
    pub(super) back: ThreadSet,
    /// Threads that were explored.
    pub(super) done: ThreadSet,
    /// Per thread.
    pub(super) standings: Vec<Standing>,
    /// Threads that were rolled back here.
    pub(super) rolled_back: Vec<(ThreadId, Waits)>,
    /// The branch: the thread that runs and the values that it chooses.
    pub(super) thread: Option<ThreadId>,
    pub(super) picks: Picks,
    /// Some thread has run to a boundary.
    pub(super) moved: bool,
    /// The thread that ran last.
    pub(super) last: Option<ThreadId>,
    /// Per thread, the locks that it holds.
    pub(super) held: Vec<Vec<(ObjectId, Mode)>>,
    /// Per thread, what is before what it does next by creation and joining.
    pub(super) pasts: Vec<Past>,
    pub(super) known: Known,
    /// What the transaction of the branch did.
    pub(super) foot: Option<FootId>,
    /// What can be executed from here, as far as it is known.
    pub(super) summary: SummaryId,
    /// Length of the schedule that leads here.
    pub(super) schedule: usize,
}

impl Level {
    /// All threads are to be explored.
    pub(super) fn want_all(&mut self) {
        for thread in self.enabled.iter() {
            self.back.insert(thread);
        }
    }

    /// The next thread that is to be explored.
    pub(super) fn next_wanted(&self) -> Option<ThreadId> {
        self.back.iter().find(|&t| self.enabled.contains(t) && !self.done.contains(t))
    }

    /// The thread to explore first: the one with the lowest score, and of those the last one;
    /// reluctant ones last.
    pub(super) fn first(&self, score: impl Fn(ThreadId) -> u32) -> Option<ThreadId> {
        let left = self.enabled.iter().filter(|&thread| !self.done.contains(thread));
        left.min_by_key(|&thread| {
            (self.reluctant.contains(thread), score(thread), Some(thread) != self.last, thread)
        })
    }
}
