//! Addresses that are moved, numbers that are made of them, and addresses that are made of those.

use super::PointsTo;
use super::objects::{self, ANYWHERE, Kind, NUMBER, ObjectId, PlaceId};
use super::solver::Node;
use crate::facts::Distance;

/// Elements of an array whose places are told apart.
const ELEMENTS: u64 = 32;

impl PointsTo<'_> {
    /// A node points so far from a place.
    pub(super) fn offset(&mut self, to: Node, distance: Distance, from: PlaceId) {
        let objects::Place { object, offset, .. } = self.objects.places[from as usize];
        let moved = match distance {
            Distance::Number => {
                let place = self.objects.number(object);
                self.graph.is_number(place);
                return self.graph.point(to, place);
            }
            Distance::Restored if offset != NUMBER => return self.graph.point(to, from),
            Distance::Restored => {
                self.objects.objects[object as usize].restored = true;
                None
            }
            // Numbers are computed of words, and addresses are no words.
            _ if offset == NUMBER => return,
            _ if offset == ANYWHERE => None,
            Distance::Exactly(bytes) => Some(i64::from(offset).saturating_add(bytes)),
            Distance::Within(bytes) => {
                let moved = i64::from(offset).saturating_add(bytes);
                // What an address computation promises not to do leaves no address.
                let size = self.objects.objects[object as usize].size;
                if size.is_some_and(|size| moved < 0 || moved as u64 > size) {
                    return;
                }
                Some(moved)
            }
            Distance::Multiples(bytes, stride) | Distance::Element(bytes, stride)
                if stride % 8 == 0 =>
            {
                let first = i64::from(offset).saturating_add(bytes);
                if matches!(distance, Distance::Element(..))
                    && let Some(count) = self.elements(object, stride)
                {
                    let first = first.rem_euclid(i64::from(stride));
                    for element in 0..=count as i64 {
                        let at = first + element * i64::from(stride);
                        let place = self.objects.place(object, Some(at));
                        self.graph.point(to, place);
                    }
                    return;
                }
                Some(first).filter(|_| self.fold(object, stride))
            }
            Distance::Multiples(..) | Distance::Element(..) | Distance::Unknown => None,
        };
        let place = self.objects.place(object, moved);
        self.graph.point(to, place);
    }

    /// How many elements of a size there are in a variable, if that are few.
    fn elements(&self, object: ObjectId, stride: u32) -> Option<u64> {
        let object = &self.objects.objects[object as usize];
        let is_variable = matches!(object.kind, Kind::Variable(..) | Kind::Global(_));
        let count = object.size? / u64::from(stride);
        (is_variable && count <= ELEMENTS).then_some(count)
    }
}
