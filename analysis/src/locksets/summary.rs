//! What a call of a function does, in terms of what it is passed.

use super::state::{Base, Cell, Hold, Released, State};
use super::symbol::{Known, Root, Symbol};
use crate::facts::Slot;
use crate::facts::flow::Point;
use std::collections::{BTreeMap, BTreeSet};

/// Stands for the call in roots of a summary: each [`Root::Given`] of it is a value that the function has computed.
pub const SELF: Point = Point::MAX;

/// One way in which a function ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exit {
    /// What it returns.
    pub results: Vec<Option<Known>>,
    /// What it has written, where it was passed followed memory: by parameter.
    pub cells: BTreeMap<(Slot, i64), Cell>,
    /// Parameters behind which nothing else is as it was.
    pub clobbered: BTreeSet<Slot>,
    /// Locks that it has acquired and holds.
    pub held: BTreeMap<Symbol, Hold>,
    /// Locks that it has given back.
    pub released: Released,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The ways in which it returns; none if it does not.
    pub returns: Vec<Exit>,
    /// The ways in which an exception leaves it.
    pub unwinds: Vec<Exit>,
}

impl Summary {
    /// Of a function that may do anything to what it is passed.
    pub fn unknown(parameters: u32, released: Released) -> Self {
        let exit = Exit { clobbered: (0..parameters).collect(), released, ..Exit::default() };
        Self { returns: vec![exit.clone()], unwinds: vec![exit] }
    }

    /// Whether it gives back nothing that its callers hold.
    pub fn releases_nothing(&self) -> bool {
        self.returns.iter().chain(&self.unwinds).all(|exit| exit.released.is_none())
    }
}

/// Makes exits: numbers what the function has computed.
#[derive(Debug, Default)]
pub struct Exits {
    given: Vec<Root>,
}

impl Exits {
    /// What a state at the end of a function says to the callers.
    pub fn exit(&mut self, state: &State, results: Vec<Option<Known>>) -> Exit {
        let mut cells = BTreeMap::new();
        for (&(base, offset), &cell) in &state.cells {
            if let Base::Parameter(slot) = base {
                let known = cell.known.and_then(|known| self.outside(known));
                cells.insert((slot, offset), Cell { known, ..cell });
            }
        }
        let mut held = BTreeMap::new();
        for (&lock, &hold) in &state.held {
            if let Some(Known::At(lock)) = self.outside(Known::At(lock)) {
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
        let results = results.into_iter().map(|known| self.outside(known?)).collect();
        Exit { results, cells, clobbered: state.clobbered.clone(), held, released }
    }

    /// The same in terms that callers know.
    fn outside(&mut self, known: Known) -> Option<Known> {
        let Known::At(Symbol { root, offset }) = known else { return Some(known) };
        let root = match root {
            Root::Global(_) | Root::Parameter(_) | Root::Content(..) => root,
            // It is no more.
            Root::Variable(_) => return None,
            Root::Result(_) | Root::Given(..) => {
                let number = self.given.iter().position(|given| *given == root);
                let number = number.unwrap_or_else(|| {
                    self.given.push(root);
                    self.given.len() - 1
                });
                Root::Given(SELF, number as u32)
            }
        };
        Some(Known::At(Symbol { root, offset }))
    }
}
