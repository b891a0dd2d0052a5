//! Following one order of transactions again, to report the races at its end with their witnesses:
//! for a search that knows of a race only that there is one.

use std::collections::HashSet;

use crate::core::footprint::ObjectId;
use crate::core::machine::ThreadId;
use crate::core::picks::Picks;
use crate::discipline::Discipline;
use crate::drive::Drive;
use crate::drive::observer::Stop;
use crate::drive::transactional::Transactional;

use super::trace::Touched;
use super::{Break, Search};

/// Races that were reported: object, and the two threads and sites.
pub(crate) type Reported = HashSet<(ObjectId, ThreadId, u64, ThreadId, u64)>;

/// Runs these transactions again from the root, and reports the races among them that are not
/// `reported` yet, each with its witness (docs/algorithm.md#witness).
///
/// Returns whether the machine stands after the last one then; else the discipline has grown, which
/// was noticed. O(transactions), and what judging them takes.
///
/// # Errors
/// When the observer stops the search, and what ends any search.
pub(crate) fn report_races<M: Transactional>(
    drive: &mut Drive<'_, M>,
    discipline: &mut Discipline,
    path: Vec<(ThreadId, Picks)>,
    reported: &mut Reported,
) -> Result<bool, Stop> {
    let counts = drive.counts;
    let mut search = Search::new(drive.again(), discipline);
    search.reported = std::mem::take(reported);
    let result = search.follow(path);
    *reported = std::mem::take(&mut search.reported);
    // Nothing was explored that had not been before.
    let operations = search.drive.counts.operations;
    drive.counts = crate::Counts { operations, ..counts };
    match result {
        Ok(()) => Ok(true),
        Err(Break::Refuted) => Ok(false),
        Err(Break::Stop(stop)) => Err(stop),
    }
}

impl<M: Transactional> Search<'_, '_, M> {
    fn follow(&mut self, path: Vec<(ThreadId, Picks)>) -> Result<(), Break> {
        self.clear()?;
        for (thread, mut picks) in path {
            self.advance(thread, &mut picks)?;
            let footprint = &self.run.footprint;
            let (real, by_time) = (&footprint.accesses, footprint.by_time);
            let touched = Touched { real, inherited: &[], by_time };
            self.trace.prepare(thread, touched, &footprint.joins);
            self.append(thread)?;
        }
        Ok(())
    }
}
