//! Condition (ii), and the assertion δ that accesses respect the predicates.
//!
//! Section 4.1, condition (ii): a step of a thread u neither gives exclusive access to x to another
//! thread t nor takes it away. Section 4.2: δ(t, l) is the conjunction over α(t, l) of "the action
//! is safe for x, or t has exclusive access to x"; a thread that makes an action where δ does not
//! hold goes wrong. For locks and for what they protect (ii) always holds (section 5), so it is
//! checked for the user's predicates only.
//!
//! Departures:
//! - The paper asks for (ii) in all states of the program. Only those that are visited can be
//!   looked at, and a violation could come about only in between, in the middle of transactions. So
//!   it is checked with what the thread u knows: the values of what its step accesses, the locks
//!   that it holds, and the variables that no other thread may access meanwhile; whatever the rest
//!   of the store is, the step may not change E(t, x). All this is the same wherever the step is
//!   moved, so Theorem 4.1 holds for a program whose threads go wrong at such a step. It is less
//!   than all states, and more than the reachable ones.
//! - A violated predicate becomes *false* (see [`super`]).

use std::collections::BTreeSet;

use super::action::{Action, Guarded};
use super::predicate::{Atom, Predicate};
use super::predicates::{Predicates, is_true};
use lockred_search::fault::{Fault, is_on};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// A predicate that the user gave is no exclusive access predicate of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Violation {
    /// Condition (i): both threads may have exclusive access at once.
    Shared {
        /// To this object.
        object: ObjectId,
        /// One thread.
        one: ThreadId,
        /// The other.
        other: ThreadId,
    },
    /// Condition (ii): a step of one thread gives exclusive access to another, or takes it away.
    Changed {
        /// To this object.
        object: ObjectId,
        /// The thread whose access changes.
        of: ThreadId,
        /// The thread that made the step.
        by: ThreadId,
        /// The step.
        site: u64,
    },
    /// δ: a thread accesses an object without exclusive access, where another one might have it.
    Unguarded {
        /// The object.
        object: ObjectId,
        /// The thread.
        thread: ThreadId,
        /// The step.
        site: u64,
    },
}

impl Violation {
    /// The object whose predicate it is.
    #[must_use]
    pub const fn object(self) -> ObjectId {
        match self {
            Self::Shared { object, .. }
            | Self::Changed { object, .. }
            | Self::Unguarded { object, .. } => object,
        }
    }
}

/// The objects of the action for which δ is no matter of course: exclusive access is asserted.
pub(super) fn asserted<M: Guarded>(
    machine: &M,
    predicates: &Predicates,
    thread: ThreadId,
    action: &Action,
) -> Vec<ObjectId> {
    let unsafe_for =
        |&object: &ObjectId| !predicates.is_safe(machine, thread, action.waits, object);
    action.objects().filter(unsafe_for).collect()
}

/// Those whose predicates do not permit it in the present state.
pub(super) fn violated<M: Guarded>(
    machine: &M,
    predicates: &Predicates,
    thread: ThreadId,
    action: &Action,
) -> Vec<ObjectId> {
    if is_on(Fault::AccessUnchecked) {
        return Vec::new();
    }
    let permits = |&object: &ObjectId| predicates.permits(machine, thread, action.waits, object);
    action.objects().filter(|object| !permits(object)).collect()
}

/// What others' exclusive access is before a step, as far as the step may change it.
pub(super) struct Rely {
    by: ThreadId,
    site: u64,
    watched: Vec<Watched>,
}

struct Watched {
    object: ObjectId,
    of: ThreadId,
    predicate: Predicate,
    /// The atoms whose truth the acting thread knows.
    known: Vec<Atom>,
    before: Residue,
}

type Residue = BTreeSet<BTreeSet<Atom>>;

impl Rely {
    /// Before a step of the thread.
    pub(super) fn before<M: Guarded>(
        machine: &M,
        predicates: &Predicates,
        by: ThreadId,
        action: &Action,
    ) -> Self {
        let accesses = |object| action.objects().any(|accessed| accessed == object);
        let is_touched = |atom: Atom| match atom {
            Atom::Held(object) | Atom::Value(object, _) => accesses(object),
            Atom::By(_) => false,
        };
        let knows = |atom: &Atom| match *atom {
            Atom::By(_) => true,
            Atom::Held(lock) => accesses(lock) || machine.holder(lock) == Some(by),
            Atom::Value(variable, _) => {
                accesses(variable) || predicates.would_hold(machine, by, variable)
            }
        };
        let mut watched = Vec::new();
        for (object, predicate) in predicates.all_given() {
            if !predicate.atoms().any(is_touched) || is_on(Fault::ChangesUnchecked) {
                continue;
            }
            let known: Vec<Atom> = predicate.atoms().filter(knows).collect();
            for of in (0..machine.threads()).map(ThreadId).filter(|&of| of != by) {
                let before = residue(machine, predicate, &known, of);
                let (predicate, known) = (predicate.clone(), known.clone());
                watched.push(Watched { object, of, predicate, known, before });
            }
        }
        Self { by, site: action.site, watched }
    }

    /// After the step: what it violates.
    pub(super) fn after<M: Guarded>(&self, machine: &M) -> Vec<Violation> {
        let changed = self.watched.iter().filter(|watched| {
            let Watched { predicate, known, of, before, .. } = watched;
            residue(machine, predicate, known, *of) != *before
        });
        let (by, site) = (self.by, self.site);
        let violation = |w: &Watched| Violation::Changed { object: w.object, of: w.of, by, site };
        changed.map(violation).collect()
    }
}

/// What the predicate says for a thread when only some atoms are known.
fn residue<M: Guarded>(
    machine: &M,
    predicate: &Predicate,
    known: &[Atom],
    of: ThreadId,
) -> Residue {
    predicate.residue(|atom| known.contains(&atom).then(|| is_true(machine, of, atom)))
}
