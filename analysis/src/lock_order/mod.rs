//! The order of locks: which locks a program may acquire while it holds others, and cycles in that
//! (Havelund's GoodLock graph, made before any run).
//!
//! What may be held where is found by [`crate::locksets`]; here, abstract objects become locks,
//! nestings that say the same become one, and cycles are looked for ([`cycles`]) among those that
//! threads of one run may come to ([`threads`]).

mod cycles;
mod origins;
mod program;
mod threads;

pub use cycles::{Cycle, cycles};
pub use lockred_protocol::lock_order::Kind;
pub use origins::{Origin, Origins};
pub use threads::Threads;

use crate::facts::flow::Point;
use crate::facts::{Facts, FunctionId};
use crate::locksets::{Nested, Taken};
use crate::points_to::{self, ObjectId, PointsTo};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Index into [`Graph::locks`].
pub type LockId = u32;

/// Objects that a lock may be in: of a lock that may be in more, nothing is said.
const MOST: usize = 32;

/// A lock, or all locks of one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lock {
    /// The object that it is in.
    pub object: ObjectId,
    /// Where in it; `None`: anywhere.
    pub offset: Option<i64>,
}

/// A lock at one place of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct End {
    /// It is one of these; none: any.
    pub locks: Vec<LockId>,
    /// Where it is acquired.
    pub point: Point,
    /// The same, or the call that leads there, in the user's code.
    pub call: Point,
    /// With others, who only read.
    pub shared: bool,
}

/// A lock may be acquired while another one is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nesting {
    /// What is held.
    pub held: End,
    /// What is acquired.
    pub wanted: End,
    /// How far the second is from the first, if both are parts of one block.
    pub apart: Option<i64>,
    /// The function that passes the locks to those that acquire them, or does so itself.
    pub within: FunctionId,
    /// Locks that are held exclusively, as far as each is one lock.
    pub gates: BTreeSet<LockId>,
    /// What is held is surely held then.
    pub sure: bool,
}

/// What nestings that say the same have in common: what is held, what is wanted, how far they are
/// apart, and within which function.
type Key = (End, End, Option<i64>, FunctionId);

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// All locks.
    pub locks: Vec<Lock>,
    /// All nestings, in order.
    pub nestings: Vec<Nesting>,
}

impl Graph {
    /// Makes it. O(nestings, and the objects of their locks).
    pub fn of(nested: &[Nested], facts: &Facts, points_to: &PointsTo<'_>) -> Self {
        let ends = || nested.iter().flat_map(|nested| [&nested.held, &nested.wanted]);
        let mut numbers = Numbers {
            facts,
            points_to,
            exact: HashMap::new(),
            same: HashMap::new(),
            locks: BTreeMap::new(),
        };
        let sets: BTreeSet<&[ObjectId]> = ends().map(|taken| &*taken.objects).collect();
        let mut in_sets: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        for (number, set) in sets.iter().enumerate() {
            set.iter().for_each(|&object| in_sets.entry(object).or_default().push(number));
        }
        let mut first: HashMap<Vec<usize>, ObjectId> = HashMap::new();
        for (object, sets) in in_sets {
            numbers.same.insert(object, *first.entry(sets).or_insert(object));
        }
        for taken in ends() {
            let exact = taken.offset.is_some() && taken.objects.len() == 1;
            for &object in &*taken.objects {
                *numbers.exact.entry(object).or_insert(true) &= exact;
            }
        }
        let mut found: BTreeMap<Key, (BTreeSet<LockId>, bool)> = BTreeMap::new();
        for Nested { held, wanted, apart, within, gates, sure } in nested {
            let gates = gates.iter().filter(|gate| !gate.shared);
            let gates = gates.filter_map(|gate| match numbers.locks_of(gate)[..] {
                [one] => Some(one),
                _ => None,
            });
            let mut gates: BTreeSet<LockId> = gates.collect();
            let key = (numbers.end(held), numbers.end(wanted), *apart, *within);
            // What is on the cycle itself keeps nobody off.
            gates.retain(|gate| !key.0.locks.contains(gate) && !key.1.locks.contains(gate));
            let (known, is_sure) = found.entry(key).or_insert_with(|| (gates.clone(), false));
            known.retain(|gate| gates.contains(gate));
            *is_sure |= sure;
        }
        let nesting = |((held, wanted, apart, within), (gates, sure))| Nesting {
            held,
            wanted,
            apart,
            within,
            gates,
            sure,
        };
        let nestings = found.into_iter().map(nesting).collect();
        let mut locks: Vec<(LockId, Lock)> =
            numbers.locks.into_iter().map(|(lock, id)| (id, lock)).collect();
        locks.sort_unstable();
        Self { locks: locks.into_iter().map(|(_, lock)| lock).collect(), nestings }
    }
}

/// Numbers of locks.
struct Numbers<'a> {
    facts: &'a Facts,
    points_to: &'a PointsTo<'a>,
    /// Objects all of whose locks have a place in them that is known.
    exact: HashMap<ObjectId, bool>,
    /// Objects that are nowhere told apart, as one of them: what the several calls of one allocator
    /// give.
    same: HashMap<ObjectId, ObjectId>,
    locks: BTreeMap<Lock, LockId>,
}

impl Numbers<'_> {
    fn end(&mut self, taken: &Taken) -> End {
        End {
            locks: self.locks_of(taken),
            point: taken.point,
            call: taken.call.unwrap_or(taken.point),
            shared: taken.shared,
        }
    }

    fn locks_of(&mut self, taken: &Taken) -> Vec<LockId> {
        use points_to::Kind::{Global, Heap, Variable};
        let is_memory = |object: ObjectId| match self.points_to.kind(object) {
            Global(id) => !self.facts.globals[id as usize].is_constant,
            kind => matches!(kind, Heap(..) | Variable(..)),
        };
        let objects: BTreeSet<ObjectId> = taken
            .objects
            .iter()
            .filter(|&&object| is_memory(object))
            .map(|object| self.same.get(object).copied().unwrap_or(*object))
            .collect();
        if objects.len() > MOST {
            return Vec::new();
        }
        let mut all: Vec<LockId> = objects
            .into_iter()
            .map(|object| {
                let exact = self.exact.get(&object).copied().unwrap_or_default();
                let lock = Lock { object, offset: taken.offset.filter(|_| exact) };
                let next = self.locks.len() as LockId;
                *self.locks.entry(lock).or_insert(next)
            })
            .collect();
        all.sort_unstable();
        all
    }
}
