//! What points-to analysis says of the addresses of one function.

use super::panics::Panics;
use super::private::Private;
use super::state::Base;
use super::symbol::{Root, Symbol};
use crate::facts::flow::Value;
use crate::facts::{Facts, FunctionId, Register, Statement};
use crate::points_to::{Kind, ObjectId, PointsTo};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Objects whose addresses are in memory, or in hands that are not known: they may be accessed
/// without being passed.
///
/// Memory of std's functions that never return does not count: it is no more when they are left.
#[derive(Clone, Debug)]
pub struct InMemory(Vec<bool>);

impl InMemory {
    /// Looks at all objects. O(objects and the addresses in them).
    pub fn of(facts: &Facts, points_to: &PointsTo<'_>, panics: &Panics) -> Self {
        let mut held = vec![false; points_to.object_count()];
        let mut passing = vec![false; points_to.object_count()];
        for (id, function) in facts.functions.iter().enumerate() {
            let statements = || function.body.iter().flat_map(|body| &body.statements);
            if !panics.has(id as FunctionId) || !points_to.is_reached(id as FunctionId) {
                continue;
            }
            for statement in statements() {
                if let Statement::Variable { result, .. } = statement {
                    for object in points_to.objects_of(id as FunctionId, *result) {
                        passing[object as usize] = true;
                    }
                }
            }
        }
        let given = points_to.foreign().into_iter().chain(points_to.given_to_threads());
        let in_objects = (0..points_to.object_count() as ObjectId)
            .filter(|&object| !passing[object as usize])
            .flat_map(|object| points_to.held_by(object));
        for object in given.chain(in_objects) {
            held[object as usize] = true;
        }
        Self(held)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Aliases<'a> {
    points_to: &'a PointsTo<'a>,
    in_memory: &'a InMemory,
    private: &'a Private,
    function: FunctionId,
    objects: RefCell<HashMap<Register, Rc<[ObjectId]>>>,
}

impl<'a> Aliases<'a> {
    pub fn of(
        points_to: &'a PointsTo<'a>,
        in_memory: &'a InMemory,
        private: &'a Private,
        function: FunctionId,
    ) -> Self {
        Self { points_to, in_memory, private, function, objects: RefCell::default() }
    }

    /// The function.
    pub const fn function(&self) -> FunctionId {
        self.function
    }

    /// The objects that a register may point into, sorted; none if nothing is known.
    pub fn objects(&self, register: Register) -> Rc<[ObjectId]> {
        let mut objects = self.objects.borrow_mut();
        let found = || self.points_to.objects_of(self.function, register).into();
        objects.entry(register).or_insert_with(found).clone()
    }

    /// Whether a register may point to whatever is not known.
    pub fn is_unknown(&self, register: Register) -> bool {
        self.points_to.is_unknown(self.function, register)
    }

    /// Whether memory is followed: only those who are passed its address access it.
    pub fn follows(&self, base: Base) -> bool {
        if let Base::Variable(register) = base
            && self.private.has(self.function, register)
        {
            return true;
        }
        let objects = self.objects(base.register());
        let own = |&object: &ObjectId| {
            !self.in_memory.0[object as usize]
                && matches!(self.points_to.kind(object), Kind::Variable(..))
        };
        !objects.is_empty() && objects.iter().all(own)
    }

    /// Whether an address may be one in followed memory.
    pub fn may_be_in(&self, address: Value, base: Base) -> bool {
        match address {
            Value::Register(register) => {
                let known = match base {
                    Base::Variable(variable) => {
                        self.private.may_hold(self.function, register, variable)
                    }
                    Base::Parameter(_) => None,
                };
                known.unwrap_or_else(|| {
                    self.meet(&self.objects(register), &self.objects(base.register()))
                })
            }
            Value::Unknown => true,
            Value::Number(_) | Value::Global(..) | Value::Function(_) => false,
        }
    }

    /// Whether two addresses are surely different.
    pub fn differ(&self, one: Symbol, other: Symbol) -> bool {
        if one.differs_from(other) {
            return true;
        }
        if one.root == other.root {
            return false;
        }
        match (self.objects_of(one.root), self.objects_of(other.root)) {
            (Some(a), Some(b)) => !self.meet(&a, &b),
            _ => false,
        }
    }

    /// The objects that what a root stands for may point into, if that is known.
    pub fn objects_of(&self, root: Root) -> Option<Rc<[ObjectId]>> {
        match root {
            Root::Global(id) => self.points_to.object_of_global(id).map(|object| [object].into()),
            Root::Parameter(register) | Root::Variable(register) | Root::Result(register) => {
                Some(self.objects(register))
            }
            Root::Content(..) | Root::Assumed(..) | Root::Given(..) => None,
        }
    }

    /// Whether two sets have an object in common, as far as both are known.
    fn meet(&self, one: &[ObjectId], other: &[ObjectId]) -> bool {
        one.is_empty() || other.is_empty() || one.iter().any(|o| other.binary_search(o).is_ok())
    }

    /// What a call by pointer may call: functions, and whether there may be others.
    pub fn callees(&self, register: Register) -> (Vec<FunctionId>, bool) {
        let objects = self.objects(register);
        let is_foreign = |&object: &ObjectId| matches!(self.points_to.kind(object), Kind::Foreign);
        let others = objects.is_empty() || objects.iter().any(is_foreign);
        (self.points_to.functions_among(&objects), others)
    }
}
