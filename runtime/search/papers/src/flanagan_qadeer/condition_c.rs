//! Condition C: from every state of L(t), thread t reaches a state of N(t) by itself.
//!
//! Section 4.2: the part of a transaction after its commit must be able to end. "We can select
//! these sets in an optimal manner by modifying Tarjan's depth-first search based algorithm for
//! computing strongly-connected components"; that is done here, over the graph of the states of L
//! and the steps between them. A component that leads nowhere else, neither to a state of N nor to
//! another component, is a transaction that never ends, or one that waits for something for good:
//! one of its states is taken out of L, and then every state that leads to it keeps the condition.
//!
//! Departure: with the state, all states are taken out of L in which the thread has the same local
//! state. The proof needs that whether t is in L(t) is not changed by steps of others (A5, Lemma
//! B.5 (v)); the paper derives that from A and B, but B only says what L(t) is part of, and states
//! chosen one by one do not have it. Then a failure can be missed: after B's step below B waits
//! for good in L, so that this state is taken out; but when A has gone on to its lock, B is in L
//! again, nobody may step, and the assertion is never reached. `atomic x y; mutex a; thread A { r =
//! x; if r == 1 { lock a; unlock a; assert r == 0 } } thread B { x = 1; await y == 1 }`

/// A graph of states by number. States that are not in L, or are known to keep the condition, have
/// no entry.
pub(super) trait Graph {
    /// How many states there are.
    fn len(&self) -> usize;

    /// Where the thread's steps lead from a state of L that is not known to keep the condition.
    fn steps(&self, state: usize) -> Option<&[u32]>;
}

/// The states to be taken out of L, so that all others keep the condition.
pub(super) fn endless(graph: &impl Graph) -> Vec<usize> {
    let mut search = Search {
        graph,
        index: vec![0; graph.len()],
        low: vec![0; graph.len()],
        next: 1,
        stack: Vec::new(),
        is_on_stack: vec![false; graph.len()],
        endless: Vec::new(),
    };
    for state in 0..graph.len() {
        if search.index[state] == 0 && graph.steps(state).is_some() {
            search.visit(state);
        }
    }
    search.endless
}

struct Search<'a, G> {
    graph: &'a G,
    /// In which order states were come to, from 1 on; 0 if not yet.
    index: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    stack: Vec<usize>,
    is_on_stack: Vec<bool>,
    endless: Vec<usize>,
}

impl<G: Graph> Search<'_, G> {
    fn visit(&mut self, root: usize) {
        self.open(root);
        let mut path = vec![(root, 0)];
        while let Some((state, taken)) = path.last_mut() {
            let state = *state;
            let steps = self.graph.steps(state).unwrap_or_default();
            if let Some(&target) = steps.get(*taken) {
                *taken += 1;
                let target = target as usize;
                if self.graph.steps(target).is_none() {
                    continue;
                }
                if self.index[target] == 0 {
                    self.open(target);
                    path.push((target, 0));
                } else if self.is_on_stack[target] {
                    self.low[state] = self.low[state].min(self.index[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                self.low[parent] = self.low[parent].min(self.low[state]);
            }
            if self.low[state] == self.index[state] {
                self.close(state);
            }
        }
    }

    fn open(&mut self, state: usize) {
        self.index[state] = self.next;
        self.low[state] = self.next;
        self.next += 1;
        self.stack.push(state);
        self.is_on_stack[state] = true;
    }

    /// A component is complete; `first` is the state of it that was come to first.
    fn close(&mut self, first: usize) {
        let from = self.stack.iter().rposition(|&state| state == first).unwrap_or_default();
        let component = self.stack.split_off(from);
        component.iter().for_each(|&state| self.is_on_stack[state] = false);
        let stays = |&target: &u32| component.contains(&(target as usize));
        let mut steps = component.iter().filter_map(|&state| self.graph.steps(state)).flatten();
        if steps.all(stays) {
            self.endless.push(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Graph for Vec<Option<Vec<u32>>> {
        fn len(&self) -> usize {
            self.len()
        }

        fn steps(&self, state: usize) -> Option<&[u32]> {
            self[state].as_deref()
        }
    }

    #[test]
    fn only_components_without_a_way_out_are_broken() {
        // 0 -> 1 -> 2 -> 1 and 2 -> 3, where 3 is in N: the loop can be left.
        let leaves = vec![Some(vec![1]), Some(vec![2]), Some(vec![1, 3]), None];
        assert_eq!(endless(&leaves), Vec::<usize>::new());
        // The same without the way out.
        let stays = vec![Some(vec![1]), Some(vec![2]), Some(vec![1]), None];
        assert_eq!(endless(&stays), [1]);
        // A state whose thread waits, and one that leads to it and to a loop.
        let waits = vec![Some(vec![1, 2]), Some(vec![]), Some(vec![2])];
        assert_eq!(endless(&waits), [1, 2]);
        // A loop that leads into another one.
        let two = vec![Some(vec![1]), Some(vec![0, 2]), Some(vec![3]), Some(vec![2])];
        assert_eq!(endless(&two), [2]);
    }
}
