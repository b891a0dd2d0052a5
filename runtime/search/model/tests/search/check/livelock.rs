//! Livelocks by brute force, on the plain machine: the graph of all its states, and what of it
//! nobody gets out of.
//!
//! An *effect* is a step after which variables, channels, queues or onces differ, or a thread has
//! ended, started, begun or stopped to wait, or a try that succeeds; else locks do not count, since
//! rounds of loops take them and give them back. A state is *hopeless* if no effect can be reached
//! from it. A livelock is a strongly connected set of hopeless states, with a step between them,
//! which a strongly fair run need not leave: a thread that can run in any of them has a step
//! between them. (Not only sets without a way out count: where rounds nest locks, those that spin
//! may also deadlock.)

use std::collections::{BTreeSet, HashMap};

use lockred_model::program::Body;
use lockred_model::state::{Phase, State};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::fingerprint::Fingerprint;
use lockred_search::footprint::Access;
use lockred_search::machine::{Flow, Machine};

use super::brute::{every_step, finish};

/// A state, by number.
#[derive(Default)]
struct Node {
    /// Thread, target, and whether the step has an effect.
    steps: Vec<(usize, usize, bool)>,
    /// Threads that have not ended, and were started.
    alive: Vec<usize>,
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    numbers: HashMap<u128, usize>,
    failures: BTreeSet<Failure>,
    most: usize,
}

/// All failures, end states and livelocks of the program; none if there are more than `most`
/// states.
pub fn every_state_and_livelock(program: &Program, most: usize) -> Option<BTreeSet<Failure>> {
    let mut machine = ModelMachine::new(program).reporting_ends();
    let mut graph = Graph { most, ..Graph::default() };
    machine.restore_root();
    let root = machine.fingerprint();
    graph.add(root, machine.state());
    if !graph.visit(&mut machine, 0, 0) {
        return None;
    }
    let livelocks = graph.livelocks();
    graph.failures.extend(livelocks);
    Some(graph.failures)
}

fn has_effect(before: &State, after: &State) -> bool {
    let phases =
        |state: &State| state.threads.iter().map(|thread| thread.phase).collect::<Vec<_>>();
    before.values != after.values
        || before.queues != after.queues
        || before.closed != after.closed
        || before.freed != after.freed
        || before.rarer.lines != after.rarer.lines
        || before.rarer.onces != after.rarer.onces
        || phases(before) != phases(after)
}

impl Graph {
    fn add(&mut self, fingerprint: u128, state: &State) -> usize {
        let threads = state.threads.iter().enumerate();
        let alive = threads.filter(|(_, t)| !matches!(t.phase, Phase::Ended | Phase::Unborn));
        let alive = alive.map(|(number, _)| number).collect();
        self.numbers.insert(fingerprint, self.nodes.len());
        self.nodes.push(Node { steps: Vec::new(), alive });
        self.nodes.len() - 1
    }

    /// Visits what can be reached from the present state, which is new. Returns whether the limit
    /// of states was kept.
    fn visit(&mut self, machine: &mut ModelMachine, number: usize, depth: usize) -> bool {
        let before = machine.state().clone();
        let moved = every_step(machine, depth, &mut |machine, thread, step| {
            let tried = |&(_, access): &(_, Access)| access == Access::TryLock;
            let succeeded = step.footprint.accesses.iter().any(tried);
            self.failures.extend(step.failures);
            let effect = succeeded || has_effect(&before, machine.state());
            let fingerprint = machine.fingerprint();
            if step.flow == Flow::Over {
                self.failures.extend(finish(machine));
            }
            let known = self.numbers.get(&fingerprint).copied();
            let target = known.unwrap_or_else(|| self.add(fingerprint, machine.state()));
            self.nodes[number].steps.push((thread.index(), target, effect));
            let new = known.is_none() && step.flow != Flow::Over;
            self.nodes.len() <= self.most && (!new || self.visit(machine, target, depth + 1))
        });
        if moved == Some(false) {
            self.failures.extend(finish(machine));
        }
        moved.is_some()
    }

    fn livelocks(&self) -> Vec<Failure> {
        let hopeless = self.hopeless();
        let mut livelocks = Vec::new();
        for set in self.components(&hopeless) {
            let inside = |&&(_, target, _): &&(usize, usize, bool)| set.contains(&target);
            let steps = set.iter().flat_map(|&node| self.nodes[node].steps.iter().filter(inside));
            let spinning: BTreeSet<usize> = steps.map(|&(thread, ..)| thread).collect();
            let steps = set.iter().flat_map(|&node| &self.nodes[node].steps);
            let fair = steps.clone().all(|(thread, ..)| spinning.contains(thread));
            if spinning.is_empty() || !fair {
                continue;
            }
            let alive = set.first().map_or(&[][..], |&node| &self.nodes[node].alive);
            let body = |&thread: &usize| Body(thread as u8);
            let waiting = alive.iter().filter(|thread| !spinning.contains(thread)).map(body);
            livelocks.push(Failure::Livelock {
                waiting: waiting.collect(),
                spinning: spinning.iter().map(body).collect(),
            });
        }
        livelocks
    }

    /// Whether no effect can be reached.
    fn hopeless(&self) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut hopeless = vec![true; self.nodes.len()];
        let mut left = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            node.steps.iter().for_each(|&(_, target, _)| before[target].push(number));
            if node.steps.iter().any(|&(_, _, effect)| effect) {
                hopeless[number] = false;
                left.push(number);
            }
        }
        while let Some(number) = left.pop() {
            for &earlier in &before[number] {
                if std::mem::take(&mut hopeless[earlier]) {
                    left.push(earlier);
                }
            }
        }
        hopeless
    }

    /// The strongly connected sets of the nodes that are `among` (Tarjan: Depth-first search and
    /// linear graph algorithms, 1972).
    fn components(&self, among: &[bool]) -> Vec<BTreeSet<usize>> {
        let mut found = Vec::new();
        let mut index = vec![usize::MAX; self.nodes.len()];
        let mut low = vec![0; self.nodes.len()];
        let (mut next, mut stack, mut on_stack) = (0, Vec::new(), vec![false; self.nodes.len()]);
        for root in (0..self.nodes.len()).filter(|&node| among[node]) {
            if index[root] != usize::MAX {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some(&mut (node, ref mut step)) = path.last_mut() {
                if *step == 0 {
                    (index[node], low[node]) = (next, next);
                    next += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                if let Some(&(_, target, _)) = self.nodes[node].steps.get(*step) {
                    *step += 1;
                    if index[target] == usize::MAX {
                        path.push((target, 0));
                    } else if on_stack[target] {
                        low[node] = low[node].min(index[target]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[node]);
                }
                if low[node] == index[node] {
                    let from = stack.iter().rposition(|&other| other == node).unwrap_or_default();
                    let set: BTreeSet<usize> = stack.drain(from..).collect();
                    set.iter().for_each(|&member| on_stack[member] = false);
                    found.push(set);
                }
            }
        }
        found
    }
}
