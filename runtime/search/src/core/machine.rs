//! The seam between a search and what it searches.
//!
//! A machine is a concurrent program in some state below its *root* (the state in which the search
//! begins). Its threads are stopped at *boundaries*. A search asks which threads could run, runs
//! one to its next boundary, and learns from the [`Step`] what the run touched; it goes back by
//! restoring the root and running a prefix again.
//!
//! Contract. (1) From the root, equal choices give equal runs: threads, statuses, footprints,
//! signatures, failures.
//! (2) A thread's status and pending footprint change only by steps. (3) `status` is `Blocked`
//! exactly when a step of the thread would not be possible now. (4) A run ends: endless invisible
//! runs are the machine's to cut.

use crate::core::footprint::{Footprint, ObjectId};
use serde::{Deserialize, Serialize};

/// A thread, numbered in creation order within the execution; the root's only or first thread is 0.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// As an index into per-thread tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a thread could run now.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It can run.
    Enabled,
    /// It can run, but others should be tried first: it would only let a timeout fire, or spin.
    LowPriority,
    /// It waits for another thread.
    Blocked {
        /// The object it waits for.
        on: ObjectId,
    },
    /// It has ended (or is a thread that will never run again).
    Ended,
}

impl Status {
    /// Whether the thread can run now.
    #[must_use]
    pub const fn can_run(self) -> bool {
        matches!(self, Self::Enabled | Self::LowPriority)
    }
}

/// Whether an execution goes on after a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Flow {
    /// It goes on.
    #[default]
    On,
    /// The execution is over for all threads (abort, signal, a fatal failure). `status` and
    /// `pending` still answer for the other threads as if it were not: searches ask what those that
    /// wait would have done.
    Over,
    /// The machine met something that it cannot model: the whole search ends.
    Unsupported,
}

/// What one run of a thread did. Reused by searches: machines clear and refill it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<F> {
    /// What it touched.
    pub footprint: Footprint,
    /// A hash of what was executed and where (not of addresses that may differ between equal
    /// executions, if there are any): a replayed prefix whose signatures differ from the recorded
    /// ones is uncontrolled nondeterminism.
    pub signature: u64,
    /// Failures that showed in it.
    pub failures: Vec<F>,
    /// Whether the execution goes on.
    pub flow: Flow,
    /// Sleeps and timeouts that ended in it, and looks at clocks that came late, although others
    /// could have gone on before ([`Machine::status`]).
    pub overtaken: u32,
}

impl<F> Default for Step<F> {
    fn default() -> Self {
        Self {
            footprint: Footprint::default(),
            signature: 0,
            failures: Vec::new(),
            flow: Flow::On,
            overtaken: 0,
        }
    }
}

impl<F> Step<F> {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.footprint.clear();
        self.signature = 0;
        self.failures.clear();
        self.flow = Flow::On;
        self.overtaken = 0;
    }
}

/// Picks alternatives at the choice points that a run meets (which waiter a notify wakes, …).
pub trait Chooser {
    /// One of `0..of`; `of` is at least 2.
    fn choose(&mut self, of: u32) -> u32;
}

/// How near a thread is to a target of a directed search: a cycle of locks that are acquired under
/// each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Approach {
    /// Its next operation is at no place of it.
    Away,
    /// It is about to acquire a lock under which the cycle has another one acquired.
    Outer,
    /// It holds such a lock, and is about to acquire, or waits for, the one that the cycle has
    /// under it.
    Inner,
}

/// A concurrent program that can be stepped and put back to its root.
pub trait Machine {
    /// A failure: what the search reports together with the schedule that reaches it.
    type Failure: Clone;

    /// Whether a failure is a data race: after it, the state may depend on more than the order of
    /// dependent runs.
    fn is_race(failure: &Self::Failure) -> bool;

    /// Goes back to the root.
    fn restore_root(&mut self);

    /// Number of threads that exist now, ended ones included. Ids are `0..threads()`.
    fn threads(&self) -> u32;

    /// Whether `thread` could run now. In a machine whose time is ordered, a thread that sleeps, or
    /// that waits with a timeout, and that nobody wakes, can go on only where no other thread can
    /// run but such as sleep longer. (Those that only go round loops in vain count for nothing.)
    fn status(&mut self, thread: ThreadId) -> Status;

    /// Whether some thread can go on once nobody else can run: time is ordered, and it sleeps, or
    /// waits with a timeout.
    fn waits_for_time(&self) -> bool {
        false
    }

    /// What the thread's next run would surely begin with, in the present state, whether it is
    /// blocked or not: the accesses of its pending operation. Cleared and filled. Needed for race
    /// reversal of blocked threads, and of all threads to sample partial orders.
    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint);

    /// How near the thread's next operation, in the present state, is to the target of this number,
    /// whether it is blocked or not. Decides which walks a directed search makes, never what is
    /// found in them.
    fn approach(&self, thread: ThreadId, target: u32) -> Approach {
        let _ = (thread, target);
        Approach::Away
    }

    /// Runs `thread`, whose status `can_run`, to its next boundary; `step` is cleared and filled.
    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Self::Failure>);

    /// No thread can run: judges the final state (deadlock, exit status, …), appending failures.
    /// Called once an execution, also after `Flow::Over`.
    fn finish(&mut self, failures: &mut Vec<Self::Failure>);
}
