//! What a machine gives beyond [`Machine`] to be searched by transactions: operations reported one
//! by one, and snapshots.

use crate::core::footprint::ObjectId;
use crate::core::machine::{Machine, ThreadId};
use crate::discipline::TransactionMonitor;

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The monitor wanted a boundary, or the thread waits to be notified.
    Boundary,
    /// The next operation cannot proceed.
    Blocked,
    /// The thread has ended.
    Ended,
    /// The execution is over for all threads.
    Over,
    /// The machine met something that it cannot model.
    Unsupported,
}

/// One of two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Racer {
    /// The thread.
    pub thread: ThreadId,
    /// Where in the program, as reported to the monitor.
    pub site: u64,
    /// It writes.
    pub writes: bool,
}

/// What makes a blocked thread go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// Anything that other threads do, as far as the machine knows.
    Unknown,
    /// The end of a thread.
    End(ThreadId),
    /// What another thread does to the object of its status, or to one that its pending operation
    /// accesses.
    Act,
}

/// A machine that keeps states and goes back to them.
pub trait Snapshots: Machine {
    /// Keeps the present state under a number; states of higher numbers may be forgotten.
    fn save(&mut self, slot: usize);

    /// Goes back to the state kept under a number.
    fn restore(&mut self, slot: usize);
}

/// A machine whose threads can run whole transactions.
///
/// A schedule that a search by transactions reports names the thread of every operation, so that
/// [`crate::drive::replay::replay`] follows it with single steps.
pub trait Transactional: Snapshots {
    /// Runs `thread` until the monitor stops it, it waits, or it ends. The monitor is asked before
    /// each operation and told after it, and chooses at choice points; failures that show are
    /// appended.
    fn advance(
        &mut self,
        thread: ThreadId,
        monitor: &mut TransactionMonitor<'_>,
        failures: &mut Vec<Self::Failure>,
    ) -> End;

    /// Number of threads that were ever started, the root's own and those that have ended included.
    /// While it is 1, nobody else can have seen anything.
    fn started(&self) -> u32 {
        self.threads()
    }

    /// Whether the thread has begun: it was started, if it does not begin at the root. (Asked of
    /// threads that exist.)
    fn has_begun(&self, thread: ThreadId) -> bool {
        let _ = thread;
        true
    }

    /// What makes a blocked thread go on that waits for no lock.
    fn awaited(&self, thread: ThreadId) -> Awaited {
        let _ = thread;
        Awaited::Unknown
    }

    /// Two conflicting atomic operations are not ordered, and not both sequentially consistent: a
    /// weaker memory could show other values than the search does. (Called at least once if there
    /// are any.)
    fn weak_values(&mut self) {}

    /// A search that knows no happens-before cannot exclude that two accesses to an object race.
    /// (Called for every such object.)
    fn may_race(&mut self, object: ObjectId, earlier: Racer, later: Racer) {
        let _ = (object, earlier, later);
    }

    /// A data race as a failure; `later` ran after `earlier` in the execution in which the race
    /// showed.
    fn race(&self, object: ObjectId, earlier: Racer, later: Racer) -> Self::Failure;
}
