//! What the analysis answers.

use super::PointsTo;
#[cfg(test)]
use super::objects::ANYWHERE;
use super::objects::{Kind, NUMBER, ObjectId, Place};
use super::solver::Node;
use crate::facts::flow::Value;
use crate::facts::{FunctionId, GlobalId, Register};
use std::collections::BTreeSet;

/// A place that a register may point to, as the oracle compares it with what happens.
#[cfg(test)]
#[derive(Clone, Debug)]
pub struct Spot {
    /// What it is in.
    pub kind: Kind,
    /// The functions that make it, and in which register they have its address.
    pub made_by: Vec<(FunctionId, Register)>,
    /// Bytes from its beginning; `None`: anywhere.
    pub offset: Option<i64>,
    /// It is there and every so many bytes further, if this is not 0.
    pub stride: u32,
    /// It is a number that is computed of such an address.
    pub is_number: bool,
}

impl PointsTo<'_> {
    /// Each object that a register of a function may point into, in any context; none if nothing is
    /// known of it.
    #[must_use]
    pub fn objects_of(&self, function: FunctionId, register: Register) -> Vec<ObjectId> {
        let places = self.places_at(function, register).into_iter().flatten();
        let mut objects: Vec<ObjectId> = places.map(|place| place.object).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// The places that a register of a function may point to, in any context, some perhaps more
    /// than once; `None` if nothing is known of it.
    pub(super) fn places_at(
        &self,
        function: FunctionId,
        register: Register,
    ) -> Option<impl Iterator<Item = Place> + '_> {
        if !self.is_wanted(function, register) || self.is_unknown(function, register) {
            return None;
        }
        let contexts = self.of_function[function as usize].iter();
        let nodes = contexts.map(move |&context| self.contexts[context as usize].base + register);
        let places = nodes.flat_map(|node| self.graph.set(node).iter());
        let places = places.map(|place| self.objects.places[place as usize]);
        Some(places.filter(|place| place.offset != NUMBER))
    }

    /// The functions that a value in a function may be, and whether it may be others.
    #[must_use]
    pub fn callees(&self, function: FunctionId, value: Value) -> (Vec<FunctionId>, bool) {
        match value {
            Value::Function(function) => (vec![function], false),
            Value::Register(register)
                if self.is_wanted(function, register) && !self.is_unknown(function, register) =>
            {
                let objects = self.objects_of(function, register);
                let others =
                    objects.iter().any(|&object| matches!(self.kind(object), Kind::Foreign));
                (self.functions_among(&objects), others)
            }
            _ => (Vec::new(), true),
        }
    }

    /// Those of these objects that are functions.
    #[must_use]
    pub fn functions_among(&self, objects: &[ObjectId]) -> Vec<FunctionId> {
        let kinds = objects.iter().map(|&object| self.kind(object));
        let functions = kinds.filter_map(|kind| match kind {
            Kind::Function(function) => Some(function),
            _ => None,
        });
        functions.collect()
    }

    /// Objects, and all that addresses in them lead to.
    #[must_use]
    pub fn reached_from(&self, mut open: Vec<ObjectId>) -> BTreeSet<ObjectId> {
        let mut reached = BTreeSet::new();
        while let Some(object) = open.pop() {
            if reached.insert(object) {
                open.extend(self.held_by(object));
            }
        }
        reached
    }

    /// Whether nothing is known of a register of a function.
    #[must_use]
    pub fn is_unknown(&self, function: FunctionId, register: Register) -> bool {
        let contexts = &self.of_function[function as usize];
        contexts.iter().any(|&c| self.graph.is_sunk(self.contexts[c as usize].base + register))
    }

    /// Whether a function may be executed, as far as the program's entries lead.
    #[must_use]
    pub fn is_reached(&self, function: FunctionId) -> bool {
        !self.of_function[function as usize].is_empty()
    }

    /// The object of a global variable, if any function that can be reached uses it.
    #[must_use]
    pub fn object_of_global(&self, global: GlobalId) -> Option<ObjectId> {
        self.global_objects[global as usize]
    }

    /// What an object is.
    #[must_use]
    pub fn kind(&self, object: ObjectId) -> Kind {
        self.objects.objects[object as usize].kind
    }

    /// The number of objects: they are counted from 0.
    #[must_use]
    pub fn object_count(&self) -> usize {
        self.objects.objects.len()
    }

    /// The objects that those who are not known may reach directly.
    #[must_use]
    pub fn foreign(&self) -> Vec<ObjectId> {
        self.objects_in(self.foreign, true)
    }

    /// The objects whose addresses are in the C library's own memory, and that itself.
    #[must_use]
    pub fn in_the_library(&self) -> Vec<ObjectId> {
        self.objects_in(self.library, true)
    }

    /// The objects that pass from one thread to another: those that threads were started with, and
    /// that they return.
    #[must_use]
    pub fn given_to_threads(&self) -> Vec<ObjectId> {
        [self.threads, self.returned].map(|node| self.objects_in(node, false)).concat()
    }

    /// The objects whose addresses an object holds, as far as somebody asks for them.
    #[must_use]
    pub fn held_by(&self, object: ObjectId) -> Vec<ObjectId> {
        let places = &self.objects.objects[object as usize].places;
        let mut all: Vec<ObjectId> = places
            .iter()
            .filter_map(|(_, place)| self.objects.places[*place as usize].content)
            // What is unknown is shared anyway.
            .filter(|&content| !self.graph.is_sunk(content))
            .flat_map(|content| self.objects_in(content, false))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a number that is computed of an object's address becomes an address again.
    fn is_restored(&self, object: ObjectId) -> bool {
        self.objects.objects[object as usize].restored
    }

    /// The objects that a node points to; those, too, of which it holds a number only.
    fn objects_in(&self, node: Node, numbers: bool) -> Vec<ObjectId> {
        let mut all: Vec<ObjectId> = self
            .graph
            .set(node)
            .iter()
            .map(|place| self.objects.places[place as usize])
            .filter(|p| p.offset != NUMBER || numbers || self.is_restored(p.object))
            .map(|p| p.object)
            .collect();
        all.dedup();
        all
    }

    /// Whether somebody asked where a register of a function points to, in all contexts.
    #[must_use]
    pub fn is_wanted(&self, function: FunctionId, register: Register) -> bool {
        let contexts = self.of_function[function as usize].iter();
        contexts
            .map(|&c| self.contexts[c as usize].base + register)
            .all(|n| self.graph.is_wanted(n))
    }

    /// Whether numbers that are computed of addresses are followed to a register of a function.
    #[cfg(test)]
    pub fn follows_numbers(&self, function: FunctionId, register: Register) -> bool {
        let contexts = self.of_function[function as usize].iter();
        contexts.map(|&c| self.contexts[c as usize].base + register).all(|n| self.graph.counts(n))
    }

    /// The places that a register of a function may point to, in any context.
    #[cfg(test)]
    pub fn spots(&self, function: FunctionId, register: Register) -> Vec<Spot> {
        let contexts = self.of_function[function as usize].iter();
        let nodes = contexts.map(|&c| self.contexts[c as usize].base + register);
        let places = nodes.flat_map(|node| self.graph.set(node).iter());
        let spot = |place| {
            let place = self.objects.places[place as usize];
            let object = &self.objects.objects[place.object as usize];
            let made_by = match object.kind {
                Kind::Variable(context, register) => {
                    vec![(self.contexts[context as usize].function, register)]
                }
                _ => object.allocators.clone(),
            };
            let offset = (place.offset != ANYWHERE).then_some(i64::from(place.offset));
            let is_number = place.offset == NUMBER;
            Spot { kind: object.kind, made_by, offset, stride: object.stride, is_number }
        };
        places.map(spot).collect()
    }
}
