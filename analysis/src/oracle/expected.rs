//! What the analyses say, as the oracle asks for it.

use super::memory::{NUMBER, Origin};
use crate::facts::{Facts, FunctionId, GlobalId, Operand, Register};
use crate::points_to::{Bounds, Kind, Spot};
use crate::sharing::{Reach, Sharing};
use std::collections::HashMap;

pub struct Expected<'f> {
    facts: &'f Facts,
    sharing: Sharing<'f>,
    spots: HashMap<(FunctionId, Register), Vec<Spot>>,
    reaches: HashMap<(FunctionId, Operand), Reach>,
}

impl<'f> Expected<'f> {
    /// Analyses a program; `None` if that was given up.
    pub fn of(facts: &'f Facts, bounds: Bounds) -> Option<Self> {
        let sharing = Sharing::of(facts, bounds, None)?;
        Some(Self { facts, sharing, spots: HashMap::new(), reaches: HashMap::new() })
    }

    /// Whether a register may hold an address.
    pub fn allows(
        &mut self,
        function: FunctionId,
        register: Register,
        origin: Origin,
        at: i64,
    ) -> bool {
        let points_to = &self.sharing.points_to;
        let is_number = at == NUMBER;
        if !points_to.is_wanted(function, register)
            || is_number && !points_to.follows_numbers(function, register)
        {
            return true;
        }
        let spots = self
            .spots
            .entry((function, register))
            .or_insert_with(|| points_to.spots(function, register));
        let facts = self.facts;
        spots.iter().any(|spot| {
            let is_it = match (spot.kind, origin) {
                (Kind::Variable(..), Origin::Variable(of, place))
                | (Kind::Heap(..), Origin::Heap(of, place)) => spot.made_by.contains(&(of, place)),
                (Kind::Global(id), Origin::Global(other)) => id == other,
                (Kind::Function(id), Origin::Function(other)) => id == other,
                (Kind::Data, Origin::Global(id)) => leads_nowhere(facts, id),
                (Kind::Library, Origin::Library) | (Kind::Foreign, Origin::Foreign) => true,
                _ => false,
            };
            // What is unknown is anywhere in its objects, or a number.
            if is_it && points_to.is_unknown(function, register) {
                return true;
            }
            if spot.is_number != is_number {
                return false;
            }
            let is_there = is_number
                || spot.offset.is_none_or(|offset| {
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

/// Whether a global variable is a constant that leads to such constants alone.
fn leads_nowhere(facts: &Facts, id: GlobalId) -> bool {
    let mut seen = vec![id];
    let mut at = 0;
    while let Some(&id) = seen.get(at) {
        let global = &facts.globals[id as usize];
        if !global.is_constant || global.is_foreign {
            return false;
        }
        for &(_, address) in &global.initial {
            match address {
                Operand::Global(id, _) if !seen.contains(&id) => seen.push(id),
                Operand::Global(..) | Operand::Nothing => {}
                Operand::Function(_) | Operand::Register(_) => return false,
            }
        }
        at += 1;
    }
    true
}
