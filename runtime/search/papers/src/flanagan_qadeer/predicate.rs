//! Exclusive access predicates that the user gives, and condition (i): no two threads have
//! exclusive access at once.
//!
//! Section 4.1: E(t, x) is a set of stores. Condition (i): for all threads t ≠ u, E(t, x) and E(u,
//! x) are disjoint.
//!
//! A predicate here is one formula for all threads t, a disjunction of conjunctions of [`Atom`]s,
//! so that (i) and whether an action is safe can be decided without going through all stores: two
//! conjunctions exclude each other exactly if an atom of one excludes one of the other.

use std::collections::BTreeSet;

use super::action::Waits;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;

/// A condition on the store and on who asks, t.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// t holds the lock.
    Held(ObjectId),
    /// t is this thread.
    By(ThreadId),
    /// The variable has this value.
    Value(ObjectId, i32),
}

/// An exclusive access predicate: any of the conjunctions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Predicate(pub Vec<Vec<Atom>>);

impl Predicate {
    /// Two threads that may both have exclusive access in some store, if there are any among the
    /// first `threads` (condition (i)).
    #[must_use]
    pub fn shared(&self, threads: u32) -> Option<(ThreadId, ThreadId)> {
        let pairs = (0..threads).flat_map(|t| (t + 1..threads).map(move |u| (t, u)));
        pairs.map(|(t, u)| (ThreadId(t), ThreadId(u))).find(|&(t, u)| {
            self.0.iter().any(|one| self.0.iter().any(|other| are_compatible((t, one), (u, other))))
        })
    }

    /// Whether no thread but `thread` has exclusive access while an action of `thread` that `waits`
    /// is enabled: the action is safe.
    #[must_use]
    pub fn is_safe(&self, thread: ThreadId, waits: Waits, threads: u32) -> bool {
        let others = || (0..threads).map(ThreadId).filter(|&other| other != thread);
        self.0.iter().all(|conjunction| {
            others().all(|other| conjunction.iter().any(|&atom| excludes(waits, atom, other)))
        })
    }

    /// What is left of the predicate when `known` says of an atom whether it holds, or that this
    /// is unknown.
    pub(super) fn residue(
        &self,
        mut known: impl FnMut(Atom) -> Option<bool>,
    ) -> BTreeSet<BTreeSet<Atom>> {
        let mut residue = BTreeSet::new();
        for conjunction in &self.0 {
            let mut left = BTreeSet::new();
            let holds = conjunction.iter().all(|&atom| {
                known(atom).unwrap_or_else(|| {
                    left.insert(atom);
                    true
                })
            });
            if holds {
                residue.insert(left);
            }
        }
        residue
    }

    /// The atoms.
    pub(super) fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.0.iter().flatten().copied()
    }

    /// Whether it asks for values of variables.
    pub(super) fn asks_values(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, Atom::Value(..)))
    }
}

/// Whether some store satisfies both conjunctions, each for its thread.
fn are_compatible((t, one): (ThreadId, &[Atom]), (u, other): (ThreadId, &[Atom])) -> bool {
    let is_possible = |thread: ThreadId, atoms: &[Atom]| {
        atoms.iter().all(|&atom| match atom {
            Atom::By(named) => named == thread,
            Atom::Value(variable, value) => atoms
                .iter()
                .all(|other| !matches!(other, Atom::Value(x, v) if *x == variable && *v != value)),
            Atom::Held(_) => true,
        })
    };
    let contradict = |a: Atom, b: Atom| match (a, b) {
        // A lock has one holder.
        (Atom::Held(lock), Atom::Held(same)) => lock == same,
        (Atom::Value(variable, value), Atom::Value(same, another)) => {
            variable == same && value != another
        }
        _ => false,
    };
    is_possible(t, one)
        && is_possible(u, other)
        && !one.iter().any(|&a| other.iter().any(|&b| contradict(a, b)))
}

/// Whether the atom does not hold for `other` while an action of another thread that `waits` is
/// enabled.
fn excludes(waits: Waits, atom: Atom, other: ThreadId) -> bool {
    match (waits, atom) {
        (_, Atom::By(named)) => named != other,
        (Waits::Free(lock), Atom::Held(held)) => lock == held,
        (Waits::Value(awaited, value), Atom::Value(variable, excluded)) => {
            awaited == variable && value != excluded
        }
        (Waits::Positive(awaited), Atom::Value(variable, value)) => {
            awaited == variable && value <= 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ObjectId = ObjectId(100);
    const B: ObjectId = ObjectId(101);
    const F: ObjectId = ObjectId(1);

    fn by(thread: u32) -> Atom {
        Atom::By(ThreadId(thread))
    }

    #[test]
    fn condition_i_is_decided_for_all_stores() {
        let shared = |predicate: &[&[Atom]]| {
            Predicate(predicate.iter().map(|atoms| atoms.to_vec()).collect()).shared(2).is_some()
        };
        assert!(!shared(&[]));
        assert!(shared(&[&[]]));
        assert!(!shared(&[&[Atom::Held(A)]]));
        assert!(shared(&[&[Atom::Held(A)], &[Atom::Held(B)]]));
        assert!(!shared(&[&[Atom::Held(A), Atom::Held(B)], &[Atom::Held(B)]]));
        assert!(!shared(&[&[by(0)]]));
        assert!(shared(&[&[by(0)], &[by(1)]]));
        assert!(shared(&[&[Atom::Value(F, 0)]]));
        assert!(!shared(&[&[by(0), Atom::Value(F, 0)], &[by(1), Atom::Value(F, 1)]]));
        let by_phase: [&[Atom]; 2] =
            [&[Atom::Held(A), Atom::Value(F, 0)], &[Atom::Held(B), Atom::Value(F, 1)]];
        assert!(!shared(&by_phase));
        // A conjunction that no store satisfies is nobody's.
        assert!(!shared(&[&[Atom::Value(F, 0), Atom::Value(F, 1)]]));
    }

    #[test]
    fn safe_actions_wait_until_no_other_thread_has_access() {
        let held = Predicate(vec![vec![Atom::Held(A)]]);
        let me = ThreadId(0);
        assert!(held.is_safe(me, Waits::Free(A), 2));
        assert!(!held.is_safe(me, Waits::Free(B), 2));
        assert!(!held.is_safe(me, Waits::No, 2));
        assert!(Predicate::default().is_safe(me, Waits::No, 2));
        let mine = Predicate(vec![vec![by(0)]]);
        assert!(mine.is_safe(me, Waits::No, 2) && !mine.is_safe(ThreadId(1), Waits::No, 2));
        let flag = Predicate(vec![vec![by(1), Atom::Value(F, 0)]]);
        assert!(
            flag.is_safe(me, Waits::Value(F, 1), 2) && !flag.is_safe(me, Waits::Value(F, 0), 2)
        );
        assert!(flag.is_safe(me, Waits::Positive(F), 2));
        let up = Predicate(vec![vec![by(1), Atom::Value(F, 1)]]);
        assert!(!up.is_safe(me, Waits::Positive(F), 2) && up.is_safe(me, Waits::Value(F, 0), 2));
    }
}
