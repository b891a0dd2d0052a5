//! Whether a thread that has gone round a loop is in the state in which it began.
//!
//! What a round computes is the same as in the round before if it is computed from the same: from
//! what lies outside the round, from numbers, from memory that the round reads in the same way.
//! Nothing on a round's ways writes, so that memory changes only if another thread writes it; see
//! the head of the directory for why none does, if the read is also made before the operation is
//! first reached.

use super::calls::{Calls, Effect};
use super::condition::Condition;
use super::fact;
use super::walk::Round;
use crate::llvm::{Block, Flow, Instruction, Opcode, Shape, Value};
use std::collections::{HashMap, HashSet};

/// Operands of operands that are looked at.
const DEEPEST: usize = 12;

/// The rounds of a loop around an atomic operation.
pub struct Rounds<'a> {
    at: Instruction,
    round: Round,
    calls: &'a mut Calls,
    /// Of each block of the round: the blocks of the function from which control enters it.
    before: HashMap<Block, Vec<Block>>,
}

impl<'a> Rounds<'a> {
    pub fn new(at: Instruction, round: Round, calls: &'a mut Calls) -> Self {
        let mut before: HashMap<Block, Vec<Block>> = HashMap::new();
        for block in at.function().blocks() {
            for next in block.terminator().into_iter().flat_map(Instruction::successors) {
                if round.blocks.contains(&next) {
                    before.entry(next).or_default().push(block);
                }
            }
        }
        Self { at, round, calls, before }
    }

    /// Whether rounds for which the word is bad leave the thread in the state in which they began.
    pub fn are_idle(&mut self, bad: &Condition) -> bool {
        self.is_awaitable(bad) && self.are_without_effect()
    }

    /// Whether rounds, of whatever they depend, leave the thread in the state in which they began.
    pub fn are_without_effect(&mut self) -> bool {
        self.operation_is_same()
            && self.turns_are_same()
            && self.reads_are_made_before()
            && self.changes_are_forgotten()
    }

    /// Whether the operation has the same operands in all rounds.
    fn operation_is_same(&mut self) -> bool {
        self.at.value().operands().into_iter().all(|operand| self.is_same(operand, 0))
    }

    /// Whether what the word is compared with is the same in all rounds, and known when the
    /// operation is reached.
    fn is_awaitable(&mut self, bad: &Condition) -> bool {
        let Some(value) = bad.value.value() else { return true };
        let known = |at: Instruction| !self.is_inside(at) || self.is_passed(at);
        value.as_instruction().is_none_or(known) && self.is_same(value, 0)
    }

    /// Whether control, where it could leave the round, never does so: it decides in all rounds as
    /// it did when it first came to the operation.
    fn turns_are_same(&mut self) -> bool {
        let turns: Vec<_> = self.round.turns.iter().copied().collect();
        turns.into_iter().all(|(end, away)| {
            let decides = match end.flow() {
                Flow::Branch(condition, ..) => condition,
                Flow::Switch(on, ..) => on,
                Flow::Jump(_) | Flow::Leaves => return false,
            };
            self.is_passed(end) && !self.round.blocks.contains(&away) && self.is_same(decides, 0)
        })
    }

    /// Whether all memory that a round reads is read in the same way before the operation is first
    /// reached, or belongs to nobody else.
    fn reads_are_made_before(&mut self) -> bool {
        let reads: Vec<Instruction> =
            self.instructions().filter(|at| reads(*at, self.calls)).collect();
        reads.into_iter().all(|at| self.is_read_again(at, 0))
    }

    fn instructions(&self) -> impl Iterator<Item = Instruction> + use<> {
        let blocks: Vec<Block> = self.round.blocks.iter().copied().collect();
        blocks.into_iter().flat_map(Block::instructions)
    }

    /// Whether what changes from round to round, and is still needed when the operation is reached,
    /// decides nothing but the way of a round: it is an operand of nothing else, and is not seen
    /// outside.
    fn changes_are_forgotten(&mut self) -> bool {
        let mut open: Vec<Value> = Vec::new();
        for at in self.instructions() {
            if at != self.at && self.is_needed(at) && !self.is_same(at.value(), 0) {
                open.push(at.value());
            }
        }
        let mut seen: HashSet<Value> = HashSet::new();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for user in value.users() {
                let Some(user) = user.as_instruction() else { return false };
                let decides = matches!(user.flow(), Flow::Branch(..) | Flow::Switch(..));
                if !self.is_inside(user) || !(decides || user.shape() != Shape::Other) {
                    return false;
                }
                open.push(user.value());
            }
        }
        true
    }

    /// Whether a value of the round is needed after the operation, as it was when that was
    /// reached.
    fn is_needed(&self, at: Instruction) -> bool {
        let users = at.value().users().into_iter().filter_map(Value::as_instruction);
        let users: HashSet<Instruction> = users.collect();
        let mut open = vec![self.at.next()];
        let mut seen: HashSet<Block> = HashSet::new();
        while let Some(mut next) = open.pop() {
            while let Some(here) = next.filter(|&here| here != at) {
                if users.contains(&here) && !here.is_phi() {
                    return true;
                }
                next = here.next();
                if next.is_some() {
                    continue;
                }
                for to in here.successors() {
                    let phis = to.instructions().into_iter().take_while(|at| at.is_phi());
                    if phis.into_iter().any(|phi| takes(phi, at.value(), here.block())) {
                        return true;
                    }
                    if seen.insert(to) {
                        open.push(to.first());
                    }
                }
            }
        }
        false
    }

    /// Whether an instruction is in a block of the round.
    fn is_inside(&self, at: Instruction) -> bool {
        self.round.blocks.contains(&at.block())
    }

    /// Whether whoever comes to the operation from outside executes an instruction of the round
    /// first.
    fn is_passed(&self, at: Instruction) -> bool {
        let block = self.at.block();
        if at.block() == block {
            let order = block.instructions();
            let position = |wanted| order.iter().position(|&i| i == wanted);
            return position(at) < position(self.at);
        }
        let entered = |block: &Block| {
            let before = self.before.get(block).map_or(&[][..], Vec::as_slice);
            before.is_empty() || before.iter().any(|from| !self.round.blocks.contains(from))
        };
        let mut open: Vec<Block> = self.round.blocks.iter().copied().filter(entered).collect();
        let mut seen: HashSet<Block> = HashSet::new();
        while let Some(next) = open.pop() {
            if next == at.block() || !seen.insert(next) {
                continue;
            }
            if next == block {
                return false;
            }
            let onwards = next.terminator().into_iter().flat_map(Instruction::successors);
            open.extend(onwards.filter(|to| self.round.blocks.contains(to)));
        }
        true
    }

    /// Whether a value is the same in all rounds.
    fn is_same(&mut self, value: Value, depth: usize) -> bool {
        let Some(at) = value.as_instruction() else { return true };
        if !self.is_inside(at) {
            return true;
        }
        if depth > DEEPEST || at == self.at {
            return false;
        }
        match at.opcode() {
            Opcode::Load if at.is_atomic() => false,
            Opcode::Load => self.is_read_again(at, depth),
            Opcode::Call if self.calls.effect(at) == Effect::None => self.is_read_again(at, depth),
            _ => match at.shape() {
                Shape::Other => false,
                Shape::Phi(incoming) => {
                    let (inside, outside): (Vec<_>, Vec<_>) =
                        incoming.iter().partition(|(_, edge)| self.round.blocks.contains(edge));
                    match (&inside[..], &outside[..]) {
                        ([(only, _)], []) => self.is_same(*only, depth + 1),
                        ([(first, _), rest @ ..], _) => {
                            let all = rest.iter().chain(&outside).map(|(value, _)| *value);
                            let one = all.into_iter().all(|v| v == *first) && *first != value;
                            one && self.is_same(*first, depth + 1)
                                || inside.iter().all(|(v, _)| *v == value)
                        }
                        ([], _) => true,
                    }
                }
                _ => self.are_same(&value.operands(), depth),
            },
        }
    }

    fn are_same(&mut self, values: &[Value], depth: usize) -> bool {
        values.iter().all(|&value| self.is_same(value, depth + 1))
    }

    /// Whether a read (a plain load, or a call that reads) finds in all rounds what it found before
    /// the operation was first reached.
    fn is_read_again(&mut self, at: Instruction, depth: usize) -> bool {
        if !self.are_same(&at.value().operands(), depth) {
            return false;
        }
        if at.opcode() == Opcode::Load && !self.calls.may_be_shared(at.operand(0)) {
            return true;
        }
        if !reads(at, self.calls) || self.is_passed(at) {
            return true;
        }
        let others: Vec<Instruction> = self.instructions().collect();
        others.into_iter().any(|other| {
            other != at
                && reads(other, self.calls)
                && self.is_passed(other)
                && are_alike(other.value(), at.value(), self.calls)
        })
    }
}

/// Whether a `phi` takes this value when control comes from this block.
fn takes(phi: Instruction, value: Value, from: Block) -> bool {
    matches!(phi.shape(), Shape::Phi(incoming) if incoming.contains(&(value, from)))
}

/// Whether an instruction reads plain memory.
fn reads(at: Instruction, calls: &mut Calls) -> bool {
    match at.opcode() {
        Opcode::Load => !at.is_atomic(),
        Opcode::Call => calls.reads(at),
        _ => false,
    }
}

/// Whether two values are computed in the same way from the same, if memory does not change.
pub fn are_alike(one: Value, other: Value, calls: &mut Calls) -> bool {
    alike(one, other, calls, 0)
}

fn alike(one: Value, other: Value, calls: &mut Calls, depth: usize) -> bool {
    if one == other {
        return true;
    }
    if let (Some(one), Some(other)) = (fact::number(one), fact::number(other)) {
        return one == other;
    }
    let (Some(a), Some(b)) = (one.as_instruction(), other.as_instruction()) else { return false };
    let computed = |at: Instruction, calls: &mut Calls| match at.opcode() {
        Opcode::Load => !at.is_atomic() && !at.is_volatile(),
        Opcode::Call => calls.effect(at) == Effect::None,
        _ => !matches!(at.shape(), Shape::Other | Shape::Phi(_)),
    };
    if depth > DEEPEST || !computed(a, calls) || !computed(b, calls) {
        return false;
    }
    let (left, right) = match (a.opcode(), b.opcode()) {
        (Opcode::Call, Opcode::Call) if a.callee() == b.callee() => (a.arguments(), b.arguments()),
        (Opcode::Call, _) => return false,
        _ if a.computes_like(b) => (one.operands(), other.operands()),
        _ => return false,
    };
    left.len() == right.len()
        && left.into_iter().zip(right).all(|(l, r)| alike(l, r, calls, depth + 1))
}
