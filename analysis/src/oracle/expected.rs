//! What the analyses say, as the oracle asks for it.

use super::memory::Origin;
use crate::facts::{Facts, FunctionId, GlobalId, Operand, Slot};
use crate::points_to::{Kind, Spot};
use crate::sharing::{Reach, Sharing};
use std::collections::HashMap;

pub struct Expected<'f> {
    facts: &'f Facts,
    sharing: Sharing<'f>,
    spots: HashMap<(FunctionId, Slot), Vec<Spot>>,
    reaches: HashMap<(FunctionId, Operand), Reach>,
}

impl<'f> Expected<'f> {
    /// Analyses a program; `None` if that was given up.
    pub fn of(facts: &'f Facts) -> Option<Self> {
        let sharing = Sharing::of(facts, None)?;
        Some(Self { facts, sharing, spots: HashMap::new(), reaches: HashMap::new() })
    }

    /// Whether a slot may hold an address.
    pub fn allows(&mut self, function: FunctionId, slot: Slot, origin: Origin, at: i64) -> bool {
        let points_to = &self.sharing.points_to;
        let spots =
            self.spots.entry((function, slot)).or_insert_with(|| points_to.spots(function, slot));
        let facts = self.facts;
        spots.iter().any(|spot| {
            let is_it = match (spot.kind, origin) {
                (Kind::Variable(_, slot), Origin::Variable(of, place))
                | (Kind::Heap(_, slot), Origin::Heap(of, place)) => {
                    spot.owner == Some(of) && slot == place
                }
                (Kind::Global(id), Origin::Global(other)) => id == other,
                (Kind::Function(id), Origin::Function(other)) => id == other,
                (Kind::Data, Origin::Global(id)) => holds_nothing(facts, id),
                (Kind::Library, Origin::Library) | (Kind::Foreign, Origin::Foreign) => true,
                _ => false,
            };
            let is_there = spot.offset.is_none_or(|offset| {
                offset == at || spot.stride > 0 && (at - offset) % i64::from(spot.stride) == 0
            });
            is_it && (is_there || matches!(origin, Origin::Function(_)))
        })
    }

    pub fn reach(&mut self, function: FunctionId, operand: Operand) -> Reach {
        let sharing = &self.sharing;
        *self.reaches.entry((function, operand)).or_insert_with(|| sharing.reach(function, operand))
    }
}

fn holds_nothing(facts: &Facts, id: GlobalId) -> bool {
    let global = &facts.globals[id as usize];
    global.is_constant && !global.is_foreign && global.initial.is_empty()
}
