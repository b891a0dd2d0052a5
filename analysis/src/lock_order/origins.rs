//! Where the memory of locks comes from, as people know it: a global variable, a variable of a
//! function, or the call in the user's code that allocates.

use super::Lock;
use crate::facts::flow::{Call, Flow, Point, Step, Value};
use crate::facts::{FunctionId, GlobalId, Register};
use crate::points_to::{Kind, ObjectId, PointsTo};
use std::collections::{BTreeMap, BTreeSet};

/// Where an object comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// A global variable.
    Global(GlobalId),
    /// A stack variable of a function.
    Variable(FunctionId),
    /// This call allocates it.
    Call(Point),
    /// The heap; no call in the user's code gives its address at once.
    Heap,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Origins(BTreeMap<ObjectId, Origin>);

impl Origins {
    /// Looks for the origins of locks. `is_users`: whether a function is of the user's own code.
    /// O(calls and variables of the program).
    pub fn of(
        locks: &[Lock],
        flows: &[Flow],
        points_to: &PointsTo<'_>,
        is_users: &dyn Fn(FunctionId) -> bool,
    ) -> Self {
        let wanted: BTreeSet<ObjectId> = locks.iter().map(|lock| lock.object).collect();
        let mut origins = BTreeMap::new();
        for &object in &wanted {
            match points_to.kind(object) {
                Kind::Global(id) => origins.insert(object, Origin::Global(id)),
                Kind::Heap(..) => origins.insert(object, Origin::Heap),
                _ => None,
            };
        }
        let mut search = Search { points_to, wanted, origins, known: BTreeMap::new() };
        let reached = (0..flows.len() as FunctionId).filter(|&f| points_to.is_reached(f));
        for function in reached {
            for step in flows[function as usize].blocks.iter().flat_map(|block| &block.steps) {
                match step {
                    Step::Variable(register) => search.variable(function, *register),
                    Step::Call(call) if is_users(function) => {
                        let inner = matches!(call.callee, Value::Function(f) if is_users(f));
                        search.call(function, call, inner);
                    }
                    _ => {}
                }
            }
        }
        Self(search.origins)
    }

    /// Of a lock's memory.
    #[must_use]
    pub fn origin(&self, lock: Lock) -> Origin {
        self.0.get(&lock.object).copied().unwrap_or(Origin::Heap)
    }
}

struct Search<'a> {
    points_to: &'a PointsTo<'a>,
    wanted: BTreeSet<ObjectId>,
    origins: BTreeMap<ObjectId, Origin>,
    /// How good what is known of a heap object is: less is better.
    known: BTreeMap<ObjectId, (bool, usize, bool, Point)>,
}

impl Search<'_> {
    fn wanted_of(&self, objects: &[ObjectId]) -> BTreeSet<ObjectId> {
        objects.iter().copied().filter(|object| self.wanted.contains(object)).collect()
    }

    fn variable(&mut self, function: FunctionId, register: Register) {
        for object in self.wanted_of(&self.points_to.objects_of(function, register)) {
            if matches!(self.points_to.kind(object), Kind::Variable(..)) {
                self.origins.entry(object).or_insert(Origin::Variable(function));
            }
        }
    }

    /// A call gives addresses that it was not given: by its result, or in memory that it was
    /// passed.
    fn call(&mut self, function: FunctionId, call: &Call, inner: bool) {
        let objects = |register| self.points_to.objects_of(function, register);
        let mut given: BTreeSet<ObjectId> = BTreeSet::new();
        let mut inside: BTreeSet<ObjectId> = BTreeSet::new();
        for (number, argument) in call.arguments.iter().enumerate() {
            let Value::Register(register) = *argument else { continue };
            for object in objects(register) {
                given.insert(object);
                let held = self.wanted_of(&self.points_to.held_by(object));
                if number == 0 { inside.extend(held) } else { given.extend(held) }
            }
        }
        let results = call.result.0..call.result.0 + call.result.1;
        let made: BTreeSet<ObjectId> =
            results.flat_map(|register| self.wanted_of(&objects(register))).collect();
        for (made, indirect) in [(made, false), (inside.clone(), true)] {
            let known: &BTreeSet<ObjectId> = if indirect { &given } else { &inside };
            let fresh: Vec<ObjectId> = made
                .into_iter()
                .filter(|object| !given.contains(object) && (indirect || !known.contains(object)))
                .filter(|&object| matches!(self.points_to.kind(object), Kind::Heap(..)))
                .collect();
            let rank = (indirect, fresh.len(), inner, call.point);
            for object in fresh {
                if self.known.get(&object).is_none_or(|best| rank < *best) {
                    self.known.insert(object, rank);
                    self.origins.insert(object, Origin::Call(call.point));
                }
            }
        }
    }
}
