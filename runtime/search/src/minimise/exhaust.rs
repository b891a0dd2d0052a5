//! All executions with at most so many preemptions, for one that fails alike and is less.
//!
//! Branch and bound: what is as much as the best one already is not gone on with. Of two ways to
//! the same state ([`crate::interleavings::cheapest`]), the second is left out unless it has cost
//! fewer preemptions: threads and steps are the same on both. After a data race that is not what
//! is looked for, every way counts.

use super::measure::{Measure, Walk};
use super::{Failing, Proof, Tally, failed};
use crate::core::choice::Choice;
use crate::core::machine::Machine;
use crate::drive::observer::Stop;
use crate::drive::{After, Drive, Run};
use crate::interleavings::branch::{self, Branch};
use crate::interleavings::cheapest::Cheapest;

/// Overtaken sleeps, and preemptions, that are told apart.
const MOST: u32 = (1 << 16) - 1;

/// A node of the search and the branch under way.
struct Node {
    branch: Branch,
    /// Where the execution stands here.
    walk: Walk,
}

/// See the module. `proof` is what was excluded when it ended, however it ended. No schedule has
/// fewer overtaken sleeps than `overtaken`.
pub(super) fn exhaust<M: Machine>(
    drive: &mut Drive<'_, M>,
    best: &mut Failing,
    proof: &mut Proof,
    tally: &Tally,
    overtaken: u32,
) -> Result<(), Stop> {
    let mut bound = 0;
    while bound <= best.measure.preemptions || best.measure.overtaken > overtaken {
        let mut search = Search {
            best: &mut *best,
            bound,
            left_out: false,
            cheapest: Cheapest::default(),
            lower: proof,
            overtaken,
        };
        search.note_proof();
        search.all(drive, tally)?;
        let left_out = search.left_out;
        let least = best.measure.overtaken <= overtaken && best.measure.preemptions <= bound;
        if least || !left_out {
            *proof = Proof::Measure;
            return Ok(());
        }
        bound += 1;
    }
    Ok(())
}

struct Search<'a> {
    best: &'a mut Failing,
    /// Preemptions that are allowed.
    bound: u32,
    /// An execution with more of them was left out.
    left_out: bool,
    cheapest: Cheapest,
    lower: &'a mut Proof,
    /// The fewest overtaken sleeps that there can be.
    overtaken: u32,
}

impl Search<'_> {
    /// All smaller bounds were excluded.
    fn note_proof(&mut self) {
        let Measure { overtaken, preemptions, .. } = self.best.measure;
        if overtaken <= self.overtaken && preemptions == self.bound {
            *self.lower = Proof::Preemptions;
        }
    }

    /// Goes through them.
    fn all<M: Machine>(&mut self, drive: &mut Drive<'_, M>, tally: &Tally) -> Result<(), Stop> {
        let mut nodes: Vec<Node> = Vec::new();
        loop {
            tally.restart();
            drive.restart()?;
            self.cheapest.causes.clear();
            let mut walk = self.run_prefix(drive, &mut nodes)?;
            if failed(self.descend(drive, &mut nodes, &mut walk))?.is_none()
                && walk.measure < self.best.measure
            {
                let schedule = drive.schedule.clone();
                *self.best = Failing { schedule, measure: walk.measure };
                self.note_proof();
            }
            loop {
                let Some(node) = nodes.last_mut() else { return Ok(()) };
                if node.branch.advance() {
                    break;
                }
                nodes.pop();
            }
        }
    }

    /// Makes the step of a branch; what it was is noted.
    fn run<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        (step, branch): (usize, &mut Branch),
        walk: &mut Walk,
        kind: Run,
    ) -> Result<After, Stop> {
        let from = drive.schedule.len() + 1;
        let after = branch
            .run(step, kind, drive, |drive, thread, pick| walk.run(drive, thread, kind, pick))?;
        let values: &[Choice] = &drive.schedule[from..];
        let (thread, made) = (branch.thread, &drive.step);
        self.cheapest.causes.step(thread, &made.footprint, made.signature, values);
        Ok(after)
    }

    /// Runs the branches of all nodes but the last again; gives where that leads.
    fn run_prefix<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        nodes: &mut [Node],
    ) -> Result<Walk, Stop> {
        let Some((last, above)) = nodes.split_last_mut() else { return Ok(Walk::default()) };
        let mut walk = Walk::default();
        for (step, node) in above.iter_mut().enumerate() {
            self.run(drive, (step, &mut node.branch), &mut walk, Run::Again)?;
        }
        debug_assert_eq!(walk.measure, last.walk.measure);
        Ok(walk)
    }

    /// Runs the branch of the last node, and goes on as long as there is anything new that is less
    /// than the best.
    fn descend<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        nodes: &mut Vec<Node>,
        walk: &mut Walk,
    ) -> Result<(), Stop> {
        if nodes.is_empty() && !self.open(drive, nodes, walk)? {
            return Ok(());
        }
        loop {
            let step = nodes.len() - 1;
            let Some(node) = nodes.last_mut() else { return Ok(()) };
            match self.run(drive, (step, &mut node.branch), walk, Run::Fresh)? {
                After::Over => return drive.finish(),
                // What comes after is not known, so nothing is excluded.
                After::Cut => return Err(Stop::Operations),
                After::On => {}
            }
            if !self.open(drive, nodes, walk)? {
                return Ok(());
            }
        }
    }

    /// Adds a node for the present state. Returns whether there is anything to run in it; the
    /// execution is finished where nobody can run.
    fn open<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        nodes: &mut Vec<Node>,
        walk: &Walk,
    ) -> Result<bool, Stop> {
        let statuses = branch::statuses(drive.machine);
        let all = branch::can_run(&statuses);
        if all.is_empty() {
            return drive.finish().map(|()| false);
        }
        let Measure { overtaken, preemptions, .. } = walk.measure;
        let spent = overtaken.min(MOST) * (MOST + 1) + preemptions.min(MOST);
        if !drive.has_raced() && !self.cheapest.is_new(&statuses, walk.preempted(), spent) {
            return Ok(false);
        }
        let mut left = Vec::new();
        for thread in all {
            let Measure { preemptions, .. } = walk.behind(thread);
            if preemptions > self.bound {
                self.left_out = true;
            } else if walk.behind(thread) < self.best.measure {
                left.push(thread);
            }
        }
        let Some(branch) = Branch::first(left) else { return Ok(false) };
        nodes.push(Node { branch, walk: walk.clone() });
        Ok(true)
    }
}
