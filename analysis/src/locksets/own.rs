//! Locks of std's own: of its streams, of the environment, of panic hooks and backtraces.
//!
//! Programs acquire them by calling std, which is written so that their order does not matter; what a program makes std call while it holds one
//! (`Display` in `println!`) is left out of the order of locks. Panics are everywhere, and would bring these locks with them. So is
//! the lock of the output that the harness captures.

use super::aliases::Aliases;
use crate::facts::flow::{Act, Flow, Point, Step, Value};
use crate::facts::{Facts, GlobalId};
use crate::points_to::{ObjectId, PointsTo};
use crate::recognise::{demangle, path_of};
use std::collections::BTreeSet;

/// See the module: the global variables that they are in.
#[derive(Debug)]
pub struct Own(BTreeSet<ObjectId>);

impl Own {
    /// O(global variables).
    pub fn of(facts: &Facts, points_to: &PointsTo<'_>) -> Self {
        let own = |(id, global): (usize, &crate::facts::Global)| {
            let is_own = path_of(&demangle(&global.name)).starts_with("std::");
            points_to.object_of_global(id as GlobalId).filter(|_| is_own && !global.is_constant)
        };
        Self(facts.globals.iter().enumerate().filter_map(own).collect())
    }

    /// Whether what is in one of these objects is one of them, or made by nobody who is looked at.
    pub fn has_all(&self, objects: &[ObjectId]) -> bool {
        objects.iter().all(|object| self.0.contains(object))
    }

    /// Where such locks are acquired in a function.
    pub fn points(
        &self,
        flow: &Flow,
        aliases: &Aliases<'_>,
        points_to: &PointsTo<'_>,
    ) -> Vec<Point> {
        let steps = flow.blocks.iter().flat_map(|block| &block.steps);
        let own = |step: &Step| {
            let Step::Synchronise { act: Act::Acquire { .. } | Act::Try { .. }, address, point } =
                step
            else {
                return None;
            };
            let objects = match *address {
                Value::Slot(slot) => aliases.objects(slot),
                Value::Global(id, _) => points_to.object_of_global(id).into_iter().collect(),
                _ => return None,
            };
            self.has_all(&objects).then_some(*point)
        };
        steps.filter_map(own).collect()
    }
}
