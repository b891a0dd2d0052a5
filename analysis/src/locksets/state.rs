//! What is known at a point of a function: of values, of memory that is its own, and which locks
//! are held.

use super::may::May;
use super::numbers::Numbers;
use super::symbol::{Known, Root, Symbol};
use crate::facts::Register;
use crate::facts::flow::Point;
use std::collections::{BTreeMap, BTreeSet};

/// Memory that is followed: only its function and those that are passed its address access it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Base {
    /// A stack variable.
    Variable(Register),
    /// What a parameter points to.
    Parameter(Register),
}

impl Base {
    /// As the root of an address.
    pub const fn of(root: Root) -> Option<Self> {
        match root {
            Root::Variable(register) => Some(Self::Variable(register)),
            Root::Parameter(register) => Some(Self::Parameter(register)),
            _ => None,
        }
    }

    /// The register that holds the address.
    pub const fn register(self) -> Register {
        match self {
            Self::Variable(register) | Self::Parameter(register) => register,
        }
    }
}

/// A few bytes of memory that were written at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// How many.
    pub size: u32,
    /// What is in them.
    pub known: Option<Known>,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    /// With others, who only read.
    pub shared: bool,
    /// Where it was acquired; `None`: by the function's callers.
    pub point: Option<Point>,
}

/// Locks that a function has given back without having acquired them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Released {
    /// These, once each.
    Only(BTreeSet<Symbol>),
    /// Whatever its callers hold.
    Anything,
}

impl Default for Released {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl Released {
    /// Whether it is nothing.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Only(none) if none.is_empty())
    }

    fn unite(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Only(mine), Self::Only(theirs)) => mine.extend(theirs),
            _ => *self = Self::Anything,
        }
    }
}

/// Locks given back that are told apart.
const LIMIT: usize = 8;

/// See the module. More knowledge is less in the lattice: at a merge, only what both sides know
/// stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// What instructions computed, where it is more than that; pure ones are asked again instead.
    pub values: BTreeMap<Register, Known>,
    /// Memory: what is not here is unknown in a variable, and after a parameter as it was when the
    /// function was called.
    pub cells: BTreeMap<(Base, i64), Cell>,
    /// Parameters after which nothing is known but what is in `cells`.
    pub clobbered: BTreeSet<Register>,
    /// Those after which addresses may have been written: what is smaller leaves them as they are.
    pub stale: BTreeSet<Register>,
    /// Locks that are held, each acquired for itself.
    pub held: BTreeMap<Symbol, Hold>,
    /// See [`Released`].
    pub released: Released,
    /// Locks that the function or those that it called have acquired, and may hold.
    pub may: May,
    /// What results are, as far as only those who are passed a parameter's memory access it
    /// ([`Root::Assumed`]).
    pub assumed: BTreeMap<Register, Symbol>,
    /// Locks that were surely given back, and acquired by the function's callers.
    pub gave: BTreeSet<Symbol>,
    /// What conditions on the way here have said of values.
    pub numbers: Numbers,
}

impl State {
    /// What is in a few bytes of followed memory.
    pub fn read(&self, base: Base, offset: i64, size: u32) -> Option<Known> {
        if let Some(cell) = self.cells.get(&(base, offset))
            && cell.size == size
        {
            return cell.known;
        }
        let Base::Parameter(register) = base else { return None };
        let untouched = size == 8
            && !self.clobbered.contains(&register)
            && self.overlapping(base, offset, size.into()).next().is_none();
        untouched.then_some(Known::At(Symbol::of(Root::Content(register, offset))))
    }

    /// Writes a few bytes of followed memory.
    pub fn write(&mut self, base: Base, offset: i64, size: u32, known: Option<Known>) {
        self.forget(base, offset, size.into());
        match base {
            Base::Variable(_) if known.is_none() => {
                self.cells.remove(&(base, offset));
            }
            _ => {
                self.cells.insert((base, offset), Cell { size, known });
            }
        }
    }

    /// A few bytes were read from a variable, and nothing is known of them but that they are in
    /// this register, too.
    pub fn learn(&mut self, base: Base, offset: i64, size: u32, register: Register) {
        if self.overlapping(base, offset, size.into()).next().is_none() {
            let known = Some(Known::At(Symbol::of(Root::Result(register))));
            self.cells.insert((base, offset), Cell { size, known });
        }
    }

    /// Bytes of followed memory are written with what is not known.
    pub fn forget(&mut self, base: Base, offset: i64, size: u64) {
        let hit: Vec<(Base, i64)> = self.overlapping(base, offset, size).collect();
        for key in hit {
            match base {
                Base::Variable(_) => {
                    self.cells.remove(&key);
                }
                Base::Parameter(_) => {
                    if let Some(cell) = self.cells.get_mut(&key) {
                        cell.known = None;
                    }
                }
            }
        }
    }

    /// What is in a word of memory that callers may follow.
    pub fn assume_read(&self, base: Base, offset: i64) -> Option<Known> {
        match base {
            Base::Parameter(register)
                if !self.stale.contains(&register)
                    && self.overlapping(base, offset, 8).next().is_none() =>
            {
                Some(Known::At(Symbol::of(Root::Content(register, offset))))
            }
            _ => self.read(base, offset, 8),
        }
    }

    /// So many bytes are written somewhere: nothing is known of followed memory any more.
    pub fn clobber(&mut self, base: Base, size: Option<u64>) {
        if let Base::Parameter(register) = base
            && (size.is_none_or(|size| size >= 8) || self.cells.keys().any(|(of, _)| *of == base))
        {
            self.stale.insert(register);
        }
        self.cells.retain(|(of, _), _| *of != base);
        if let Base::Parameter(register) = base {
            self.clobbered.insert(register);
        }
    }

    fn overlapping(&self, base: Base, offset: i64, size: u64) -> impl Iterator<Item = (Base, i64)> {
        let end = offset.saturating_add_unsigned(size);
        self.cells
            .range((base, i64::MIN)..(base, end))
            .filter(move |((_, at), cell)| at.saturating_add(cell.size.into()) > offset)
            .map(|(key, _)| *key)
    }

    /// What some roots stand for is computed again: whatever is said of the old values is no more.
    pub fn renew(&mut self, renewed: impl Fn(Root) -> bool) {
        let old = |known: &Known| known.symbol().is_some_and(|symbol| renewed(symbol.root));
        self.values.retain(|_, known| !old(known));
        for cell in self.cells.values_mut() {
            cell.known = cell.known.filter(|known| !old(known));
        }
        self.held.retain(|symbol, _| !renewed(symbol.root));
        self.may.renew(&renewed);
        self.numbers.renew(&renewed);
        self.gave.retain(|symbol| !renewed(symbol.root));
        self.assumed
            .retain(|register, symbol| !renewed(Root::Result(*register)) && !renewed(symbol.root));
        let Released::Only(released) = &self.released else { return };
        if released.iter().any(|symbol| renewed(symbol.root)) {
            self.released = Released::Anything;
        }
    }

    /// A lock is given back. `differs`: whether two addresses are surely different.
    ///
    /// Each lock that is held was acquired for itself, so giving back one of them takes nothing
    /// from the others: if two are the same lock, it is held twice. What is not known to be held
    /// here may be any other.
    pub fn release(&mut self, lock: Symbol, differs: impl Fn(Symbol, Symbol) -> bool) {
        if self.held.remove(&lock).is_some() {
            return;
        }
        self.held.retain(|held, _| differs(*held, lock));
        if let Released::Only(released) = &mut self.released {
            // A second time it may be another lock, which is the same one.
            if !released.insert(lock) || released.len() > LIMIT {
                self.released = Released::Anything;
            }
        }
    }

    /// An address, by what is assumed of where it comes from.
    pub fn assume(&self, symbol: Symbol) -> Symbol {
        match symbol.root {
            Root::Result(register) => {
                self.assumed.get(&register).map_or(symbol, |assumed| assumed.plus(symbol.offset))
            }
            _ => symbol,
        }
    }

    /// The same, if callers can tell whether what is assumed is so.
    pub fn settle(&self, known: Known) -> Known {
        match known.symbol().map(|symbol| self.assume(symbol)) {
            Some(symbol @ Symbol { root: Root::Assumed(..), .. }) => Known::At(symbol),
            _ => known,
        }
    }

    /// A lock is surely given back: it may not be held any more.
    pub fn give_back(&mut self, lock: Symbol) {
        if !self.may.release(lock) && lock.is_outside() {
            self.gave.insert(lock);
        }
    }

    /// Any lock may be given back.
    pub fn release_anything(&mut self) {
        self.held.clear();
        self.released = Released::Anything;
    }

    /// Whether two states are kept apart where ways meet: by the locks.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.released != other.released
            || !self
                .held
                .iter()
                .map(|(lock, hold)| (lock, hold.shared))
                .eq(other.held.iter().map(|(lock, hold)| (lock, hold.shared)))
    }

    /// Another way leads here. Whether anything is less known than before.
    pub fn merge(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.values.retain(|register, known| other.values.get(register) == Some(known));
        let keys: BTreeSet<(Base, i64)> =
            self.cells.keys().chain(other.cells.keys()).copied().collect();
        for key in keys {
            let in_state = |state: &Self| match (state.cells.get(&key), key.0) {
                (Some(&cell), _) => Some(cell),
                // Of the size of an address: as it was.
                (None, base) => {
                    state.read(base, key.1, 8).map(|known| Cell { size: 8, known: Some(known) })
                }
            };
            let (mine, theirs) = (in_state(&before), in_state(other));
            if mine.is_some() && mine == theirs {
                self.cells.insert(key, mine.unwrap_or(Cell { size: 8, known: None }));
                continue;
            }
            let size = mine.iter().chain(&theirs).map(|cell| cell.size).max().unwrap_or(8);
            match key.0 {
                Base::Variable(_) => {
                    self.cells.remove(&key);
                }
                Base::Parameter(_) => {
                    self.cells.insert(key, Cell { size, known: None });
                }
            }
        }
        self.clobbered.extend(&other.clobbered);
        self.stale.extend(&other.stale);
        self.held.retain(|lock, hold| {
            other.held.get(lock).is_some_and(|theirs| {
                hold.shared |= theirs.shared;
                hold.point = hold.point.min(theirs.point);
                true
            })
        });
        self.released.unite(&other.released);
        self.may.unite(&other.may);
        self.assumed.retain(|register, symbol| other.assumed.get(register) == Some(symbol));
        self.gave.retain(|lock| other.gave.contains(lock));
        self.numbers.merge(&other.numbers);
        *self != before
    }
}
