//! Every interleaving with at most so many preemptions, switches or operations, first those with
//! none, then those with at most one, and so on up to the bound, so that failures show with as few
//! as they take (Musuvathi, Qadeer: Iterative context bounding for systematic testing of
//! multithreaded programs, PLDI 2007; for operations, iterative deepening: Korf, AI 1985).
//!
//! Most bugs take few preemptions, and the number of interleavings with at most c of them is
//! polynomial in the program's length. Of two ways to the same state
//! ([`crate::interleavings::causes`]), the second is left out unless it has cost less, so every
//! state that can be come to within the bound is gone on from with the least that it takes: nothing
//! that the bound allows is lost. After a data race equal causes are no equal states any more, and
//! every way counts.
//!
//! Smaller bounds are explored again with each larger one, which costs little, as that has so many
//! more executions; memory is what an execution takes, and a table of states that has a bound of
//! its own ([`crate::interleavings::cheapest`]).

use crate::core::choice::Choice;
use crate::core::machine::{Machine, ThreadId};
use crate::drive::Drive;
use crate::drive::observer::{Bound, Covered, Limits, Observer, Outcome, Stop};
use crate::interleavings::cheapest::Cheapest;
use crate::interleavings::depth_first::{self, Arrival, Budget, Counted, Known};

/// Explores them. [`Stop::Complete`] if the bound left nothing out. What was covered is reported
/// also if the search ends before: the last bound that was explored in full. Counts are of the
/// bound under way, but for operations.
pub fn explore<M: Machine>(
    machine: &mut M,
    bound: Bound,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    // Without any operation there is nothing to run.
    let (counts, first, last) = match bound {
        Bound::Preemptions(most) => (Counted::Preemptions, 0, most),
        Bound::Switches(most) => (Counted::Switches, 0, most),
        Bound::Operations(most) => (Counted::Operations, 1, most),
    };
    let mut drive = Drive::new(machine, limits, observer);
    let mut covered = Covered::Some;
    for most in first..=last {
        if most > first {
            drive.begin_again();
        }
        drive.report_bound(most);
        let budget = Some(Budget { counts, most });
        let result = depth_first::explore(&mut drive, budget, &mut Cheapest::default());
        match result {
            Ok(true) if drive.was_cut() => {}
            Ok(true) => covered = Covered::Within(bound.with(most)),
            Ok(false) if !drive.was_cut() => return drive.outcome(Ok(())),
            // No larger bound shows more than this limit of operations.
            _ => return Outcome { covered, ..drive.outcome(result.map(|_| ())) },
        }
    }
    let outcome = drive.outcome(Ok(()));
    let stop = if drive.was_cut() { outcome.stop } else { Stop::Bound };
    Outcome { stop, covered, ..outcome }
}

impl Bound {
    /// The same, but so many.
    const fn with(self, most: u32) -> Self {
        match self {
            Self::Preemptions(_) => Self::Preemptions(most),
            Self::Switches(_) => Self::Switches(most),
            Self::Operations(_) => Self::Operations(most),
        }
    }
}

impl<M: Machine> Known<M> for Cheapest {
    fn begin(&mut self) {
        self.causes.clear();
    }

    fn on_step(&mut self, thread: ThreadId, drive: &Drive<'_, M>, values: &[Choice]) {
        self.causes.step(thread, &drive.step.footprint, drive.step.signature, values);
    }

    fn is_new(&mut self, drive: &mut Drive<'_, M>, arrival: &Arrival<'_>) -> bool {
        drive.has_raced() || Self::is_new(self, arrival.statuses, arrival.last, arrival.spent)
    }
}
