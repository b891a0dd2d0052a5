//! The phase variable, and the partition of the states into R, L and N.
//!
//! Section 4.2: a thread's phase variable p is true in the part of a transaction before its commit.
//! An action from store s to store s' makes it
//!
//! p' = s' ∈ E(t, l) ∧ (p ∨ l = Init ∨ s ∉ E(t, l)).
//!
//! - A: R(t), before the commit: p is true, and t is neither at Init nor Wrong.
//! - B: L(t), after the commit, is a part of: p is false, t is neither at Init nor Wrong, and s ∈
//!   E(t, l), so that the next action is a left mover.
//! - N(t), not in a transaction: the rest. Condition C, that from every state of L(t) thread t
//!   reaches N(t) by itself, takes states out of L(t): see `condition_c`.
//!
//! Departures: Init is a value of the phase, not a location, so that a loop may come back to the
//! first location. A thread that has ended with p = false has no next action, and is in N; one that
//! has ended with p = true is in R for good, as the paper has it: whatever it did are right movers,
//! which nobody misses who runs in its place.
//!
//! [`Movers`] is the paper's comparison with Stoller and Cohen: with left movers alone p stays
//! false, and without movers N is everything ("the standard model checking algorithm").

use lockred_search::fault::{Fault, is_on};

/// A thread's phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// It has not done anything yet.
    Init,
    /// p is true.
    Right,
    /// p is false.
    Left,
    /// It has gone wrong.
    Wrong,
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// R(t): in a transaction, before its commit.
    Right,
    /// L(t): in a transaction, after its commit.
    Left,
    /// N(t): in no transaction.
    None,
}

/// Which movers make transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Movers {
    /// Right and left movers: the paper's algorithm.
    #[default]
    Both,
    /// Left movers only.
    Left,
    /// None: every action is a transaction.
    None,
}

/// An action as the phase sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exclusive {
    /// The thread has exclusive access to all that it accesses before it.
    pub(super) before: bool,
    /// And after it.
    pub(super) after: bool,
    /// It is an acquire.
    pub(super) acquires: bool,
}

impl Phase {
    /// The phase after an action.
    pub(super) fn next(self, exclusive: Exclusive, movers: Movers) -> Self {
        let Exclusive { before, mut after, acquires } = exclusive;
        if is_on(Fault::ReleaseIsRight) {
            after |= before;
        }
        let right = after && (matches!(self, Self::Right | Self::Init) || !before);
        let right = right || (acquires && is_on(Fault::InnerAcquireIsRight));
        if right && movers == Movers::Both { Self::Right } else { Self::Left }
    }

    /// Where the thread is. `next`: it has not ended, and has exclusive access to all that its next
    /// action accesses.
    pub(super) fn part(self, next: bool, movers: Movers) -> Part {
        match self {
            _ if movers == Movers::None => Part::None,
            Self::Init | Self::Wrong => Part::None,
            Self::Right => Part::Right,
            Self::Left if next => Part::Left,
            Self::Left => Part::None,
        }
    }
}
