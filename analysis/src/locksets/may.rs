//! Locks that a thread may hold: what else is held where a lock is acquired, for the order of
//! locks.
//!
//! The locks of [`super::state::State::held`] are held surely, and what is not known is left out;
//! these are the other way round. A lock stays until it is surely given back: by an operation on
//! the address that it was acquired at. When its address has no name any more, it is known only by
//! the objects that it may be in, and stays to the end.

use super::symbol::{Root, Symbol};
use crate::facts::FunctionId;
use crate::facts::flow::Point;
use crate::points_to::ObjectId;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A lock that may be held, or wanted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Taken {
    /// Where it is acquired.
    pub point: Point,
    /// The same, or the call that leads there, in the user's code.
    pub call: Option<Point>,
    /// With others, who only read.
    pub shared: bool,
    /// Its address, as long as it has a name in the function.
    pub lock: Option<Symbol>,
    /// The objects that it may be in, sorted; none: any.
    pub objects: Rc<[ObjectId]>,
    /// Its distance from the beginning of its object, if that is known.
    pub offset: Option<i64>,
    /// The function that acquires it has given it back before, as a wait for a condition variable
    /// does.
    pub again: bool,
}

impl Taken {
    /// It is also in one of these objects.
    pub fn narrow(&mut self, objects: &[ObjectId]) {
        if self.objects.is_empty() {
            self.objects = objects.into();
        } else if !objects.is_empty() && *objects != *self.objects {
            let both: Vec<ObjectId> =
                self.objects.iter().copied().filter(|o| objects.binary_search(o).is_ok()).collect();
            // They have none in common where a call cannot be.
            if !both.is_empty() {
                self.objects = both.into();
            }
        }
    }

    /// Whether it waits for its own holder, if it is the lock that is held: by another call of the
    /// program, not by a further part of acquiring it.
    pub fn waits_for(&self, held: &Self) -> bool {
        let is_call = |taken: &Self| taken.call.is_some_and(|call| call != taken.point);
        let both_read = self.shared && held.shared;
        !self.again && !both_read && is_call(self) && is_call(held) && self.call != held.call
    }

    /// Whether its callers know more of it.
    pub fn is_passed(&self) -> bool {
        self.lock.is_some_and(|lock| lock.is_outside() && !matches!(lock.root, Root::Global(_)))
    }

    /// The same for those to whom no address of the function means anything.
    pub fn nameless(&self) -> Self {
        let lock = self.lock.filter(|lock| matches!(lock.root, Root::Global(_)));
        Self { lock, ..self.clone() }
    }
}

/// Locks that may be held.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct May(BTreeSet<Taken>);

impl May {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Taken> {
        self.0.iter()
    }

    /// One more, by an operation of the function: a loop of std's own may come to it, or to its
    /// like, again before it has the lock.
    pub fn acquire(&mut self, taken: Taken) {
        self.0.insert(taken);
    }

    /// One more, by a call. One that is held with others may be held twice then: who gives it back
    /// once may still hold it.
    pub fn come_back_with(&mut self, taken: Taken) {
        let again = taken.lock.filter(|_| taken.shared);
        let twice = again.is_some_and(|lock| self.0.iter().any(|held| held.lock == Some(lock)));
        self.0.insert(taken);
        if twice {
            self.forget_names(|lock| Some(lock) == again);
        }
    }

    /// The lock at an address is given back. Whether it may be one that the function has acquired.
    pub fn release(&mut self, lock: Symbol) -> bool {
        let before = self.0.len();
        self.0.retain(|taken| taken.lock != Some(lock));
        self.0.len() < before || self.0.iter().any(|taken| taken.shared && taken.lock.is_none())
    }

    /// Whoever holds it holds it with others from now on.
    pub fn downgrade(&mut self, lock: Symbol) {
        let change = |taken: Taken| match taken.lock == Some(lock) {
            true => Taken { shared: true, ..taken },
            false => taken,
        };
        self.0 = std::mem::take(&mut self.0).into_iter().map(change).collect();
    }

    /// What some roots stand for is computed again.
    pub fn renew(&mut self, renewed: impl Fn(Root) -> bool) {
        self.forget_names(|lock| renewed(lock.root));
    }

    fn forget_names(&mut self, forgotten: impl Fn(Symbol) -> bool) {
        if self.0.iter().any(|taken| taken.lock.is_some_and(&forgotten)) {
            let change =
                |taken: Taken| Taken { lock: taken.lock.filter(|lock| !forgotten(*lock)), ..taken };
            self.0 = std::mem::take(&mut self.0).into_iter().map(change).collect();
        }
    }

    /// Another way leads here, or a call may come back with these.
    pub fn unite(&mut self, other: &Self) {
        if !other.0.is_subset(&self.0) {
            self.0.extend(other.0.iter().cloned());
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same in other terms.
    pub fn map(&self, change: impl FnMut(&Taken) -> Taken) -> Self {
        Self(self.0.iter().map(change).collect())
    }
}

/// A lock is acquired, by an operation that waits, where another one may be held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Nested {
    /// What may be held.
    pub held: Taken,
    /// What is acquired.
    pub wanted: Taken,
    /// How far the one is from the other, if both are in one block of memory, and it is known.
    pub apart: Option<i64>,
    /// The function that passes the locks to those that acquire them, or does so itself.
    pub within: FunctionId,
    /// All that is surely held then, the one included.
    pub gates: Rc<[Taken]>,
    /// The one is surely held.
    pub sure: bool,
}

impl Nested {
    /// Whether callers know more of it.
    pub fn is_passed(&self) -> bool {
        self.held.is_passed() || self.wanted.is_passed()
    }

    /// The same with each lock in other terms.
    pub fn map(&self, mut change: impl FnMut(&Taken) -> Taken) -> Self {
        Self {
            held: change(&self.held),
            wanted: change(&self.wanted),
            gates: self.gates.iter().map(change).collect(),
            ..self.clone()
        }
    }
}
