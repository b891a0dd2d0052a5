//! Walking a loop round: from an atomic operation, on all ways that control may take when the word
//! is bad, back to it; or a part of such a round, from one operation to another.

use super::calls::{Calls, Effect};
use super::condition::{Condition, Operand};
use super::fact::{Fact, Facts, Look};
use super::same::are_alike;
use crate::llvm::{Block, Flow, Instruction, Opcode, Shape, Value};
use lockred_protocol::hooks::Test;
use std::collections::HashSet;

/// Instructions that one walk looks at.
const LONGEST: usize = 2000;

/// A round of a loop: what lies on its ways.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// The blocks of all ways. The last instructions of the one in which it begins and ends lie on
    /// the way, too, and its first ones.
    pub blocks: HashSet<Block>,
    /// Ends of blocks at which control could also leave the ways, as far as the word tells, with
    /// where it would go.
    pub turns: HashSet<(Instruction, Block)>,
}

/// Where a walk has come to.
#[derive(Clone, Debug, Default)]
struct Place {
    facts: Facts,
    /// The blocks that it has entered.
    path: Vec<Block>,
    /// Other looks at the word on this way, and what they found.
    looks: Vec<(Instruction, Look)>,
}

/// A walk.
pub struct Walk<'a> {
    from: Instruction,
    to: Instruction,
    /// All bits that the word may have.
    bits: u64,
    /// What is assumed of the word; nothing while it is found out what is asked.
    bad: Option<Condition>,
    /// It may pass other atomic operations that only read.
    passes_atomics: bool,
    calls: &'a mut Calls,
    round: Round,
    asked: Vec<Condition>,
    steps: usize,
}

impl<'a> Walk<'a> {
    fn new(
        (from, to): (Instruction, Instruction),
        bits: u64,
        bad: Option<Condition>,
        calls: &'a mut Calls,
    ) -> Self {
        let round = Round { blocks: HashSet::from([from.block()]), ..Round::default() };
        let (asked, steps) = (Vec::new(), 0);
        Self { from, to, bits, bad, passes_atomics: true, calls, round, asked, steps }
    }

    /// The conditions of the word, and their opposites, that are asked for after an operation.
    pub fn asked(at: Instruction, bits: u64, calls: &'a mut Calls) -> Vec<Condition> {
        let mut walk = Self::new((at, at), bits, None, calls);
        walk.run(Look::Bad);
        walk.asked.into_iter().flat_map(|asked| [asked.negated(), asked]).collect()
    }

    /// The round that begins and ends with an operation whenever the word is bad; none if it may do
    /// something, or lead elsewhere.
    pub fn round(
        at: Instruction,
        bits: u64,
        bad: Condition,
        calls: &'a mut Calls,
    ) -> Option<Round> {
        let mut walk = Self::new((at, at), bits, Some(bad), calls);
        walk.run(Look::Bad).then_some(walk.round)
    }

    /// The ways from a load that finds the word good to an exchange, if that comes next in any
    /// case.
    pub fn onwards(
        load: Instruction,
        exchange: Instruction,
        bits: u64,
        bad: Option<Condition>,
        calls: &'a mut Calls,
    ) -> Option<Round> {
        let mut walk = Self::new((load, exchange), bits, bad, calls);
        walk.passes_atomics = false;
        (walk.run(Look::Good) && walk.round.turns.is_empty()).then_some(walk.round)
    }

    /// The ways from a compare-exchange that fails to another operation, if that comes next in any
    /// case and nothing is done before it.
    pub fn back(
        exchange: Instruction,
        to: Instruction,
        bits: u64,
        calls: &'a mut Calls,
    ) -> Option<Round> {
        // What it assumes of the word is never asked: the word is not looked at.
        let mut walk = Self::new((exchange, to), bits, None, calls);
        let failed = Fact::Fields(Box::new([Fact::Unknown, Fact::Number(0)]));
        walk.run_with(failed).then_some(walk.round)
    }

    fn run(&mut self, look: Look) -> bool {
        let word = Fact::Word(look, self.bits);
        let found = match self.from.opcode() {
            Opcode::CompareExchange => {
                // Whether it has written is a condition of the word like others (a weak one that
                // fails for no reason goes round, too).
                let success = if self.bad.is_some() { Fact::Number(0) } else { Fact::Unknown };
                Fact::Fields(Box::new([word, success]))
            }
            _ => word,
        };
        self.run_with(found)
    }

    fn run_with(&mut self, found: Fact) -> bool {
        let mut place = Place::default();
        place.facts.note(self.from, found);
        self.from.next().is_some_and(|next| self.go(next, place))
    }

    /// Whether all ways from an instruction lead to the operation.
    fn go(&mut self, from: Instruction, mut place: Place) -> bool {
        let mut next = Some(from);
        while let Some(at) = next {
            if at == self.to {
                return true;
            }
            self.steps += 1;
            if self.steps > LONGEST {
                return false;
            }
            let passed = match at.opcode() {
                Opcode::Load if at.is_atomic() => {
                    if self.is_look(at) {
                        return self.look(at, place);
                    }
                    place.facts.note(at, Fact::Unknown);
                    self.passes_atomics
                }
                Opcode::Load => {
                    place.facts.note(at, Fact::Unknown);
                    !at.is_volatile()
                }
                Opcode::Call => {
                    place.facts.note(at, Fact::Unknown);
                    self.calls.effect(at) != Effect::Unknown
                }
                _ if at.shape() != Shape::Other => {
                    if self.bad.is_none()
                        && let Some((_, asked)) = place.facts.asked(at)
                    {
                        self.asked.push(asked);
                    }
                    let result = place.facts.result(at, self.bad.as_ref());
                    place.facts.note(at, result);
                    true
                }
                _ => at.flow() != Flow::Leaves,
            };
            if !passed {
                return false;
            }
            next = at.next();
            if next.is_none() {
                return self.leave(at, place);
            }
        }
        false
    }

    /// Whether an atomic load is another look at the word.
    fn is_look(&mut self, at: Instruction) -> bool {
        self.bad.is_some()
            && self.passes_atomics
            && at.accessed_type() == self.from.accessed_type()
            && are_alike(at.address(), self.from.address(), self.calls)
    }

    /// Whether all ways after another look at the word lead to the operation, or, when it is bad,
    /// back to that look.
    fn look(&mut self, at: Instruction, place: Place) -> bool {
        if let Some((_, found)) = place.looks.iter().find(|(look, _)| *look == at) {
            return *found == Look::Bad;
        }
        let Some(next) = at.next() else { return false };
        [Look::Bad, Look::Good].into_iter().all(|found| {
            let mut place = place.clone();
            place.looks.push((at, found));
            place.facts.note(at, Fact::Word(found, self.bits));
            self.go(next, place)
        })
    }

    /// Goes on after the end of a block.
    fn leave(&mut self, at: Instruction, place: Place) -> bool {
        let bad = self.bad.clone();
        let mut ways: Vec<Block> = match at.flow() {
            Flow::Leaves => return false,
            Flow::Jump(to) => vec![to],
            Flow::Branch(condition, yes, no) => {
                self.ask(&place, condition, &[0]);
                match place.facts.case(condition, 0, bad.as_ref()) {
                    Some(true) => vec![no],
                    Some(false) => vec![yes],
                    None => vec![yes, no],
                }
            }
            Flow::Switch(on, cases, default) => {
                let values: Vec<_> = cases.iter().map(|&(value, _)| value).collect();
                self.ask(&place, on, &values);
                let truth = |value| place.facts.case(on, value, bad.as_ref());
                match cases.iter().find(|&&(value, _)| truth(value) == Some(true)) {
                    Some(&(_, to)) => vec![to],
                    None => {
                        let may = cases.iter().filter(|&&(value, _)| truth(value).is_none());
                        may.map(|&(_, to)| to).chain([default]).collect()
                    }
                }
            }
        };
        ways.dedup();
        let mut back = Vec::new();
        let mut away = Vec::new();
        for to in ways {
            let before = self.round.clone();
            if self.enter(to, at.block(), place.clone()) {
                back.push(to);
            } else {
                self.round = before;
                away.push(to);
            }
        }
        self.round.turns.extend(away.into_iter().map(|to| (at, to)));
        !back.is_empty()
    }

    /// Notes that a block's end asks whether a value is one of these numbers.
    fn ask(&mut self, place: &Place, on: Value, cases: &[u64]) {
        if let (Fact::Word(_, mask), None) = (place.facts.of(on), &self.bad) {
            let equal =
                |&case: &u64| Condition { mask, value: Operand::Number(case), test: Test::Equal };
            self.asked.extend(cases.iter().map(equal));
        }
    }

    fn enter(&mut self, block: Block, from: Block, mut place: Place) -> bool {
        // Round and round without coming to the operation: only a look that finds the word bad may
        // make it do so.
        let again = place.path.contains(&block);
        if again && !place.looks.iter().any(|&(_, found)| found == Look::Bad) {
            return false;
        }
        place.path.push(block);
        place.facts.enter(block, from);
        self.round.blocks.insert(block);
        let first = block.instructions().into_iter().find(|at| !at.is_phi());
        first.is_some_and(|first| self.go(first, place))
    }
}
