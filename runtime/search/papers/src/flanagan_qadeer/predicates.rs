//! The exclusive access predicates of all variables: given ones, and ones over locks, which are
//! inferred.
//!
//! Section 5: a lock m has E(t, m) = "t holds m"; data z has a set M_z of protecting locks, and
//! E(t, z) = "M_z is not empty and t holds all of it". Section 5.1: z may belong to one thread;
//! that is as if the thread held a lock of its own from the beginning on. Sections 5.2 and 5.3: the
//! depth c_m of a re-entrant lock and the wait set w_m are protected by m. Section 6: M_z begins as
//! all locks; at every access to z the locks that the thread does not hold are removed from it
//! (rule ACCESS).
//!
//! Departures:
//! - Locks are treated as data whose set begins as the lock itself. Only acquire and release are
//!   safe for it; who looks at a lock in whatever state it is (a try) makes the set empty, so that
//!   nobody has exclusive access to the lock any more. The paper has no tries.
//! - A queue of waiters is an object of its own, a condition variable, which others may act on
//!   without holding the lock. So its locks are inferred as those of data are; M_w = {m} comes out
//!   where the paper's rules are kept.
//! - The depth of a re-entrant lock is reported as the lock, since E is the same. The paper says
//!   that acquire is a right mover and release a left mover; by its own definition an inner one is
//!   both, and that matters: a right mover after a commit may not go on with its transaction (A2).
//! - A thread that waits before an access (for a value, a message) accesses, too: the lock sets are
//!   reduced where it stands, whether the action is enabled or not. Rule ACCESS asks for an enabled
//!   one, (s, s', l') ∈ Act(t, l); so x below belongs to B alone, B's only transaction never
//!   commits, and A's failure is missed: Theorem 6.1 does not hold where data actions may wait. In
//!   the instrumented program of section 4.2, to which its proof refers, A goes wrong right away,
//!   since δ is asserted before the wait. `atomic x; thread A { await x == 1; assert r == 1 }
//!   thread B { x = 1 }`
//! - Waiting accesses the queue and gives the lock back, coming back takes the lock and accesses
//!   the queue: in both the lock counts as held. (While another thread holds it neither is enabled,
//!   so they are safe for what it protects.)
//! - Before an access to z, E(t, z) is judged with what the access would leave of M_z. At the
//!   fixpoint this is the same.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{Accessed, Action, Guarded, Waits};
use super::predicate::{Atom, Predicate};
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// A lock that protects something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Guard {
    /// A lock of the program.
    Lock(ObjectId),
    /// The lock that the thread holds from the beginning to the end (section 5.1).
    Thread(ThreadId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Protection {
    /// The user's predicate.
    Given(Predicate),
    /// Threads that hold all of these have exclusive access; nobody if there are none.
    Guards(BTreeSet<Guard>),
}

/// What has happened to the predicate of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weakened {
    /// A guess was refuted.
    Guess,
    /// The user's predicate was violated.
    Given,
}

/// The predicates of all objects. A search fills it with what it infers, and a later one begins
/// with that.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Predicates {
    of: BTreeMap<ObjectId, Protection>,
    /// States that the last search reached, and those of them in which no thread is in a
    /// transaction.
    pub(super) states: (u64, u64),
}

impl Predicates {
    /// These are given, the rest is inferred. Of several for one object the last one counts.
    #[must_use]
    pub fn given(predicates: &[(ObjectId, Predicate)]) -> Self {
        let given = predicates.iter().cloned();
        let of = given.map(|(object, predicate)| (object, Protection::Given(predicate))).collect();
        Self { of, ..Self::default() }
    }

    /// States that the last search reached: with the threads' phases, as the paper counts them.
    #[must_use]
    pub const fn states(&self) -> u64 {
        self.states.0
    }

    /// Those of them in which no thread is in a transaction: where threads are switched.
    #[must_use]
    pub const fn boundaries(&self) -> u64 {
        self.states.1
    }

    /// The locks that protect the object; none if it was never accessed, or if the user's predicate
    /// stands.
    #[must_use]
    pub fn guards(&self, object: ObjectId) -> Option<&BTreeSet<Guard>> {
        match self.of.get(&object)? {
            Protection::Given(_) => None,
            Protection::Guards(guards) => Some(guards),
        }
    }

    /// The user's predicates that still stand.
    pub(super) fn all_given(&self) -> impl Iterator<Item = (ObjectId, &Predicate)> {
        self.of.iter().filter_map(|(&object, protection)| match protection {
            Protection::Given(predicate) => Some((object, predicate)),
            Protection::Guards(_) => None,
        })
    }

    /// Nobody has exclusive access to the object any more.
    pub(super) fn drop(&mut self, object: ObjectId) {
        self.of.insert(object, Protection::Guards(BTreeSet::new()));
    }

    /// Whether the thread has exclusive access to the object, E(t, x).
    pub(super) fn holds<M: Guarded>(
        &self,
        machine: &M,
        thread: ThreadId,
        object: ObjectId,
    ) -> bool {
        match self.of.get(&object) {
            Some(Protection::Given(predicate)) => satisfies(predicate, machine, thread),
            Some(Protection::Guards(guards)) => {
                let nobody = guards.is_empty() && !is_on(Fault::UnprotectedIsMover);
                !nobody && guards.iter().all(|&guard| has(machine, thread, guard))
            }
            None => machine.is_lock(object) && machine.holder(object) == Some(thread),
        }
    }

    /// Whether it has it after an access of its own, which would remove the locks that it does not
    /// hold. While it holds any of them, or if nobody has ever accessed the object, no other thread
    /// accesses it.
    pub(super) fn would_hold<M: Guarded>(
        &self,
        machine: &M,
        thread: ThreadId,
        object: ObjectId,
    ) -> bool {
        match self.of.get(&object) {
            Some(Protection::Guards(guards)) if !guards.is_empty() => {
                guards.iter().any(|&guard| has(machine, thread, guard))
            }
            None if !machine.is_lock(object) => true,
            _ => self.holds(machine, thread, object),
        }
    }

    /// Whether the thread has exclusive access to all that the action accesses, E(t, l), before it.
    pub(super) fn before<M: Guarded>(
        &self,
        machine: &M,
        thread: ThreadId,
        action: &Action,
    ) -> bool {
        action.accessed.iter().all(|&accessed| match accessed {
            Accessed::Object(lock) if is_on(Fault::AcquireIsLeft) && machine.is_lock(lock) => true,
            Accessed::Object(object) => self.would_hold(machine, thread, object),
            Accessed::Ghost { before, .. } => before,
        })
    }

    /// Whether it has it after the action, which was made.
    pub(super) fn after<M: Guarded>(&self, machine: &M, thread: ThreadId, action: &Action) -> bool {
        action.accessed.iter().all(|&accessed| match accessed {
            Accessed::Object(object) => self.holds(machine, thread, object),
            Accessed::Ghost { after, .. } => after,
        })
    }

    /// Whether an action of the thread that `waits` is safe for the object.
    pub(super) fn is_safe<M: Guarded>(
        &self,
        machine: &M,
        thread: ThreadId,
        waits: Waits,
        object: ObjectId,
    ) -> bool {
        let excludes = |guard: &Guard| match *guard {
            Guard::Lock(lock) => waits == Waits::Free(lock),
            Guard::Thread(owner) => owner == thread,
        };
        match self.of.get(&object) {
            Some(Protection::Given(predicate)) => {
                predicate.is_safe(thread, waits, machine.threads())
            }
            Some(Protection::Guards(guards)) => guards.is_empty() || guards.iter().any(excludes),
            None => machine.is_lock(object) && excludes(&Guard::Lock(object)),
        }
    }

    /// Whether the thread may make an action that `waits` and accesses the object: δ for given
    /// predicates, and for inferred ones that no lock has to be removed from them.
    pub(super) fn permits<M: Guarded>(
        &self,
        machine: &M,
        thread: ThreadId,
        waits: Waits,
        object: ObjectId,
    ) -> bool {
        match self.of.get(&object) {
            Some(Protection::Given(_)) => {
                self.is_safe(machine, thread, waits, object) || self.holds(machine, thread, object)
            }
            Some(Protection::Guards(guards)) => guards.is_subset(&held(machine, thread, waits)),
            None => machine.is_lock(object) && waits == Waits::Free(object),
        }
    }

    /// The thread makes an action that is not permitted (rule ACCESS): removes the locks that it
    /// does not hold.
    pub(super) fn weaken<M: Guarded>(
        &mut self,
        machine: &M,
        thread: ThreadId,
        waits: Waits,
        object: ObjectId,
    ) -> Weakened {
        let held = held(machine, thread, waits);
        let (guards, weakened) = match self.of.get(&object) {
            Some(Protection::Given(_)) => (BTreeSet::new(), Weakened::Given),
            Some(Protection::Guards(guards)) => {
                (guards.intersection(&held).copied().collect(), Weakened::Guess)
            }
            None if machine.is_lock(object) => (BTreeSet::new(), Weakened::Guess),
            None => (held, Weakened::Guess),
        };
        self.of.insert(object, Protection::Guards(guards));
        weakened
    }
}

/// What the thread holds at an action that `waits`: before it, or after it.
fn held<M: Guarded>(machine: &M, thread: ThreadId, waits: Waits) -> BTreeSet<Guard> {
    let taken = match waits {
        Waits::Free(lock) => Some(lock),
        _ => None,
    };
    let locks = machine.held(thread).into_iter().chain(taken).map(Guard::Lock);
    locks.chain([Guard::Thread(thread)]).collect()
}

/// Whether the thread holds the lock.
fn has<M: Guarded>(machine: &M, thread: ThreadId, guard: Guard) -> bool {
    match guard {
        Guard::Lock(lock) => machine.holder(lock) == Some(thread),
        Guard::Thread(owner) => owner == thread,
    }
}

/// Whether the atom holds for the thread.
pub(super) fn is_true<M: Guarded>(machine: &M, thread: ThreadId, atom: Atom) -> bool {
    match atom {
        Atom::Held(lock) => machine.holder(lock) == Some(thread),
        Atom::By(named) => named == thread,
        Atom::Value(variable, value) => machine.value(variable) == Some(value),
    }
}

fn satisfies<M: Guarded>(predicate: &Predicate, machine: &M, thread: ThreadId) -> bool {
    let holds = |atoms: &Vec<Atom>| atoms.iter().all(|&atom| is_true(machine, thread, atom));
    predicate.0.iter().any(holds)
}
