//! Actions and what they access: what a machine says of its program to be searched by access
//! predicates.
//!
//! Section 3: Act(t, l) is what thread t does at location l, in one step, to the global store and
//! its own location. Section 4.1: α(t, l) is the set of variables that it accesses, and it does not
//! access x if it neither reads nor writes it. Section 4.2: it is *safe* for x if it is not enabled
//! while another thread has exclusive access to x.
//!
//! Departures. The paper's threads all begin at the initial state; here one may start another and
//! wait for its end. In the paper's words these act on variables that exist for the proof only
//! ([`Accessed::Ghost`]):
//! - Starting u is the last access to u's birth of the one thread that may start it, E = "u is not
//!   started", so a left mover. (If several may, E is false.)
//! - The end of u and the wait of w for it act on a variable of the two. E(u) = "u has not ended",
//!   E(w) = "w has waited for it": valid, and the end is a left mover and no right mover, the wait
//!   a right mover and no left mover.
//! - What ends the execution of all threads is accessed by nobody exclusively.

use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::transactional::Snapshots;

use super::validity::Violation;

/// A variable that an action accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accessed {
    /// An object of the program: a variable, a lock, a queue of waiters, ….
    Object(ObjectId),
    /// A variable that exists for the proof only, of which this much is known.
    Ghost {
        /// The thread has exclusive access before the action.
        before: bool,
        /// It has it after the action.
        after: bool,
    },
}

/// When an action is enabled, as far as it matters to who has exclusive access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Waits {
    /// Nothing is known.
    #[default]
    No,
    /// Only while no other thread holds this lock.
    Free(ObjectId),
    /// Only while the variable has this value.
    Value(ObjectId, i32),
    /// Only while the variable is positive.
    Positive(ObjectId),
}

/// What a thread does next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Action {
    /// What it accesses, α(t, l). As long as the thread stands before it, nothing but the thread's
    /// own knowledge (its registers, which locks it holds) decides this.
    pub accessed: Vec<Accessed>,
    /// When it is enabled.
    pub waits: Waits,
    /// It acquires a lock, perhaps one that the thread holds already.
    pub acquires: bool,
    /// Where in the program.
    pub site: u64,
}

impl Action {
    /// The objects of the program that it accesses.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.accessed.iter().filter_map(|accessed| match accessed {
            Accessed::Object(object) => Some(*object),
            Accessed::Ghost { .. } => None,
        })
    }
}

/// A machine whose actions are known, one a step.
///
/// Locks are exclusive, and change hands only by steps of the threads that take and give them: a
/// step may make its own thread a holder, or end that, and nothing else.
pub trait Guarded: Snapshots + Fingerprint {
    /// What the thread does next, whether it can now or has to wait; none if it has ended.
    fn action(&self, thread: ThreadId) -> Option<Action>;

    /// Whether the object is a lock.
    fn is_lock(&self, object: ObjectId) -> bool;

    /// Who holds the lock.
    fn holder(&self, lock: ObjectId) -> Option<ThreadId>;

    /// All locks that the thread holds.
    fn held(&self, thread: ThreadId) -> Vec<ObjectId>;

    /// The value of a variable; none if the object is something else.
    fn value(&self, variable: ObjectId) -> Option<i32>;

    /// The thread's local state: equal for equal ones only (up to hash collisions). No other
    /// thread's step changes it, unless the thread waits, and then only by steps on what its next
    /// action accesses.
    fn local(&self, thread: ThreadId) -> u128;

    /// Whether any thread may wait for the thread's end.
    fn is_awaited(&self, thread: ThreadId) -> bool;

    /// The thread that went wrong by this failure, and does nothing any more.
    fn wrong(&self, failure: &Self::Failure) -> Option<ThreadId>;

    /// A violation as a failure.
    fn violation(&self, violation: Violation) -> Self::Failure;
}
