//! Brute force: every state of a machine once, by snapshots. It shares no code with the searches
//! that it judges.

use std::collections::{BTreeSet, HashSet};

use lockred_search::fingerprint::Fingerprint;
use lockred_search::machine::{Chooser, Flow, Machine, Step, ThreadId};
use lockred_search::transactional::Snapshots;

/// All failures that any interleaving shows; none if there are more than `most` states.
pub fn every_state<M>(machine: &mut M, most: usize) -> Option<BTreeSet<M::Failure>>
where
    M: Snapshots + Fingerprint,
    M::Failure: Ord,
{
    let mut brute = Brute { most, visited: HashSet::new(), failures: BTreeSet::new() };
    machine.restore_root();
    brute.visit(machine, 0).then_some(brute.failures)
}

/// Called after a step: the machine, the thread that made it, and what it did.
pub type Visit<'a, M> = &'a mut dyn FnMut(&mut M, ThreadId, Step<<M as Machine>::Failure>) -> bool;

/// Makes every step that is possible in the present state, which is kept as number `depth`; `visit`
/// is called after each of them and stops this by `false`. Whether there was any; none if it was
/// stopped.
pub fn every_step<M: Snapshots>(
    machine: &mut M,
    depth: usize,
    visit: Visit<'_, M>,
) -> Option<bool> {
    machine.save(depth);
    let mut moved = false;
    for thread in (0..machine.threads()).map(ThreadId) {
        if !machine.status(thread).can_run() {
            continue;
        }
        moved = true;
        let mut values = Values::default();
        loop {
            values.taken = 0;
            let mut step = Step::default();
            machine.step(thread, &mut values, &mut step);
            if !visit(machine, thread, step) {
                return None;
            }
            machine.restore(depth);
            if !values.advance() {
                break;
            }
        }
    }
    Some(moved)
}

/// What the machine says of an execution that has ended.
pub fn finish<M: Machine>(machine: &mut M) -> Vec<M::Failure> {
    let mut failures = Vec::new();
    machine.finish(&mut failures);
    failures
}

struct Brute<F> {
    most: usize,
    visited: HashSet<u128>,
    failures: BTreeSet<F>,
}

impl<F: Ord> Brute<F> {
    /// Visits what can be reached from the present state, which is new. Returns whether the limit
    /// of states was kept.
    fn visit<M>(&mut self, machine: &mut M, depth: usize) -> bool
    where
        M: Snapshots<Failure = F> + Fingerprint,
    {
        let moved = every_step(machine, depth, &mut |machine, _, step| {
            self.failures.extend(step.failures);
            if step.flow == Flow::Over {
                self.failures.extend(finish(machine));
                return true;
            }
            !self.visited.insert(machine.fingerprint())
                || (self.visited.len() <= self.most && self.visit(machine, depth + 1))
        });
        if moved == Some(false) {
            self.failures.extend(finish(machine));
        }
        moved.is_some()
    }
}

/// All combinations of the values that a run chooses, one after another.
#[derive(Default)]
struct Values {
    chosen: Vec<(u32, u32)>,
    taken: usize,
}

impl Values {
    /// Goes on to the next combination. Returns whether there is one.
    fn advance(&mut self) -> bool {
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
