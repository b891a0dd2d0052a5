//! Trait objects that are passed on whole: their table was put beside their object before.
//!
//! Where an address and a table meet ([`Statement::Pair`]), any object of the one may be called by
//! the methods of the other. Where both have come from one place together (two parameters beside
//! each other, two words of memory, two results of a call), they belong together already, and only
//! each to its own. So those statements say nothing, and are left out. A trait object is never
//! taken apart into halves that are put together with others' but by code that computes its address
//! anew, and that is still a pair.

use super::{Body, Distance, Facts, Operand, Register, Statement};
use std::collections::{HashMap, HashSet};

/// Where a register gets its value from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// It is the same.
    Same(Operand),
    /// It is computed of this address, and so far from it, if that is known.
    Offset(Operand, Option<i64>),
    /// It is this part of what this statement loads.
    Loaded(usize, usize),
    /// This call gives it.
    Called(usize),
    Other,
}

/// Leaves out what says nothing. O(statements of a function), times the depth of its values.
pub fn leave_out(facts: &mut Facts) {
    for function in &mut facts.functions {
        let Some(body) = &mut function.body else { continue };
        let asks = |statement: &Statement| {
            matches!(statement, Statement::Pair { with: Operand::Register(_), .. })
        };
        if !body.statements.iter().any(asks) {
            continue;
        }
        let values = Values::of(body, function.parameters);
        let says_nothing: Vec<bool> = body
            .statements
            .iter()
            .map(|statement| match *statement {
                Statement::Pair {
                    data: Operand::Register(data),
                    with: Operand::Register(with),
                } => values.are_carried(data, with, &mut HashSet::new()),
                _ => false,
            })
            .collect();
        let mut at = 0;
        body.statements.retain(|_| {
            at += 1;
            !says_nothing[at - 1]
        });
    }
}

/// The values of a function.
struct Values<'b> {
    body: &'b Body,
    parameters: u32,
    sources: HashMap<Register, Vec<Source>>,
}

impl<'b> Values<'b> {
    fn of(body: &'b Body, parameters: u32) -> Self {
        let mut sources: HashMap<Register, Vec<Source>> = HashMap::new();
        let mut add = |register, source| sources.entry(register).or_default().push(source);
        for (at, statement) in body.statements.iter().enumerate() {
            match statement {
                Statement::Copy { result, from } => add(*result, Source::Same(*from)),
                Statement::Offset { result, from, distance } => {
                    let bytes = match distance {
                        Distance::Exactly(bytes) | Distance::Within(bytes) => Some(*bytes),
                        _ => None,
                    };
                    add(*result, Source::Offset(*from, bytes));
                }
                Statement::Load { parts, .. } => {
                    for (number, part) in parts.iter().enumerate() {
                        if let Operand::Register(register) = part.operand {
                            add(register, Source::Loaded(at, number));
                        }
                    }
                }
                Statement::Call(call) => {
                    let (first, count) = call.result;
                    (first..first + count).for_each(|register| add(register, Source::Called(at)));
                }
                Statement::Variable { result, .. }
                | Statement::Catch(result)
                | Statement::Unknown(result) => {
                    add(*result, Source::Other);
                }
                _ => {}
            }
        }
        // Parts of values that are not there yet hold nothing.
        let known: HashSet<Register> = sources.keys().copied().chain(0..parameters).collect();
        for all in sources.values_mut() {
            all.retain(|source| match source {
                Source::Same(Operand::Register(from)) => known.contains(from),
                _ => true,
            });
        }
        Self { body, parameters, sources }
    }

    /// Where a register gets its value from, if it is one place.
    fn only_source(&self, register: Register) -> Option<Source> {
        match self.sources.get(&register).map(Vec::as_slice) {
            Some(&[only]) => Some(only),
            _ => None,
        }
    }

    /// The register that a register is the same as, or, `or_in_it`, in the same object.
    fn chased(&self, register: Register, or_in_it: bool) -> Register {
        let mut at = register;
        for _ in 0..self.body.registers {
            at = match self.only_source(at) {
                Some(Source::Same(Operand::Register(from))) => from,
                Some(Source::Offset(Operand::Register(from), _)) if or_in_it => from,
                _ => return at,
            };
        }
        at
    }

    /// Whether an address and what is beside it have come together. `open`: what is being looked
    /// at, which is so if the rest is.
    fn are_carried(
        &self,
        data: Register,
        with: Register,
        open: &mut HashSet<(Register, Register)>,
    ) -> bool {
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

    /// Whether two registers that get one of several values get one of several pairs.
    fn all_are_carried(
        &self,
        data: Register,
        with: Register,
        open: &mut HashSet<(Register, Register)>,
    ) -> bool {
        let registers = |register| -> Option<Vec<Register>> {
            let sources = self.sources.get(&register)?.iter();
            sources
                .map(|source| match source {
                    Source::Same(Operand::Register(from)) => Some(*from),
                    _ => None,
                })
                .collect()
        };
        let (Some(data), Some(with)) = (registers(data), registers(with)) else { return false };
        data.len() == with.len()
            && data.iter().zip(&with).all(|(&data, &with)| self.are_carried(data, with, open))
    }

    /// Whether two loads are of two words beside each other, with nothing between them that may
    /// write.
    fn are_beside(&self, (a, first): (usize, usize), (b, second): (usize, usize)) -> bool {
        let place = |at: usize, part: usize| match &self.body.statements[at] {
            Statement::Load { address: Operand::Register(address), parts } => {
                let (base, distance) = self.base(*address);
                Some((base, distance + i64::from(parts[part].offset), parts[part].size))
            }
            _ => None,
        };
        let (Some(a_place), Some(b_place)) = (place(a, first), place(b, second)) else {
            return false;
        };
        let between = &self.body.statements[a.min(b)..a.max(b)];
        let writes = |statement: &Statement| {
            matches!(
                statement,
                Statement::Store { .. }
                    | Statement::CopyMemory { .. }
                    | Statement::Call(_)
                    | Statement::Escape(_)
            )
        };
        (a_place.0, a_place.1 + 8, 8) == b_place && a_place.2 == 8 && !between.iter().any(writes)
    }

    /// What an address is computed from, as far as it is known how far it is from that, and that
    /// distance.
    fn base(&self, address: Register) -> (Register, i64) {
        let (mut at, mut distance) = (address, 0);
        for _ in 0..self.body.registers {
            let (from, bytes) = match self.only_source(at) {
                Some(Source::Same(Operand::Register(from))) => (from, 0),
                Some(Source::Offset(Operand::Register(from), Some(bytes))) => (from, bytes),
                _ => break,
            };
            at = from;
            distance += bytes;
        }
        (at, distance)
    }
}
