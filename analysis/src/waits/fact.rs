//! What is known of a value while a loop is walked round.

use super::condition::{Condition, Operand};
use crate::llvm::{Block, Instruction, Predicate, Shape, TypeKind, Value};
use lockred_protocol::hooks::Test;
use std::collections::HashMap;

/// What is known of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    /// Nothing.
    Unknown,
    /// It is this number.
    Number(u64),
    /// It is what was found in the word, cut to some bits.
    Word(Look, u64),
    /// A structure, by its first two fields.
    Fields(Box<[Fact; 2]>),
}

/// A look at the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// It found what is assumed.
    Bad,
    /// It found the opposite.
    Good,
}

/// The number that a constant is.
pub fn number(value: Value) -> Option<u64> {
    value.as_integer().or_else(|| value.is_null().then_some(0))
}

/// All bits of a number or address.
fn bits(value: Value) -> Option<u64> {
    match value.value_type().kind() {
        TypeKind::Integer(0 | 65..) => None,
        TypeKind::Integer(64) | TypeKind::Pointer => Some(u64::MAX),
        TypeKind::Integer(width) => Some((1 << width) - 1),
        _ => None,
    }
}

/// What is known of the values that were computed since the walk began.
#[derive(Clone, Default, Debug)]
pub struct Facts(HashMap<Value, Fact>);

impl Facts {
    /// Notes what is known of an instruction's result.
    pub fn note(&mut self, at: Instruction, fact: Fact) {
        self.0.insert(at.value(), fact);
    }

    /// What is known of a value.
    pub fn of(&self, value: Value) -> Fact {
        match number(value) {
            Some(number) => Fact::Number(number),
            None => self.0.get(&value).cloned().unwrap_or(Fact::Unknown),
        }
    }

    /// What is known of the `phi`s of a block that control enters from another one.
    pub fn enter(&mut self, block: Block, from: Block) {
        let phis = block.instructions().into_iter().take_while(|at| at.is_phi());
        let fact = |at: Instruction| {
            let Shape::Phi(incoming) = at.shape() else { return Fact::Unknown };
            let taken = incoming.into_iter().find(|&(_, edge)| edge == from);
            taken.map_or(Fact::Unknown, |(value, _)| self.of(value))
        };
        let facts: Vec<_> = phis.map(|at| (at, fact(at))).collect();
        facts.into_iter().for_each(|(at, fact)| self.note(at, fact));
    }

    /// The condition of the word that a comparison asks for, and of which look.
    pub fn asked(&self, at: Instruction) -> Option<(Look, Condition)> {
        let Shape::Compare(predicate, left, right) = at.shape() else { return None };
        let (predicate, word, other) = match (self.of(left), self.of(right)) {
            (word @ Fact::Word(..), _) => (predicate, word, 1),
            (_, word @ Fact::Word(..)) => (predicate.turned_round(), word, 0),
            _ => return None,
        };
        let Fact::Word(look, mask) = word else { return None };
        let mut value = Operand::of(at, other);
        let test = match predicate {
            Predicate::Equal => Test::Equal,
            Predicate::NotEqual => Test::NotEqual,
            Predicate::Below => Test::Below,
            Predicate::AboveOrEqual => Test::AtLeast,
            Predicate::BelowOrEqual | Predicate::Above => {
                value = Operand::Number(value.number()?.checked_add(1)?);
                if predicate == Predicate::Above { Test::AtLeast } else { Test::Below }
            }
            Predicate::Signed => return None,
        };
        Some((look, Condition { mask, value, test }))
    }

    /// What is known of an instruction's result, if `bad` is assumed.
    pub fn result(&self, at: Instruction, bad: Option<&Condition>) -> Fact {
        match at.shape() {
            Shape::Resize(value) => match (self.of(value), bits(at.value())) {
                (Fact::Number(number), Some(bits)) => Fact::Number(number & bits),
                (Fact::Word(look, mask), Some(bits)) => Fact::Word(look, mask & bits),
                _ => Fact::Unknown,
            },
            Shape::And(left, right) => match (self.of(left), self.of(right)) {
                (Fact::Number(left), Fact::Number(right)) => Fact::Number(left & right),
                (Fact::Word(look, mask), Fact::Number(bits))
                | (Fact::Number(bits), Fact::Word(look, mask)) => Fact::Word(look, mask & bits),
                _ => Fact::Unknown,
            },
            Shape::Xor(left, right) => match (self.of(left), self.of(right)) {
                (Fact::Number(left), Fact::Number(right)) => Fact::Number(left ^ right),
                _ => Fact::Unknown,
            },
            Shape::Compare(predicate, left, right) => {
                if let (Fact::Number(left), Fact::Number(right)) = (self.of(left), self.of(right)) {
                    return predicate.holds(left, right).map_or(Fact::Unknown, truth);
                }
                let asked = self.asked(at).zip(bad);
                asked.map_or(Fact::Unknown, |((look, asked), bad)| decide(look, &asked, bad))
            }
            Shape::Select(condition, yes, no) => match self.of(condition) {
                Fact::Number(0) => self.of(no),
                Fact::Number(_) => self.of(yes),
                _ => Fact::Unknown,
            },
            Shape::Field(structure, index) => match self.of(structure) {
                Fact::Fields(fields) => {
                    fields.get(index as usize).cloned().unwrap_or(Fact::Unknown)
                }
                _ => Fact::Unknown,
            },
            Shape::WithField(structure, field, index) => {
                let mut fields = match self.of(structure) {
                    Fact::Fields(fields) => fields,
                    _ => Box::new([Fact::Unknown, Fact::Unknown]),
                };
                if let Some(place) = fields.get_mut(index as usize) {
                    *place = self.of(field);
                }
                Fact::Fields(fields)
            }
            Shape::Phi(_) | Shape::Arithmetic | Shape::Other => Fact::Unknown,
        }
    }

    /// Which cases of a number may occur, if `bad` is assumed: each one's truth, if it is known.
    pub fn case(&self, value: Value, case: u64, bad: Option<&Condition>) -> Option<bool> {
        match (self.of(value), bad) {
            (Fact::Number(number), _) => Some(number == case),
            (Fact::Word(look, mask), Some(bad)) => {
                let asked = Condition { mask, value: Operand::Number(case), test: Test::Equal };
                match decide(look, &asked, bad) {
                    Fact::Number(number) => Some(number != 0),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// A number that is a condition's truth.
const fn truth(holds: bool) -> Fact {
    Fact::Number(holds as u64)
}

/// Whether a look finds that the condition holds.
fn decide(look: Look, asked: &Condition, bad: &Condition) -> Fact {
    let holds = match look {
        Look::Bad => bad.implies(asked),
        Look::Good => bad.negated().implies(asked),
    };
    holds.map_or(Fact::Unknown, truth)
}

impl Predicate {
    /// The predicate of the same comparison with its sides exchanged.
    const fn turned_round(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual | Self::Signed => self,
            Self::Below => Self::Above,
            Self::Above => Self::Below,
            Self::BelowOrEqual => Self::AboveOrEqual,
            Self::AboveOrEqual => Self::BelowOrEqual,
        }
    }

    /// Whether it holds of two numbers.
    const fn holds(self, left: u64, right: u64) -> Option<bool> {
        Some(match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Below => left < right,
            Self::BelowOrEqual => left <= right,
            Self::Above => left > right,
            Self::AboveOrEqual => left >= right,
            Self::Signed => return None,
        })
    }
}
