//! Where in objects the addresses of a program point to.

use super::PointsTo;
use super::objects::{ANYWHERE, ObjectId};
use crate::facts::{FunctionId, Register};

/// A place in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Location {
    /// The object.
    pub object: ObjectId,
    /// Bytes from its beginning, or from that of one of its elements; `None`: anywhere.
    pub offset: Option<u32>,
}

impl PointsTo<'_> {
    /// The places that a register of a function may point to, in any context; `None` if nothing is
    /// known of it.
    #[must_use]
    pub fn locations(&self, function: FunctionId, register: Register) -> Option<Vec<Location>> {
        let mut locations: Vec<Location> = self
            .places_at(function, register)?
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
