//! What the analysis answers.

use super::PointsTo;
#[cfg(test)]
use super::objects::ANYWHERE;
use super::objects::{Kind, ObjectId};
use super::solver::Node;
use crate::facts::{FunctionId, GlobalId, Slot};

/// A place that a slot may point to, as the oracle compares it with what happens.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// What it is in.
    pub kind: Kind,
    /// The function whose variable or call of an allocator that is.
    pub owner: Option<FunctionId>,
    /// Bytes from its beginning; `None`: anywhere.
    pub offset: Option<i64>,
    /// It is there and every so many bytes further, if this is not 0.
    pub stride: u32,
}

impl PointsTo<'_> {
    /// Each object that a slot of a function may point into, in any context.
    #[must_use]
    pub fn objects_of(&self, function: FunctionId, slot: Slot) -> Vec<ObjectId> {
        let contexts = &self.of_function[function as usize];
        let mut objects: Vec<ObjectId> = contexts
            .iter()
            .flat_map(|&c| self.graph.set(self.contexts[c as usize].base + slot).iter())
            .map(|place| self.objects.places[place as usize].object)
            .collect();
        objects.sort_unstable();
        objects.dedup();
        objects
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
        self.objects_in(self.foreign)
    }

    /// The objects whose addresses are in the C library's own memory, and that itself.
    #[must_use]
    pub fn in_the_library(&self) -> Vec<ObjectId> {
        self.objects_in(self.library)
    }

    /// The objects that threads were started with.
    #[must_use]
    pub fn given_to_threads(&self) -> Vec<ObjectId> {
        self.objects_in(self.threads)
    }

    /// The objects whose addresses an object holds.
    #[must_use]
    pub fn held_by(&self, object: ObjectId) -> Vec<ObjectId> {
        let places = &self.objects.objects[object as usize].places;
        let mut all: Vec<ObjectId> = places
            .iter()
            .filter_map(|(_, place)| self.objects.places[*place as usize].content)
            .flat_map(|content| self.objects_in(content))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn objects_in(&self, node: Node) -> Vec<ObjectId> {
        let mut all: Vec<ObjectId> = self
            .graph
            .set(node)
            .iter()
            .map(|place| self.objects.places[place as usize].object)
            .collect();
        all.dedup();
        all
    }

    /// The places that a slot of a function may point to, in any context.
    #[cfg(test)]
    pub fn spots(&self, function: FunctionId, slot: Slot) -> Vec<Spot> {
        let contexts = self.of_function[function as usize].iter();
        let nodes = contexts.map(|&c| self.contexts[c as usize].base + slot);
        let places = nodes.flat_map(|node| self.graph.set(node).iter());
        let spot = |place| {
            let place = self.objects.places[place as usize];
            let object = &self.objects.objects[place.object as usize];
            let owner = match object.kind {
                Kind::Variable(context, _) | Kind::Heap(context, _) => {
                    Some(self.contexts[context as usize].function)
                }
                _ => None,
            };
            let offset = (place.offset != ANYWHERE).then_some(i64::from(place.offset));
            Spot { kind: object.kind, owner, offset, stride: object.stride }
        };
        places.map(spot).collect()
    }
}
