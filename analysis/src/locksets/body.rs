//! What is the same in all passes over a function: which steps only compute, and which blocks are
//! on cycles.

use super::state::State;
use super::symbol::{Known, Root, Symbol};
use crate::facts::Register;
use crate::facts::flow::{BlockId, End, Flow, Step, Value};
use std::collections::HashMap;

/// Steps that a value is followed back through.
const DEEPEST: u32 = 40;

/// See the module.
#[derive(Debug)]
pub struct Body<'f> {
    pub flow: &'f Flow,
    pub parameters: u32,
    /// The steps that compute registers from others alone: they are gone through when somebody
    /// asks.
    pure: HashMap<Register, &'f Step>,
    /// The steps that choose between values.
    choices: HashMap<Register, &'f Step>,
    /// Whether a block may be executed again.
    pub goes_round: Vec<bool>,
    /// The place of each block in an order in which most come after those before them.
    pub order: Vec<u32>,
}

impl<'f> Body<'f> {
    /// O(steps).
    pub fn of(flow: &'f Flow, parameters: u32) -> Self {
        let (mut pure, mut choices) = (HashMap::new(), HashMap::new());
        for step in flow.blocks.iter().flat_map(|block| &block.steps) {
            if let Step::Variable(register)
            | Step::Same(register, _)
            | Step::Narrow { result: register, .. }
            | Step::Offset(register, ..)
            | Step::Not(register, _)
            | Step::Compare { result: register, .. } = step
            {
                pure.insert(*register, step);
            }
            if let Step::Choose { result, .. } = step {
                choices.insert(*result, step);
            }
        }
        let (order, goes_round) = walk(flow);
        Self { flow, parameters, pure, choices, goes_round, order }
    }

    /// What is known of a value.
    ///
    /// Pure steps are asked as of now, not as of when they were executed: where their result is
    /// used, nothing that they take has been computed again since, as it is defined before them on
    /// every way.
    pub fn known(&self, state: &State, value: Value) -> Option<Known> {
        self.follow(state, value, 0)
    }

    /// What computes a register from others alone.
    pub fn computed(&self, register: Register) -> Option<&'f Step> {
        self.pure.get(&register).or_else(|| self.choices.get(&register)).copied()
    }

    fn follow(&self, state: &State, value: Value, depth: u32) -> Option<Known> {
        let register = match value {
            Value::Unknown | Value::Function(_) => return None,
            Value::Number(number) => return Some(Known::Number(number)),
            Value::Global(id, offset) => {
                return Some(Known::At(Symbol { root: Root::Global(id), offset }));
            }
            Value::Register(register) => register,
        };
        if let Some(&known) = state.values.get(&register) {
            return Some(state.numbers.resolve(known));
        }
        if depth == DEEPEST {
            return None;
        }
        let of = |value| self.follow(state, value, depth + 1);
        let root = match self.pure.get(&register) {
            None if register < self.parameters => Root::Parameter(register),
            None => Root::Result(register),
            Some(Step::Variable(_)) => Root::Variable(register),
            Some(Step::Same(_, from)) => return of(*from),
            Some(Step::Offset(_, from, bytes)) => return of(*from)?.plus(*bytes),
            Some(&&Step::Narrow { from, bits, .. }) => {
                return match of(from)? {
                    Known::Number(number) if bits < 64 => {
                        Some(Known::Number(number & ((1 << bits) - 1)))
                    }
                    Known::At(_) if bits < 64 => None,
                    known => Some(known),
                };
            }
            Some(Step::Not(_, from)) => {
                return match of(*from)? {
                    Known::Number(number) => Some(Known::Number(u64::from(number == 0))),
                    Known::At(_) => None,
                };
            }
            Some(Step::Compare { equal, left, right, .. }) => {
                return match (of(*left)?, of(*right)?) {
                    (Known::Number(a), Known::Number(b)) => {
                        Some(Known::Number(u64::from((a == b) == *equal)))
                    }
                    (known @ Known::At(_), Known::Number(number))
                    | (Known::Number(number), known @ Known::At(_)) => {
                        let differs = !state.may_be(known, number);
                        differs.then_some(Known::Number(u64::from(!equal)))
                    }
                    _ => None,
                };
            }
            Some(_) => return None,
        };
        Some(state.numbers.resolve(Known::At(Symbol::of(root))))
    }

    /// The number of a condition, if it is known.
    pub fn number(&self, state: &State, value: Value) -> Option<u64> {
        match self.known(state, value)? {
            Known::Number(number) => Some(number),
            Known::At(_) => None,
        }
    }

    /// Where control may go after the steps of a block that does not leave the function.
    pub fn next(&self, state: &State, end: &End) -> Vec<BlockId> {
        let mut next = match end {
            End::Branch(condition, one, other) => match self.number(state, *condition) {
                Some(number) => vec![if number & 1 == 1 { *one } else { *other }],
                None => vec![*one, *other],
            },
            End::Switch(value, cases, default) => match self.number(state, *value) {
                Some(number) => {
                    let case = cases.iter().find(|(of, _)| *of == number);
                    vec![case.map_or(*default, |case| case.1)]
                }
                None => end.successors(),
            },
            _ => end.successors(),
        };
        next.sort_unstable();
        next.dedup();
        next
    }
}

/// Places of the blocks in reverse postorder, and which are on cycles: those that a cycle's first
/// block of the order reaches and that reach it, taken together as all between the two ends of an
/// edge backwards.
fn walk(flow: &Flow) -> (Vec<u32>, Vec<bool>) {
    let count = flow.blocks.len();
    let successors: Vec<Vec<BlockId>> = flow.blocks.iter().map(|b| b.end.successors()).collect();
    let mut finished = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for root in 0..count {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((block, edge)) = path.last_mut() {
            if let Some(&next) = successors[*block].get(*edge) {
                *edge += 1;
                if !std::mem::replace(&mut seen[next as usize], true) {
                    path.push((next as usize, 0));
                }
            } else {
                finished.push(*block);
                path.pop();
            }
        }
    }
    let mut order = vec![0; count];
    for (place, &block) in finished.iter().rev().enumerate() {
        order[block] = place as u32;
    }
    // A cycle has an edge backwards in the order, and lies between its ends: what goes round
    // beyond doubt is more than what must be known.
    let mut depth = vec![0_i32; count + 1];
    for (block, successors) in successors.iter().enumerate() {
        for &next in successors {
            let (from, to) = (order[block] as usize, order[next as usize] as usize);
            if to <= from {
                depth[to] += 1;
                depth[from + 1] -= 1;
            }
        }
    }
    let mut around = 0;
    let places: Vec<bool> = depth[..count]
        .iter()
        .map(|change| {
            around += change;
            around > 0
        })
        .collect();
    let goes_round = order.iter().map(|&place| places[place as usize]).collect();
    (order, goes_round)
}
