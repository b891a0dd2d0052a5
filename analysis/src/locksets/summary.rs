//! What a call of a function does, in terms of what it is passed.

use super::may::{May, Nested, Taken};
use super::numbers::Numbers;
use super::state::{Base, Cell, Hold, Released, State};
use super::symbol::{Known, Root, Symbol};
use crate::facts::Register;
use crate::facts::flow::Point;
use std::collections::{BTreeMap, BTreeSet};

/// Stands for the call in roots of a summary: each [`Root::Given`] of it is a value that the
/// function has computed.
pub const SELF: Point = Point::MAX;

/// One way in which a function ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exit {
    /// What it returns.
    pub results: Vec<Option<Known>>,
    /// What it has written, where it was passed followed memory: by parameter.
    pub cells: BTreeMap<(Register, i64), Cell>,
    /// Parameters after which nothing else is as it was.
    pub clobbered: BTreeSet<Register>,
    /// Those after which addresses may have been written.
    pub stale: BTreeSet<Register>,
    /// Locks that it has acquired and holds.
    pub held: BTreeMap<Symbol, Hold>,
    /// Locks that it has given back.
    pub released: Released,
    /// Locks that it has acquired, and may hold.
    pub may: May,
    /// Locks of its callers that it has surely given back.
    pub gave: BTreeSet<Symbol>,
    /// It ends so only if what it is passed is this.
    pub only_if: Numbers,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The ways in which it returns; none if it does not.
    pub returns: Vec<Exit>,
    /// The ways in which an exception leaves it.
    pub unwinds: Vec<Exit>,
    /// Locks that it, or what it calls, may acquire by operations that wait.
    pub acquires: BTreeSet<Taken>,
    /// Locks that may be acquired under others, of which its callers know more.
    pub nested: BTreeSet<Nested>,
}

impl Summary {
    /// Of a function that may do anything to what it is passed.
    pub fn unknown(parameters: u32, released: Released) -> Self {
        let clobbered: BTreeSet<Register> = (0..parameters).collect();
        let exit = Exit { stale: clobbered.clone(), clobbered, released, ..Exit::default() };
        Self { returns: vec![exit.clone()], unwinds: vec![exit], ..Self::default() }
    }

    /// It may come back with these, or unwind with those.
    pub fn may_hold(&mut self, may: &[May; 2]) {
        for (exits, may) in [&mut self.returns, &mut self.unwinds].into_iter().zip(may) {
            exits.iter_mut().for_each(|exit| exit.may.unite(may));
        }
    }

    /// What it may hold when it returns, and when it unwinds.
    pub fn may(&self) -> [May; 2] {
        [&self.returns, &self.unwinds].map(|exits| {
            let mut all = May::default();
            exits.iter().for_each(|exit| all.unite(&exit.may));
            all
        })
    }

    /// How much it says of the order of locks.
    pub fn order_size(&self) -> usize {
        let exits = self.returns.iter().chain(&self.unwinds);
        let may: usize = exits.map(|exit| exit.may.len()).sum();
        may + self.acquires.len() + self.nested.len()
    }

    /// Whether it gives back nothing that its callers hold.
    pub fn releases_nothing(&self) -> bool {
        self.returns.iter().chain(&self.unwinds).all(|exit| exit.released.is_none())
    }
}

/// Makes exits: numbers what the function has computed.
#[derive(Debug, Default)]
pub struct Exits {
    given: BTreeMap<Root, u32>,
}

impl Exits {
    /// What a state at the end of a function says to the callers.
    pub fn exit(&mut self, state: &State, results: Vec<Option<Known>>) -> Exit {
        let mut cells = BTreeMap::new();
        for (&(base, offset), &cell) in &state.cells {
            if let Base::Parameter(register) = base {
                let known = cell.known.and_then(|known| self.outside(state.settle(known)));
                cells.insert((register, offset), Cell { known, ..cell });
            }
        }
        let results: Vec<Option<Known>> =
            results.into_iter().map(|known| self.outside(state.settle(known?))).collect();
        // Callers give back, or access, only what they come to. Else each call on the way had a
        // name of its own for one lock, more than can be kept.
        let written = cells.values().filter_map(|cell| cell.known);
        let handed = results.iter().copied().flatten().chain(written);
        let handed: BTreeSet<Root> =
            handed.filter_map(Known::symbol).map(|symbol| symbol.root).collect();
        let is_theirs = |lock: &Symbol| lock.is_outside() || handed.contains(&lock.root);
        let mut held = BTreeMap::new();
        for (&lock, &hold) in &state.held {
            if let Some(Known::At(lock)) = self.outside(Known::At(lock))
                && is_theirs(&lock)
            {
                held.insert(lock, hold);
            }
        }
        let released = match &state.released {
            Released::Anything => Released::Anything,
            Released::Only(locks) => {
                let locks = locks.iter().map(|&lock| self.outside(Known::At(lock))?.symbol());
                locks.collect::<Option<_>>().map_or(Released::Anything, Released::Only)
            }
        };
        let mut outside = |lock: Symbol| self.outside(Known::At(state.assume(lock)))?.symbol();
        let may = state.may.map(|taken| {
            let lock = taken.lock.and_then(&mut outside).filter(is_theirs);
            Taken { lock, ..taken.clone() }
        });
        let gave = state.gave.iter().filter_map(|&lock| outside(lock)).collect();
        let (clobbered, stale) = (state.clobbered.clone(), state.stale.clone());
        let only_if = state.numbers.outside();
        Exit { results, cells, clobbered, stale, held, released, may, gave, only_if }
    }

    /// The same in terms that callers know.
    fn outside(&mut self, known: Known) -> Option<Known> {
        let Known::At(Symbol { root, offset }) = known else { return Some(known) };
        let root = match root {
            Root::Global(_) | Root::Parameter(_) | Root::Content(..) | Root::Assumed(..) => root,
            // It is no more.
            Root::Variable(_) => return None,
            Root::Result(_) | Root::Given(..) => {
                let next = self.given.len() as u32;
                Root::Given(SELF, *self.given.entry(root).or_insert(next))
            }
        };
        Some(Known::At(Symbol { root, offset }))
    }
}
