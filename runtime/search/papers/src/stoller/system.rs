//! What a machine gives to be searched by Stoller's framework (journal version, section 3.1): its
//! system of threads, control points, operations on objects, and transitions.
//!
//! A transition is a step of the machine: one operation on shared objects and the local statements
//! after it (which are operations on unshared objects). A thread's control point is where it
//! stands; the transitions that start there differ in the values that they choose only.

use std::collections::BTreeSet;

use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::transactional::Snapshots;

/// What an operation does to its object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Action {
    /// Reads data; as a guard, waits for a value.
    Read,
    /// Writes data, or reads and writes it.
    Write,
    /// A commutative update whose result nobody uses.
    Update,
    /// Acquires the lock of a synchronization object (section 3.3).
    Acquire,
    /// Releases it.
    Release,
    /// The first transition of wait: enters the wait set and releases the lock.
    Wait1,
    /// The second one: takes the lock again, once the thread was notified.
    Wait2,
    /// Notifies some thread of the wait set.
    Notify,
    /// Notifies all threads of it.
    NotifyAll,
    /// In a composed transition: acquires a lock and gives it back, which has no net effect
    /// (section 5.3).
    Section,
    /// In a composed transition: has been notified.
    Notified,
    /// Adds to a semaphore.
    Up,
    /// Waits until the semaphore is positive and takes one away.
    Down,
    /// Puts a value into a FIFO queue; waits while it is full.
    Send,
    /// Takes one out; waits while it is empty.
    Receive,
    /// Anything else: depends on all operations on the object.
    Other,
    /// Ends the execution for all threads: depends on everything.
    Abort,
}

/// An operation on an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Operation {
    /// The object.
    pub object: ObjectId,
    /// What it does.
    pub action: Action,
}

impl Operation {
    /// Whether it leaves the object as it is (the paper's rdOnly).
    #[must_use]
    pub const fn is_read_only(self) -> bool {
        matches!(self.action, Action::Read)
    }
}

/// A control point: what the transitions that start there do. Empty where a thread has ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Point {
    /// The operations of its transitions, guards included.
    pub operations: Vec<Operation>,
    /// Its transitions are a non-deterministic choice (an over-approximation, as section 3.5
    /// allows).
    pub choice: bool,
    /// A thread may begin here.
    pub first: bool,
}

impl Point {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.choice = false;
        self.first = false;
    }
}

/// What dependency may look at: the value of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Nothing that dependency looks at.
    Data,
    /// A synchronization object's owner, and the threads in its wait set.
    Monitor {
        /// The owner; none if the lock is free.
        owner: Option<ThreadId>,
        /// The threads that wait to be notified.
        waiters: Vec<ThreadId>,
    },
    /// A semaphore's value.
    Semaphore(i32),
    /// A FIFO queue.
    Queue {
        /// Nothing is in it.
        is_empty: bool,
        /// No more goes into it.
        is_full: bool,
    },
}

/// A machine that is a concurrent system in the sense of section 3.1.
///
/// SyncWithoutLock (section 3.3): a thread that does not own a lock changes and learns nothing by
/// operations on it but acquire. Machines report operations on locks for which that does not hold
/// (that are tried, or whose wait sets are notified by anybody) as [`Action::Other`].
pub trait System: Snapshots + Fingerprint {
    /// The control point of the thread, whether its transitions are enabled or not. Cleared and
    /// filled.
    fn point(&self, thread: ThreadId, point: &mut Point);

    /// A number of the place where the thread stands, the same in all executions.
    fn place(&self, thread: ThreadId) -> usize;

    /// All control points of the program, by thread and place.
    fn points(&self) -> Vec<(ThreadId, usize, Point)>;

    /// The paper's ops: at least the operations that the thread may still perform from where it
    /// stands. They are added.
    fn operations(&mut self, thread: ThreadId, operations: &mut BTreeSet<Operation>);

    /// The locks that the thread owns now. Cleared and filled, sorted.
    fn held(&self, thread: ThreadId, locks: &mut Vec<ObjectId>);

    /// The object's present value, as far as dependency looks at it.
    fn value(&self, object: ObjectId) -> Value;
}
