//! All executions with at most so many preemptions, for one that fails alike and is less.
//!
//! Branch and bound: what is as much as the best one already is not gone on with. Of two ways to the same state
//! ([`crate::cheapest`]), the second is left out unless it has cost fewer preemptions: threads and steps are the same on both. Behind a
//! data race that is not what is looked for, every way counts.

use super::measure::{Measure, Walk};
use super::{Failing, Proof, Tally, failed};
use crate::cheapest::Cheapest;
use crate::drive::{After, Drive, Run};
use crate::explore::{Choice, Stop};
use crate::machine::{Machine, Status, ThreadId};
use crate::picks::Picks;

/// A node of the search and the branch under way.
struct Level {
    /// Threads to run that were not yet, the next one last.
    left: Vec<ThreadId>,
    thread: ThreadId,
    picks: Picks,
    signature: u64,
    /// Where the execution stands here.
    walk: Walk,
}

/// See the module. `proof` is what was excluded when it ended, however it ended.
pub(super) fn exhaust<M: Machine>(
    drive: &mut Drive<'_, M>,
    best: &mut Failing,
    proof: &mut Proof,
    tally: &Tally,
) -> Result<(), Stop> {
    let mut bound = 0;
    while bound <= best.measure.preemptions {
        let mut search = Search {
            best: &mut *best,
            bound,
            left_out: false,
            cheapest: Cheapest::default(),
            lower: proof,
        };
        search.told();
        search.all(drive, tally)?;
        let left_out = search.left_out;
        if best.measure.preemptions <= bound || !left_out {
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
}

impl Search<'_> {
    /// All smaller bounds were excluded.
    fn told(&mut self) {
        if self.best.measure.preemptions == self.bound {
            *self.lower = Proof::Preemptions;
        }
    }

    /// Goes through them.
    fn all<M: Machine>(&mut self, drive: &mut Drive<'_, M>, tally: &Tally) -> Result<(), Stop> {
        let mut levels: Vec<Level> = Vec::new();
        loop {
            tally.restart();
            drive.restart()?;
            self.cheapest.begin();
            let mut walk = self.run_prefix(drive, &mut levels)?;
            if failed(self.descend(drive, &mut levels, &mut walk))?.is_none()
                && walk.measure < self.best.measure
            {
                let schedule = drive.schedule.clone();
                *self.best = Failing { schedule, measure: walk.measure };
                self.told();
            }
            loop {
                let Some(level) = levels.last_mut() else { return Ok(()) };
                if level.picks.advance() {
                    break;
                }
                if let Some(thread) = level.left.pop() {
                    level.thread = thread;
                    level.picks.clear();
                    break;
                }
                levels.pop();
            }
        }
    }

    /// Makes a step; what it was is noted.
    fn run<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        level: &mut Level,
        walk: &mut Walk,
        kind: Run,
    ) -> Result<After, Stop> {
        level.picks.rewind();
        let from = drive.schedule.len() + 1;
        let thread = level.thread;
        let after = walk.run(drive, thread, kind, &mut |of| level.picks.pick(of))?;
        let values: &[Choice] = &drive.schedule[from..];
        self.cheapest.step(thread, &drive.step.footprint, drive.step.signature, values);
        Ok(after)
    }

    /// Runs the branches of all levels but the last again; gives where that leads.
    fn run_prefix<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        levels: &mut [Level],
    ) -> Result<Walk, Stop> {
        let Some((last, above)) = levels.split_last_mut() else { return Ok(Walk::default()) };
        let mut walk = Walk::default();
        for (step, level) in above.iter_mut().enumerate() {
            let differs = Stop::Nondeterminism { step };
            let thread = level.thread;
            if thread.0 >= drive.machine.threads() || !drive.machine.status(thread).can_run() {
                return Err(differs);
            }
            let after = self.run(drive, level, &mut walk, Run::Again)?;
            if after != After::On
                || !level.picks.agreed()
                || drive.step.signature != level.signature
            {
                return Err(differs);
            }
        }
        debug_assert_eq!(walk.measure, last.walk.measure);
        Ok(walk)
    }

    /// Runs the branch of the last level, and goes on as long as there is anything new that is less than the best.
    fn descend<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        levels: &mut Vec<Level>,
        walk: &mut Walk,
    ) -> Result<(), Stop> {
        if levels.is_empty() && !self.open(drive, levels, walk)? {
            return Ok(());
        }
        loop {
            let step = levels.len() - 1;
            let Some(level) = levels.last_mut() else { return Ok(()) };
            let after = self.run(drive, level, walk, Run::Fresh)?;
            if !level.picks.agreed() {
                return Err(Stop::Nondeterminism { step });
            }
            level.signature = drive.step.signature;
            match after {
                After::Over => return drive.finish(),
                // What comes behind is not known, so nothing is excluded.
                After::Cut => return Err(Stop::Operations),
                After::On => {}
            }
            if !self.open(drive, levels, walk)? {
                return Ok(());
            }
        }
    }

    /// Adds a level for the present state. Returns whether there is anything to run in it; the execution is finished where nobody
    /// can run.
    fn open<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        levels: &mut Vec<Level>,
        walk: &Walk,
    ) -> Result<bool, Stop> {
        let statuses: Vec<Status> = (0..drive.machine.threads())
            .map(|thread| drive.machine.status(ThreadId(thread)))
            .collect();
        let with = |wanted: Status| {
            let numbered = statuses.iter().enumerate().rev();
            numbered.filter(move |(_, s)| **s == wanted).map(|(t, _)| ThreadId(t as u32))
        };
        let all: Vec<ThreadId> = with(Status::Reluctant).chain(with(Status::Enabled)).collect();
        if all.is_empty() {
            return drive.finish().map(|()| false);
        }
        let spent = walk.measure.preemptions;
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
        let Some(thread) = left.pop() else { return Ok(false) };
        let (picks, walk) = (Picks::default(), walk.clone());
        levels.push(Level { left, thread, picks, signature: 0, walk });
        Ok(true)
    }
}
