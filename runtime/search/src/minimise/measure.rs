//! The measure of an execution, and keeping it while the execution runs.

use serde::{Deserialize, Serialize};

use crate::core::machine::{Machine, Status, ThreadId};
use crate::core::thread_set::ThreadSet;
use crate::drive::observer::Stop;
use crate::drive::{After, Drive, Run};

/// How much of everything an execution takes up to where its failure shows. Ordered by overtaken
/// sleeps, then preemptions, then threads, then steps.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Measure {
    /// Sleeps, timeouts and late looks at clocks ([`crate::core::machine::Step::overtaken`]).
    pub overtaken: u32,
    /// Switches away from a thread that could have gone on.
    pub preemptions: u32,
    /// Threads that have run.
    pub threads: u32,
    /// Runs of threads from boundary to boundary.
    pub steps: u64,
}

/// Where an execution stands, as far as its measure goes.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    pub(super) measure: Measure,
    threads: ThreadSet,
    /// The thread that ran last.
    pub(super) last: Option<ThreadId>,
    /// It can go on.
    goes_on: bool,
}

impl Walk {
    /// The thread that a switch would preempt.
    pub(super) fn preempted(&self) -> Option<ThreadId> {
        self.last.filter(|_| self.goes_on)
    }

    /// Where it would stand after a step of `thread`, if that overtakes no sleep.
    pub(super) fn behind(&self, thread: ThreadId) -> Measure {
        let Measure { overtaken, preemptions, threads, steps } = self.measure;
        let preempts = self.preempted().is_some_and(|last| last != thread);
        Measure {
            overtaken,
            preemptions: preemptions + u32::from(preempts),
            threads: threads + u32::from(!self.threads.contains(thread)),
            steps: steps + 1,
        }
    }

    /// Runs `thread`, which can run.
    pub(super) fn run<M: Machine>(
        &mut self,
        drive: &mut Drive<'_, M>,
        thread: ThreadId,
        kind: Run,
        pick: &mut dyn FnMut(u32) -> u32,
    ) -> Result<After, Stop> {
        self.measure = self.behind(thread);
        self.threads.insert(thread);
        self.last = Some(thread);
        let ran = drive.run(thread, kind, pick);
        self.measure.overtaken += drive.step.overtaken;
        let after = ran?;
        self.goes_on = drive.machine.status(thread) == Status::Enabled;
        Ok(after)
    }
}
