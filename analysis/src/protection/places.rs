//! Where an access goes: objects, and the bytes of them.

use crate::facts::flow::{Flow, Step, Value};
use crate::facts::{Facts, FunctionId, Operand, Register};
use crate::points_to::{Kind, ObjectId, PointsTo};
use std::collections::HashMap;

/// Steps that an address is followed back.
const DEEPEST: u32 = 40;

/// An address in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// Bytes from its beginning, or from that of one of its elements; `None`: anywhere.
    pub offset: Option<u64>,
}

/// By register: the address that it is so many bytes after.
pub type Offsets = HashMap<Register, (Value, i64)>;

/// What a function computes so. O(steps).
pub fn offsets(flow: &Flow) -> Offsets {
    let steps = flow.blocks.iter().flat_map(|block| &block.steps);
    let offset = |step: &Step| match *step {
        Step::Same(register, from) | Step::Narrow { result: register, from, bits: 64.., .. } => {
            Some((register, (from, 0)))
        }
        Step::Offset(register, from, bytes) => Some((register, (from, bytes))),
        _ => None,
    };
    steps.filter_map(offset).collect()
}

/// See the module: of one function.
pub struct Places<'a> {
    facts: &'a Facts,
    points_to: &'a PointsTo<'a>,
    function: FunctionId,
    offsets: Offsets,
}

impl<'a> Places<'a> {
    /// O(steps).
    pub fn of(
        facts: &'a Facts,
        flow: &Flow,
        points_to: &'a PointsTo<'a>,
        function: FunctionId,
    ) -> Self {
        Self { facts, points_to, function, offsets: offsets(flow) }
    }

    /// What the function computes of other addresses.
    pub const fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Where an address may be; `None` if nothing is known of it.
    ///
    /// Points-to analysis tells only words apart; what is so many bytes after a word is known by
    /// the steps that compute it.
    pub fn at(&self, address: Operand) -> Option<Vec<Place>> {
        match address {
            Operand::Nothing | Operand::Function(_) => Some(Vec::new()),
            Operand::Global(id, offset) => Some(self.in_global(id, offset)),
            Operand::Register(mut register) => {
                let all = self.places(register, 0)?;
                let mut behind = 0;
                let mut best = all;
                for _ in 0..DEEPEST {
                    if best.iter().all(|place| place.offset.is_some()) {
                        break;
                    }
                    let Some(&(from, bytes)) = self.offsets.get(&register) else { break };
                    behind += bytes;
                    match from {
                        Value::Register(from) => {
                            register = from;
                            let Some(places) = self.places(register, behind) else { break };
                            best = places;
                        }
                        Value::Global(id, offset) => {
                            return Some(self.in_global(id, Some(offset + behind)));
                        }
                        _ => break,
                    }
                }
                Some(best)
            }
        }
    }

    fn in_global(&self, id: u32, offset: Option<i64>) -> Vec<Place> {
        let Some(object) = self.points_to.object_of_global(id) else { return Vec::new() };
        let size = self.facts.globals[id as usize].size;
        let offset = offset.and_then(|o| u64::try_from(o).ok()).filter(|o| *o < size);
        vec![Place { object, offset }]
    }

    fn places(&self, register: Register, behind: i64) -> Option<Vec<Place>> {
        let locations = self.points_to.locations(self.function, register)?;
        let mut places: Vec<Place> = locations
            .into_iter()
            .filter(|location| !matches!(self.points_to.kind(location.object), Kind::Function(_)))
            .map(|location| {
                let (size, stride) = self.points_to.extent(location.object);
                let offset = location.offset.map(|offset| i64::from(offset) + behind);
                let offset = match (offset, stride) {
                    (Some(offset), 0) => {
                        u64::try_from(offset).ok().filter(|o| size.is_none_or(|s| *o < s))
                    }
                    (Some(offset), stride) => Some(offset.rem_euclid(stride.into()) as u64),
                    (None, _) => None,
                };
                Place { object: location.object, offset }
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        Some(places)
    }
}
