//! Conditions of a word: what an operation awaits, and what is assumed while its loop is walked
//! round.

use crate::llvm::{Instruction, Value};
use lockred_protocol::hooks::Test;

/// What a word is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// A number.
    Number(u64),
    /// An operand of an instruction.
    Of(Instruction, u32),
}

impl Operand {
    /// An operand of an instruction, as a number if it is one.
    pub fn of(user: Instruction, index: u32) -> Self {
        match super::fact::number(user.operand(index)) {
            Some(number) => Self::Number(number),
            None => Self::Of(user, index),
        }
    }

    /// As a number, if it is one.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Of(..) => None,
        }
    }

    /// As a value of the program, if it is no number.
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Number(_) => None,
            Self::Of(user, index) => Some(user.operand(index)),
        }
    }
}

impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        (self.number(), self.value()) == (other.number(), other.value())
    }
}

/// A condition of a word: `word & mask` and `value` pass the test.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// Bits that count.
    pub mask: u64,
    /// What they are compared with.
    pub value: Operand,
    /// How.
    pub test: Test,
}

impl Condition {
    /// The condition that holds exactly when this one does not.
    #[must_use]
    pub fn negated(&self) -> Self {
        let test = match self.test {
            Test::Equal => Test::NotEqual,
            Test::NotEqual => Test::Equal,
            Test::Below => Test::AtLeast,
            Test::AtLeast => Test::Below,
        };
        Self { test, ..self.clone() }
    }

    /// Of a word for which `self` holds: whether `asked` does, if that follows.
    #[must_use]
    pub fn implies(&self, asked: &Self) -> Option<bool> {
        match asked.test {
            Test::NotEqual => return self.implies(&asked.negated()).map(|holds| !holds),
            Test::AtLeast => return self.implies(&asked.negated()).map(|holds| !holds),
            Test::Equal | Test::Below => {}
        }
        if self == asked {
            return Some(true);
        }
        if *self == asked.negated() {
            return Some(false);
        }
        let wanted = asked.value.number()?;
        if asked.test == Test::Equal && wanted & !asked.mask != 0 {
            return Some(false);
        }
        let (known, value) = match self.as_bits()? {
            Bits::Are(known, value) => (known, value),
            Bits::AreNot(mask, value) => {
                let same = asked.test == Test::Equal && mask == asked.mask && value == wanted;
                return same.then_some(false);
            }
        };
        let whole = asked.mask & !known == 0;
        match asked.test {
            Test::Below => whole.then_some(value & asked.mask < wanted),
            _ if (value ^ wanted) & known & asked.mask != 0 => Some(false),
            _ => whole.then_some(true),
        }
    }

    /// What the condition says of single bits, if it compares with a number for equality.
    fn as_bits(&self) -> Option<Bits> {
        let value = self.value.number()?;
        match self.test {
            Test::Equal => Some(Bits::Are(self.mask, value)),
            Test::NotEqual if self.mask.is_power_of_two() && value & !self.mask == 0 => {
                Some(Bits::Are(self.mask, value ^ self.mask))
            }
            Test::NotEqual => Some(Bits::AreNot(self.mask, value)),
            Test::Below | Test::AtLeast => None,
        }
    }
}

/// What is known of the bits in a mask.
enum Bits {
    Are(u64, u64),
    AreNot(u64, u64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use Test::{AtLeast, Below, Equal, NotEqual};

    fn condition(mask: u64, test: Test, value: u64) -> Condition {
        Condition { mask, value: Operand::Number(value), test }
    }

    /// Whether `asked` follows from `known`, by going through all bytes.
    fn by_trying(known: &Condition, asked: &Condition) -> Option<bool> {
        let holds = |condition: &Condition, word: u64| {
            let (word, value) = (word & condition.mask, condition.value.number().unwrap());
            match condition.test {
                Equal => word == value,
                NotEqual => word != value,
                Below => word < value,
                AtLeast => word >= value,
            }
        };
        let mut answers = (0..16).filter(|&word| holds(known, word)).map(|word| holds(asked, word));
        let first = answers.next()?;
        answers.all(|answer| answer == first).then_some(first)
    }

    #[test]
    fn what_follows_is_true() {
        let mut decided = 0;
        let all = || {
            let tests = [Equal, NotEqual, Below, AtLeast];
            let values = (0..16).flat_map(|mask| (0..17).map(move |value| (mask, value)));
            values.flat_map(move |(mask, value)| tests.map(|test| condition(mask, test, value)))
        };
        for known in all() {
            for asked in all() {
                let Some(answer) = known.implies(&asked) else { continue };
                // Of no word, everything holds.
                assert!(
                    by_trying(&known, &asked).is_none_or(|truth| truth == answer),
                    "{known:?} {asked:?}"
                );
                decided += 1;
            }
        }
        assert!(decided > 100_000, "{decided}");
    }

    #[test]
    fn what_loops_ask_is_decided() {
        for (known, asked, answer) in [
            ((0xff, Equal, 1), (0xff, NotEqual, 0), Some(true)),
            ((0xff, NotEqual, 0), (0xff, Equal, 0), Some(false)),
            ((0xff, NotEqual, 0), (0xff, Equal, 1), None),
            ((4, Equal, 4), (4, Equal, 0), Some(false)),
            ((4, Equal, 4), (6, Equal, 2), Some(false)),
            ((4, Equal, 4), (6, Equal, 4), None),
            ((1, NotEqual, 0), (1, Equal, 1), Some(true)),
            ((0xff, Below, 3), (0xff, AtLeast, 3), Some(false)),
            ((0xff, Equal, 2), (0xff, Below, 3), Some(true)),
        ] {
            let condition = |(mask, test, value)| condition(mask, test, value);
            assert_eq!(condition(known).implies(&condition(asked)), answer, "{known:?} {asked:?}");
        }
    }
}
