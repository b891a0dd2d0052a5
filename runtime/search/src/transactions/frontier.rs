//! Where a search by transactions stands between two executions, as one plain value from which another process goes on.
//!
//! A frontier is the path to the next branch with what every node on it has explored and has still to explore, and what was
//! learned. The trace, its clocks and the states of the machine are not part of it: they follow from the path, which is run
//! again. Races on the path were reversed when it was first run, so that a search which goes on explores exactly what it
//! would have explored without the interruption, with the same counts.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::discipline::Discipline;
use crate::explore::{Counts, Stop};
use crate::footprint::ObjectId;
use crate::machine::ThreadId;
use crate::transactional::{End, Transactional};

use super::level::Level;
use super::reverse::Source;
use super::{Break, Search};

/// See the module.
#[derive(Serialize, Deserialize)]
pub struct Frontier {
    /// Counts, executions that a refuted assumption threw away, and whether an execution was cut.
    progress: (Counts, u64, bool),
    discipline: Discipline,
    /// The nodes of the path, the last one with the branch that is explored next.
    levels: Vec<Level>,
    /// Races that were reported.
    reported: HashSet<(ObjectId, ThreadId, u64, ThreadId, u64)>,
}

impl Frontier {
    /// How much was done until here.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.progress.0
    }

    /// How many nodes it has, which is how much there is to write.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.levels.len()
    }
}

impl<M: Transactional> Search<'_, '_, M> {
    /// The present node has its next branch: tells the observer what it takes to go on here, if it wants to know.
    pub(super) fn tell(&mut self) {
        let (levels, reported) = (&mut self.levels, &mut self.reported);
        let (depth, discipline) = (self.depth, &*self.discipline);
        let told = self.drive.tell(|progress| {
            levels.truncate(depth + 1);
            levels.iter_mut().for_each(Level::shrink);
            Frontier {
                progress,
                discipline: discipline.clone(),
                levels: std::mem::take(levels),
                reported: std::mem::take(reported),
            }
        });
        if let Some(told) = told {
            self.levels = told.levels;
            self.reported = told.reported;
        }
    }

    /// Goes to where another search stood.
    pub(super) fn resume(&mut self, frontier: Frontier) -> Result<(), Break> {
        let Frontier { progress, discipline, levels, reported } = frontier;
        *self.discipline = discipline;
        self.levels = levels;
        self.reported = reported;
        self.drive.reopen(progress);
        self.clear()?;
        for depth in 0..self.levels.len() {
            if depth > 0 {
                let repeated = self.repeat();
                // What is run again was counted before.
                self.drive.reopen(progress);
                repeated?;
            }
            self.depth = depth;
            self.drive.machine.save(depth);
        }
        Ok(())
    }

    /// Runs the branch of the present node again.
    fn repeat(&mut self) -> Result<(), Break> {
        let other = Stop::Nondeterminism { step: self.drive.schedule.len() };
        let Some(thread) = self.levels[self.depth].thread else { return Err(other.into()) };
        let starts = self.drive.schedule.len() == self.levels[self.depth].schedule;
        if !starts || thread.0 >= self.drive.machine.threads() {
            return Err(other.into());
        }
        let mut picks = std::mem::take(&mut self.levels[self.depth].picks);
        let end = self.advance(thread, &mut picks);
        self.levels[self.depth].picks = picks;
        match end? {
            End::Boundary | End::Ended => {}
            End::Blocked if self.parks() => {}
            _ => return Err(other.into()),
        }
        self.haunt(thread);
        self.prepare(thread, Source::Run);
        self.append(thread)
    }
}
