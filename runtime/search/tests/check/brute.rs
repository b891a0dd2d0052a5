//! Brute force: every state of a machine once, by snapshots. It shares no code with the searches that it judges.

use std::collections::{BTreeSet, HashSet};

use lockred_search::machine::{Chooser, Flow, Machine, Step, ThreadId};
use lockred_search::naive::Fingerprint;
use lockred_search::transactional::Snapshots;

/// All failures that any interleaving shows; none if there are more than `most` states.
pub fn every_state<M>(machine: &mut M, most: usize) -> Option<BTreeSet<M::Failure>>
where
    M: Snapshots + Fingerprint,
    M::Failure: Ord,
{
    let mut brute = Brute { machine, most, visited: HashSet::new(), failures: BTreeSet::new() };
    brute.machine.restore_root();
    brute.visit(0).then_some(brute.failures)
}

struct Brute<'a, M: Machine> {
    machine: &'a mut M,
    most: usize,
    visited: HashSet<u128>,
    failures: BTreeSet<M::Failure>,
}

impl<M: Snapshots + Fingerprint> Brute<'_, M>
where
    M::Failure: Ord,
{
    /// Visits what can be reached from the present state, which is new. Returns whether the limit of states was kept.
    fn visit(&mut self, depth: usize) -> bool {
        self.machine.save(depth);
        let mut moved = false;
        for thread in (0..self.machine.threads()).map(ThreadId) {
            if !self.machine.status(thread).can_run() {
                continue;
            }
            moved = true;
            let mut values = Values::default();
            loop {
                values.rewind();
                let mut step = Step::default();
                self.machine.step(thread, &mut values, &mut step);
                self.failures.extend(step.failures);
                if step.flow == Flow::Over {
                    self.finish();
                } else if self.visited.insert(self.machine.fingerprint())
                    && (self.visited.len() > self.most || !self.visit(depth + 1))
                {
                    return false;
                }
                self.machine.restore(depth);
                if !values.advance() {
                    break;
                }
            }
        }
        if !moved {
            self.finish();
        }
        true
    }

    fn finish(&mut self) {
        let mut failures = Vec::new();
        self.machine.finish(&mut failures);
        self.failures.extend(failures);
    }
}

/// All combinations of the values that a run chooses, one after another.
#[derive(Default)]
pub struct Values {
    chosen: Vec<(u32, u32)>,
    taken: usize,
}

impl Values {
    /// Begins the run again.
    pub fn rewind(&mut self) {
        self.taken = 0;
    }

    /// Goes on to the next combination. Returns whether there is one.
    pub fn advance(&mut self) -> bool {
        while let Some((picked, of)) = self.chosen.pop() {
            if picked + 1 < of {
                self.chosen.push((picked + 1, of));
                return true;
            }
        }
        false
    }
}

impl Chooser for Values {
    fn choose(&mut self, of: u32) -> u32 {
        if self.taken == self.chosen.len() {
            self.chosen.push((0, of));
        }
        self.taken += 1;
        self.chosen[self.taken - 1].0
    }
}
