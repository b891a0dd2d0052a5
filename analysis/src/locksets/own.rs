//! Locks of std's own: of its streams, of the environment, of panic hooks and backtraces.
//!
//! Programs acquire them by calling std, which is written so that their order does not matter; what
//! a program makes std call while it holds one (`Display` in `println!`) is left out of the order
//! of locks. Panics are everywhere, and would bring these locks with them. So is the lock of the
//! output that the harness captures, and what std's own code acquires at an address of which
//! nothing is known. So are, beside them, locks that a model says are innermost: those that other
//! libraries have for themselves.

use super::aliases::Aliases;
use crate::facts::flow::{Act, Flow, Point, Step, Value};
use crate::facts::{Facts, GlobalId};
use crate::points_to::{ObjectId, PointsTo};
use crate::recognise::{demangle, path_of};
use std::collections::BTreeSet;

/// Whose function it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The user's own, or a dependency's.
    User,
    /// A generic one of std's, as the user's code has it.
    Generic,
    /// std's own, as it is compiled for all programs.
    Library,
}

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

    /// Whether what is at an address, in one of these objects, is one of them, or made by nobody
    /// who is looked at. `owner`: whose function asks.
    pub fn has(
        &self,
        aliases: &Aliases<'_>,
        owner: Owner,
        address: Value,
        objects: &[ObjectId],
    ) -> bool {
        match address {
            Value::Register(register) if objects.is_empty() && aliases.is_unknown(register) => {
                owner == Owner::Library
            }
            _ => objects.iter().all(|object| self.0.contains(object)),
        }
    }

    /// Where such locks, or innermost ones, are acquired in a function.
    pub fn points(
        &self,
        flow: &Flow,
        aliases: &Aliases<'_>,
        owner: Owner,
        points_to: &PointsTo<'_>,
    ) -> Vec<Point> {
        let steps = flow.blocks.iter().flat_map(|block| &block.steps);
        let own = |step: &Step| {
            let Step::Synchronise { act: Act::Acquire { .. } | Act::Try { .. }, address, point } =
                step
            else {
                return None;
            };
            if flow.innermost.contains(point) {
                return Some(*point);
            }
            let objects = match *address {
                Value::Register(register) => aliases.objects(register),
                Value::Global(id, _) => points_to.object_of_global(id).into_iter().collect(),
                _ => return None,
            };
            self.has(aliases, owner, *address, &objects).then_some(*point)
        };
        steps.filter_map(own).collect()
    }
}
