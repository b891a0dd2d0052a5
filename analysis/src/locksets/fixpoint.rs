//! A pass over a function until nothing changes: what is known where each block begins.

use super::state::State;
use super::summary::{Exits, Summary};
use super::symbol::Known;
use super::transfer::{APART, Transfer, limit};
use crate::facts::flow::{BlockId, End, Step};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times that a block is looked at, on the average, before a function is given up.
const ROUNDS: usize = 20;

/// What is known where each block begins; nothing where control never comes.
#[derive(Debug)]
pub struct Solution(Vec<Vec<State>>);

impl Transfer<'_> {
    /// Looks for it. `None` if that takes too long.
    pub fn solve(&self, initial: State) -> Option<Solution> {
        let blocks = self.body.flow.blocks.len();
        let mut states: Vec<Vec<State>> = vec![Vec::new(); blocks];
        // Blocks where all states have been merged into one: they stay so.
        let mut merged = vec![false; blocks];
        let mut waiting = vec![false; blocks];
        let mut work = BinaryHeap::new();
        let order = &self.body.order;
        states.first_mut()?.push(initial);
        work.push(Reverse((order[0], 0)));
        let mut left = (blocks + 10) * ROUNDS;
        while let Some(Reverse((_, id))) = work.pop() {
            waiting[id as usize] = false;
            left = left.checked_sub(1)?;
            for (to, state) in self.leave(id, &states[id as usize]) {
                let known = &mut states[to as usize];
                if add(known, &mut merged[to as usize], state)
                    && !std::mem::replace(&mut waiting[to as usize], true)
                {
                    work.push(Reverse((order[to as usize], to)));
                }
            }
        }
        Some(Solution(states))
    }

    /// What goes from a block to the next ones.
    fn leave(&self, id: BlockId, states: &[State]) -> Vec<(BlockId, State)> {
        let end = &self.body.flow.blocks[id as usize].end;
        let mut all = Vec::new();
        for state in states {
            let behind = self.block(id, state.clone(), &mut |_, _| {});
            let mut go = |to, state: &State| all.push((to, self.enter(id, to, state.clone())));
            if let End::Invoke(normal, unwind) = *end {
                behind.states.iter().for_each(|state| go(normal, state));
                behind.unwinding.iter().for_each(|state| go(unwind, state));
            } else {
                for state in &behind.states {
                    for to in self.body.next(state, end) {
                        let mut state = state.clone();
                        self.body.learn(&mut state, end, to);
                        go(to, &state);
                    }
                }
            }
        }
        all
    }

    /// Goes through the function once more, and visits each step with what is known before.
    pub fn visit(&self, solution: &Solution, visit: &mut dyn FnMut(&State, &Step)) -> Summary {
        let mut returns: Vec<(State, Vec<Option<Known>>)> = Vec::new();
        let mut thrown = Vec::new();
        for (id, states) in solution.0.iter().enumerate() {
            for state in states {
                let mut behind = self.block(id as BlockId, state.clone(), visit);
                thrown.append(&mut behind.thrown);
                match &self.body.flow.blocks[id].end {
                    End::Return(values) => {
                        for state in behind.states {
                            let results =
                                values.iter().map(|&v| self.body.known(&state, v)).collect();
                            returns.push((state, results));
                        }
                    }
                    End::Unwind => thrown.append(&mut behind.states),
                    _ => {}
                }
            }
        }
        limit(&mut thrown);
        let mut exits = Exits::default();
        let returns = apart(returns);
        Summary {
            returns: returns.iter().map(|(s, results)| exits.exit(s, results.clone())).collect(),
            unwinds: thrown.iter().map(|state| exits.exit(state, Vec::new())).collect(),
            ..Summary::default()
        }
    }
}

/// A state arrives where others have. Whether less is known than before.
fn add(known: &mut Vec<State>, merged: &mut bool, state: State) -> bool {
    if *merged {
        return known[0].merge(&state);
    }
    if let Some(same) = known.iter_mut().find(|known| !known.is_apart_from(&state)) {
        return same.merge(&state);
    }
    known.push(state);
    if known.len() > APART {
        *merged = true;
        let mut all = known.swap_remove(0);
        known.iter().for_each(|state| {
            all.merge(state);
        });
        *known = vec![all];
    }
    true
}

/// Ends of a function, merged where the locks are the same, or all of them if there are too many.
fn apart(ends: Vec<(State, Vec<Option<Known>>)>) -> Vec<(State, Vec<Option<Known>>)> {
    let unite = |kept: &mut (State, Vec<Option<Known>>), end: &(State, Vec<Option<Known>>)| {
        kept.0.merge(&end.0);
        for (one, other) in kept.1.iter_mut().zip(&end.1) {
            *one = one.filter(|_| one == other);
        }
    };
    let mut kept: Vec<(State, Vec<Option<Known>>)> = Vec::new();
    for end in ends {
        match kept.iter_mut().find(|(state, _)| !state.is_apart_from(&end.0)) {
            Some(same) => unite(same, &end),
            None => kept.push(end),
        }
    }
    if kept.len() > APART {
        let mut all = kept.swap_remove(0);
        kept.iter().for_each(|end| unite(&mut all, end));
        kept = vec![all];
    }
    kept
}
