//! Trait objects that are passed on whole: their table was put beside their object before.
//!
//! Where an address and a table meet ([`Act::Pair`]), any object of the one may be called by the
//! methods of the other. Where both have come from one place together (two parameters beside each
//! other, two words of memory, two results of a call), they belong together already, and only each
//! to its own. So those acts say nothing, and are left out. A trait object is never taken apart
//! into halves that are put together with others' but by code that computes its address anew, and
//! that is still a pair.

use super::{Act, Body, Distance, Facts, Operand, Slot};
use std::collections::{HashMap, HashSet};

/// Where a slot gets its value from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// It is the same.
    Same(Operand),
    /// It is computed of this address, and so far from it, if that is known.
    Offset(Operand, Option<i64>),
    /// It is this part of what this act loads.
    Loaded(usize, usize),
    /// This call gives it.
    Called(usize),
    Other,
}

/// Leaves out what says nothing. O(acts of a function), times the depth of its values.
pub fn leave_out(facts: &mut Facts) {
    for function in &mut facts.functions {
        let Some(body) = &mut function.body else { continue };
        let asks = |act: &Act| matches!(act, Act::Pair { with: Operand::Slot(_), .. });
        if !body.acts.iter().any(asks) {
            continue;
        }
        let values = Values::of(body, function.parameters);
        let says_nothing: Vec<bool> = body
            .acts
            .iter()
            .map(|act| match *act {
                Act::Pair { data: Operand::Slot(data), with: Operand::Slot(with) } => {
                    values.are_carried(data, with, &mut HashSet::new())
                }
                _ => false,
            })
            .collect();
        let mut at = 0;
        body.acts.retain(|_| {
            at += 1;
            !says_nothing[at - 1]
        });
    }
}

/// The values of a function.
struct Values<'b> {
    body: &'b Body,
    parameters: u32,
    sources: HashMap<Slot, Vec<Source>>,
}

impl<'b> Values<'b> {
    fn of(body: &'b Body, parameters: u32) -> Self {
        let mut sources: HashMap<Slot, Vec<Source>> = HashMap::new();
        let mut add = |slot, source| sources.entry(slot).or_default().push(source);
        for (at, act) in body.acts.iter().enumerate() {
            match act {
                Act::Copy { result, from } => add(*result, Source::Same(*from)),
                Act::Offset { result, from, distance } => {
                    let bytes = match distance {
                        Distance::Exactly(bytes) | Distance::Within(bytes) => Some(*bytes),
                        _ => None,
                    };
                    add(*result, Source::Offset(*from, bytes));
                }
                Act::Load { parts, .. } => {
                    for (number, part) in parts.iter().enumerate() {
                        if let Operand::Slot(slot) = part.operand {
                            add(slot, Source::Loaded(at, number));
                        }
                    }
                }
                Act::Call(call) => {
                    let (first, count) = call.result;
                    (first..first + count).for_each(|slot| add(slot, Source::Called(at)));
                }
                Act::Variable { result, .. } | Act::Catch(result) | Act::Unknown(result) => {
                    add(*result, Source::Other);
                }
                _ => {}
            }
        }
        // Parts of values that are not there yet hold nothing.
        let known: HashSet<Slot> = sources.keys().copied().chain(0..parameters).collect();
        for all in sources.values_mut() {
            all.retain(|source| match source {
                Source::Same(Operand::Slot(from)) => known.contains(from),
                _ => true,
            });
        }
        Self { body, parameters, sources }
    }

    /// Where a slot gets its value from, if it is one place.
    fn only_source(&self, slot: Slot) -> Option<Source> {
        match self.sources.get(&slot).map(Vec::as_slice) {
            Some(&[only]) => Some(only),
            _ => None,
        }
    }

    /// The slot that a slot is the same as, or, `or_in_it`, in the same object.
    fn chased(&self, slot: Slot, or_in_it: bool) -> Slot {
        let mut at = slot;
        for _ in 0..self.body.slots {
            at = match self.only_source(at) {
                Some(Source::Same(Operand::Slot(from))) => from,
                Some(Source::Offset(Operand::Slot(from), _)) if or_in_it => from,
                _ => return at,
            };
        }
        at
    }

    /// Whether an address and what is beside it have come together. `open`: what is being looked
    /// at, which is so if the rest is.
    fn are_carried(&self, data: Slot, with: Slot, open: &mut HashSet<(Slot, Slot)>) -> bool {
        let (data, with) = (self.chased(data, true), self.chased(with, false));
        if !open.insert((data, with)) {
            return true;
        }
        if data < self.parameters || with < self.parameters {
            return with < self.parameters && with == data + 1;
        }
        match (self.only_source(data), self.only_source(with)) {
            (Some(Source::Loaded(a, first)), Some(Source::Loaded(b, second))) => {
                self.are_beside((a, first), (b, second))
            }
            (Some(Source::Called(a)), Some(Source::Called(b))) => a == b && with == data + 1,
            (None, None) => self.all_are_carried(data, with, open),
            _ => false,
        }
    }

    /// Whether two slots that get one of several values get one of several pairs.
    fn all_are_carried(&self, data: Slot, with: Slot, open: &mut HashSet<(Slot, Slot)>) -> bool {
        let slots = |slot| -> Option<Vec<Slot>> {
            let sources = self.sources.get(&slot)?.iter();
            sources
                .map(|source| match source {
                    Source::Same(Operand::Slot(from)) => Some(*from),
                    _ => None,
                })
                .collect()
        };
        let (Some(data), Some(with)) = (slots(data), slots(with)) else { return false };
        data.len() == with.len()
            && data.iter().zip(&with).all(|(&data, &with)| self.are_carried(data, with, open))
    }

    /// Whether two loads are of two words beside each other, with nothing between them that may
    /// write.
    fn are_beside(&self, (a, first): (usize, usize), (b, second): (usize, usize)) -> bool {
        let place = |at: usize, part: usize| match &self.body.acts[at] {
            Act::Load { address: Operand::Slot(address), parts } => {
                let (base, distance) = self.base(*address);
                Some((base, distance + i64::from(parts[part].offset), parts[part].size))
            }
            _ => None,
        };
        let (Some(a_place), Some(b_place)) = (place(a, first), place(b, second)) else {
            return false;
        };
        let between = &self.body.acts[a.min(b)..a.max(b)];
        let writes = |act: &Act| {
            matches!(
                act,
                Act::Store { .. } | Act::CopyMemory { .. } | Act::Call(_) | Act::Escape(_)
            )
        };
        (a_place.0, a_place.1 + 8, 8) == b_place && a_place.2 == 8 && !between.iter().any(writes)
    }

    /// What an address is computed from, as far as it is known how far it is from that, and that
    /// distance.
    fn base(&self, address: Slot) -> (Slot, i64) {
        let (mut at, mut distance) = (address, 0);
        for _ in 0..self.body.slots {
            let (from, bytes) = match self.only_source(at) {
                Some(Source::Same(Operand::Slot(from))) => (from, 0),
                Some(Source::Offset(Operand::Slot(from), Some(bytes))) => (from, bytes),
                _ => break,
            };
            at = from;
            distance += bytes;
        }
        (at, distance)
    }
}
