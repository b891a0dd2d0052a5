//! The branch under way from a node of a depth-first search, and those that are left.

use crate::core::machine::{Machine, Status, ThreadId};
use crate::core::picks::Picks;
use crate::drive::observer::Stop;
use crate::drive::{After, Drive, Run};

/// See the module.
pub(crate) struct Branch {
    pub(crate) thread: ThreadId,
    /// Threads to run that were not yet, the next one last.
    left: Vec<ThreadId>,
    /// Values that its run chooses.
    pub(crate) picks: Picks,
    /// What its run looked like, to compare when it is run again.
    signature: u64,
}

impl Branch {
    /// The first of these, the next one last; `None`: there is none.
    pub(crate) fn first(mut left: Vec<ThreadId>) -> Option<Self> {
        let thread = left.pop()?;
        Some(Self { thread, left, picks: Picks::default(), signature: 0 })
    }

    /// Goes on to the next one: other values, or another thread. Returns whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        if self.picks.advance() {
            return true;
        }
        let Some(thread) = self.left.pop() else { return false };
        self.thread = thread;
        self.picks.clear();
        true
    }

    /// Makes its run, by `run`, as number `step` of the execution; again, it has to look as before,
    /// and to end nothing.
    pub(crate) fn run<M: Machine>(
        &mut self,
        step: usize,
        kind: Run,
        drive: &mut Drive<'_, M>,
        run: impl FnOnce(&mut Drive<'_, M>, ThreadId, &mut dyn FnMut(u32) -> u32) -> Result<After, Stop>,
    ) -> Result<After, Stop> {
        let differs = Err(Stop::Nondeterminism { step });
        if kind == Run::Again {
            let exists = self.thread.0 < drive.machine.threads();
            if !exists || !drive.machine.status(self.thread).can_run() {
                return differs;
            }
        }
        self.picks.rewind();
        let picks = &mut self.picks;
        let after = run(drive, self.thread, &mut |of| picks.pick(of))?;
        let signature = drive.step.signature;
        let again = after == After::On && signature == self.signature;
        if !self.picks.agreed() || (kind == Run::Again && !again) {
            return differs;
        }
        self.signature = signature;
        Ok(after)
    }
}

/// The statuses of all threads.
pub(crate) fn statuses<M: Machine>(machine: &mut M) -> Vec<Status> {
    (0..machine.threads()).map(|thread| machine.status(ThreadId(thread))).collect()
}

/// The threads that can run: low-priority ones first, of each kind the lowest last, as
/// [`Branch::first`] takes them.
pub(crate) fn can_run(statuses: &[Status]) -> Vec<ThreadId> {
    let with = |wanted: Status| {
        let numbered = statuses.iter().enumerate().rev();
        numbered.filter(move |(_, s)| **s == wanted).map(|(t, _)| ThreadId(t as u32))
    };
    with(Status::LowPriority).chain(with(Status::Enabled)).collect()
}
