//! How what is called under a catch has ended, as far as each block of the caller knows: it returned, or a panic was caught.
//!
//! The catch gives a number that tells the two apart, and the caller branches on it. So numbers are followed along the control flow, for each
//! outcome apart: where a condition of known numbers leads elsewhere, a block is not reached with that outcome. What the pattern of the
//! compiler's code is does not matter; where another one makes the numbers unknown, blocks are reached with both.

use super::Role;
use crate::facts::flow::{BlockId, Call, End, Flow, Step, Value};
use crate::facts::{Side, Slot};
use std::collections::{BTreeMap, BTreeSet};

/// What happened to a variable last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    /// What is called with it returned.
    Returned,
    /// It got a payload.
    Caught,
    /// Neither, or something else.
    Other,
}

/// Numbers that are known of slots.
type Numbers = BTreeMap<Slot, u64>;

/// What is known at one point, by what may have happened.
type State = BTreeMap<Outcome, Numbers>;

/// For each block of a function, what a variable holds there that was passed to what is called under a catch. `role` says what a callee does with such a variable, `variables`
/// which slots are addresses of other ones. O(steps, times the numbers that are known of slots).
pub fn sides(
    flow: &Flow,
    variable: Slot,
    variables: &BTreeSet<Slot>,
    role: &dyn Fn(&Call) -> Option<Role>,
) -> Vec<Side> {
    let walk = Walk { flow, variable, variables, role };
    let mut states: Vec<State> = vec![State::new(); flow.blocks.len()];
    let mut open: Vec<BlockId> = Vec::new();
    if let Some(first) = states.first_mut() {
        first.insert(Outcome::Other, Numbers::new());
        open.push(0);
    }
    while let Some(id) = open.pop() {
        for (to, outcome, numbers) in walk.leave(id, &states[id as usize]) {
            if unite(&mut states[to as usize], outcome, numbers) {
                open.push(to);
            }
        }
    }
    let side = |(id, state): (usize, &State)| {
        let outcomes: Vec<Outcome> = state.keys().copied().collect();
        match outcomes[..] {
            [Outcome::Returned] if !walk.changes_inside(id) => Side::Result,
            [Outcome::Caught] if !walk.changes_inside(id) => Side::Payload,
            _ => Side::After,
        }
    };
    states.iter().enumerate().map(side).collect()
}

/// Another way leads to a block. Whether more may be so than before.
fn unite(state: &mut State, outcome: Outcome, numbers: Numbers) -> bool {
    let Some(known) = state.get_mut(&outcome) else {
        state.insert(outcome, numbers);
        return true;
    };
    let before = known.len();
    known.retain(|slot, number| numbers.get(slot) == Some(number));
    known.len() < before
}

struct Walk<'a> {
    flow: &'a Flow,
    variable: Slot,
    variables: &'a BTreeSet<Slot>,
    role: &'a dyn Fn(&Call) -> Option<Role>,
}

impl Walk<'_> {
    /// Where control goes from a block, and what is known there.
    fn leave(&self, id: BlockId, state: &State) -> Vec<(BlockId, Outcome, Numbers)> {
        let block = &self.flow.blocks[id as usize];
        let mut all = Vec::new();
        for (&before, numbers) in state {
            let (mut outcome, mut numbers) = (before, numbers.clone());
            let mut unwinding = before;
            for step in &block.steps {
                if let Step::Call(call) = step
                    && let Some(after) = self.after(call)
                {
                    (unwinding, outcome) = (Outcome::Other, after);
                } else {
                    unwinding = outcome;
                }
                execute(&mut numbers, step);
            }
            let number = |value| number(&numbers, value);
            let next = match &block.end {
                End::Branch(condition, one, other) => match number(*condition) {
                    Some(number) => vec![if number & 1 == 1 { *one } else { *other }],
                    None => vec![*one, *other],
                },
                End::Switch(value, cases, default) => match number(*value) {
                    Some(number) => {
                        let case = cases.iter().find(|(of, _)| *of == number);
                        vec![case.map_or(*default, |case| case.1)]
                    }
                    None => block.end.successors(),
                },
                end => end.successors(),
            };
            for to in next {
                let is_unwinding = matches!(block.end, End::Invoke(normal, unwind) if to == unwind && to != normal);
                let outcome = if is_unwinding { unwinding } else { outcome };
                all.push((to, outcome, self.enter(id, to, &numbers)));
            }
        }
        all
    }

    /// What is known where one block comes behind another one.
    fn enter(&self, from: BlockId, to: BlockId, numbers: &Numbers) -> Numbers {
        let mut entered = numbers.clone();
        for (slot, values) in &self.flow.blocks[to as usize].merges {
            let value = values.iter().find(|(block, _)| *block == from);
            match value.and_then(|(_, value)| number(numbers, *value)) {
                Some(number) => entered.insert(*slot, number),
                None => entered.remove(slot),
            };
        }
        entered
    }

    /// What has happened to the variable when a call has returned, if the call may do something to it.
    fn after(&self, call: &Call) -> Option<Outcome> {
        let role = (self.role)(call)?;
        match call.arguments.first() {
            Some(Value::Slot(slot)) if *slot == self.variable => Some(match role {
                Role::Calls => Outcome::Returned,
                Role::Catches => Outcome::Caught,
            }),
            Some(Value::Slot(slot)) if self.variables.contains(slot) => None,
            _ => Some(Outcome::Other),
        }
    }

    /// Whether something happens to the variable in a block before other steps of it.
    fn changes_inside(&self, id: usize) -> bool {
        let steps = &self.flow.blocks[id].steps;
        let before_last = steps.split_last().map_or(&[][..], |(_, before)| before);
        before_last
            .iter()
            .any(|step| matches!(step, Step::Call(call) if self.after(call).is_some()))
    }
}

/// The number that a value is, if it is known.
fn number(numbers: &Numbers, value: Value) -> Option<u64> {
    match value {
        Value::Number(number) => Some(number),
        Value::Slot(slot) => numbers.get(&slot).copied(),
        Value::Unknown | Value::Global(..) | Value::Function(_) => None,
    }
}

/// What a step does to known numbers: whatever it computes, and is not a number of known ones, is unknown.
fn execute(numbers: &mut Numbers, step: &Step) {
    let of = |value| number(numbers, value);
    let (slot, known) = match step {
        Step::Same(slot, from) => (*slot, of(*from)),
        Step::Narrow(slot, from, bits) => {
            let mask = if *bits < 64 { (1_u64 << bits) - 1 } else { u64::MAX };
            (*slot, of(*from).map(|number| number & mask))
        }
        Step::Not(slot, from) => (*slot, of(*from).map(|number| u64::from(number == 0))),
        Step::Compare { result, equal, left, right } => {
            let both = of(*left).zip(of(*right));
            (*result, both.map(|(left, right)| u64::from((left == right) == *equal)))
        }
        Step::Choose { result, condition, values: [one, other] } => {
            let chosen = of(*condition).map(|number| if number & 1 == 1 { *one } else { *other });
            (*result, chosen.and_then(of))
        }
        Step::Variable(slot) | Step::Offset(slot, ..) | Step::Opaque(slot) => (*slot, None),
        Step::Load { parts, .. } => {
            parts.iter().for_each(|part| {
                numbers.remove(&part.value);
            });
            return;
        }
        Step::Call(call) => {
            let (first, count) = call.result;
            numbers.retain(|slot, _| !(first..first + count).contains(slot));
            return;
        }
        Step::Store { .. } | Step::Copy { .. } | Step::Synchronise { .. } => return,
    };
    match known {
        Some(number) => numbers.insert(slot, number),
        None => numbers.remove(&slot),
    };
}
