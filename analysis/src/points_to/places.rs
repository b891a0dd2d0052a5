//! Where in objects the addresses of a program point to.

use super::PointsTo;
use super::objects::{ANYWHERE, NUMBER, ObjectId};
use crate::facts::{FunctionId, Slot};

/// A place in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Location {
    /// The object.
    pub object: ObjectId,
    /// Bytes from its beginning, or from that of one of its elements; `None`: anywhere.
    pub offset: Option<u32>,
}

impl PointsTo<'_> {
    /// The places that a slot of a function may point to, in any context; `None` if nothing is known of it.
    #[must_use]
    pub fn locations(&self, function: FunctionId, slot: Slot) -> Option<Vec<Location>> {
        if !self.is_wanted(function, slot) || self.is_unknown(function, slot) {
            return None;
        }
        let contexts = self.of_function[function as usize].iter();
        let nodes = contexts.map(|&context| self.contexts[context as usize].base + slot);
        let places = nodes.flat_map(|node| self.graph.set(node).iter());
        let places = places.map(|place| self.objects.places[place as usize]);
        let mut locations: Vec<Location> = places
            .filter(|place| place.offset != NUMBER)
            .map(|place| Location {
                object: place.object,
                offset: (place.offset != ANYWHERE).then_some(place.offset),
            })
            .collect();
        locations.sort_unstable();
        locations.dedup();
        Some(locations)
    }

    /// The bytes of an object, if known, and those of its elements; 0: it has none.
    #[must_use]
    pub fn extent(&self, object: ObjectId) -> (Option<u64>, u32) {
        let object = &self.objects.objects[object as usize];
        (object.size, object.stride)
    }
}
