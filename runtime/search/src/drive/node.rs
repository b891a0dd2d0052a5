//! A node of the search by transactions, and the branch that is explored from it.

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::picks::Picks;
use crate::core::sleep::Sleep;
use crate::core::source_set;
use crate::core::thin::Thin;
use crate::core::thread_set::ThreadSet;
use crate::discipline::Mode;
use serde::{Deserialize, Serialize};

/// What a thread did at a node until it waited and was rolled back.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct RolledBack {
    pub(crate) thread: ThreadId,
    pub(crate) accesses: Vec<(ObjectId, Access)>,
    pub(crate) joins: Vec<ThreadId>,
    pub(crate) need: Vec<(ObjectId, Mode)>,
}

/// A boundary state on the stack.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Node {
    /// Threads whose first operation can proceed, and which are not known to roll back.
    pub(crate) enabled: ThreadSet,
    /// Those of them that should not run without need.
    pub(crate) low_priority: ThreadSet,
    /// Threads to be explored (the source set), those explored already included.
    pub(crate) source_set: ThreadSet,
    pub(crate) sleep: Sleep,
    /// Threads that were rolled back here.
    rolled_back: Thin<RolledBack>,
    rolled: usize,
    /// The branch: the thread that runs and the values it chooses.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) picks: Picks,
    /// Race reversal asked for it.
    pub(crate) wanted: bool,
    /// The thread has run to a boundary with some values.
    pub(crate) ran: bool,
    /// A branch ended the execution for all threads.
    pub(crate) over: bool,
    /// Accesses of the branch's thread with all values explored so far.
    pub(crate) union: Vec<(ObjectId, Access)>,
    /// What of it only its first operation touches, in any state.
    pub(crate) fixed: Option<ObjectId>,
    /// Length of the schedule that leads here.
    pub(crate) schedule: usize,
}

impl Node {
    pub(crate) fn clear(&mut self) {
        self.enabled.clear();
        self.low_priority.clear();
        self.source_set.clear();
        self.sleep.clear();
        self.rolled = 0;
        self.thread = None;
        self.over = false;
    }

    /// Gives up memory that is kept for later.
    pub(crate) fn shrink(&mut self) {
        self.rolled_back.truncate(self.rolled);
        self.sleep.shrink();
    }

    /// The threads that were rolled back here.
    pub(crate) fn rolled_back(&self) -> &[RolledBack] {
        &self.rolled_back[..self.rolled]
    }

    /// Whether the thread was rolled back here, so that another race has to do instead.
    fn is_passed_over(&self, thread: ThreadId) -> bool {
        !is_on(Fault::RolledBackPassedOver)
            && self.rolled_back().iter().any(|rolled| rolled.thread == thread)
    }

    /// A place for one more thread that was rolled back.
    pub(crate) fn roll_back(&mut self) -> &mut RolledBack {
        if self.rolled_back.len() == self.rolled {
            self.rolled_back.push(RolledBack::default());
        }
        self.rolled += 1;
        &mut self.rolled_back[self.rolled - 1]
    }

    /// The thread to explore first: the last one if it can, else the lowest; low-priority ones
    /// last.
    pub(crate) fn first(&self, last: Option<ThreadId>) -> Option<ThreadId> {
        let awake = |thread: &ThreadId| {
            self.enabled.contains(*thread) && !self.sleep.asleep.contains(*thread)
        };
        let willing = |thread: &ThreadId| awake(thread) && !self.low_priority.contains(*thread);
        last.filter(willing)
            .or_else(|| self.enabled.iter().find(willing))
            .or_else(|| self.enabled.iter().find(awake))
    }

    pub(crate) fn begin(&mut self, thread: ThreadId, wanted: bool) {
        self.thread = Some(thread);
        self.wanted = wanted;
        self.ran = false;
        self.picks.clear();
        self.union.clear();
        self.fixed = None;
    }

    /// Goes on to the next branch: other values of the same thread, else the next thread that is
    /// wanted. Returns whether there is one.
    pub(crate) fn next_branch(&mut self, depth: usize) -> bool {
        let Some(thread) = self.thread else { return false };
        if self.picks.advance() {
            return true;
        }
        if self.ran {
            self.sleep.put(thread, depth, &self.union, self.fixed);
        } else {
            self.disable(thread);
        }
        self.next_wanted()
    }

    /// How many threads were explored from here, and how many are to be, those included, as far as
    /// that is known.
    pub(crate) fn branches(&self, depth: usize) -> (usize, usize) {
        let sleepers = self.sleep.sleepers().iter();
        let done = sleepers.filter(|sleeper| sleeper.depth as usize == depth).count();
        let left =
            |other: &ThreadId| self.enabled.contains(*other) && !self.sleep.asleep.contains(*other);
        (done, done + self.source_set.iter().filter(left).count().max(1))
    }

    /// Goes on to the next thread that is wanted. Returns whether there is one.
    fn next_wanted(&mut self) -> bool {
        let wanted =
            |&other: &ThreadId| self.enabled.contains(other) && !self.sleep.asleep.contains(other);
        let next = self.source_set.iter().find(wanted);
        match next {
            Some(next) => {
                self.begin(next, true);
                true
            }
            None => {
                self.thread = None;
                false
            }
        }
    }

    /// The thread cannot run from here after all. If race reversal wanted it, all others have to do
    /// instead.
    fn disable(&mut self, thread: ThreadId) {
        self.enabled.remove(thread);
        self.source_set.remove(thread);
        if self.wanted {
            self.backtrack_everywhere();
        }
    }

    /// The thread is to be explored from here, if it can run and does not sleep.
    pub(crate) fn add_backtrack_point(&mut self, thread: ThreadId) {
        if self.enabled.contains(thread) && !self.sleep.asleep.contains(thread) {
            self.source_set.insert(thread);
        }
    }

    pub(crate) fn backtrack_everywhere(&mut self) {
        for thread in self.enabled.iter() {
            self.source_set.insert(thread);
        }
    }

    /// Makes sure that something that can begin with `initials` is explored from here, for a race
    /// with a transaction of `thread` (docs/algorithm.md#race-reversal).
    pub(crate) fn reverse(&mut self, thread: ThreadId, initials: &ThreadSet) {
        if initials.intersects(&self.source_set) || initials.intersects(&self.sleep.asleep) {
            return;
        }
        let choice = source_set::choice(thread, initials, &self.enabled, &self.low_priority);
        if let Some(chosen) = choice {
            self.source_set.insert(chosen);
        } else if initials.iter().any(|other| other != thread) || self.is_passed_over(thread) {
            // A thread that was rolled back here may want other locks than it did later.
            self.backtrack_everywhere();
        }
    }
}
