//! Sleeps and timeouts in the order of time.
//!
//! Where time is ordered, a thread that sleeps, or waits with a timeout, goes on by itself only
//! where no thread can run but such, and none of those is to go on earlier. Of several whose moment
//! is the same any may.

use super::machine::{Failure, ModelMachine};
use super::state::Phase;
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Machine, Status, Step, ThreadId};

/// What a wait with a timeout takes.
pub(super) const TIMEOUT: u8 = 2;

impl ModelMachine {
    /// The same machine, in which sleeps and timeouts end in the order of time.
    #[must_use]
    pub fn ordering_time(mut self) -> Self {
        self.ordered = true;
        self
    }

    /// The thread sleeps, or waits with a timeout, and nobody has woken it.
    fn sleeps(&self, number: usize) -> bool {
        let phase = self.state.threads[number].phase;
        matches!(phase, Phase::Sleeping | Phase::Leaving(_, _, Some(_)))
    }

    /// So it does, and goes on by itself in the order of time.
    pub(super) fn is_patient(&self, number: usize) -> bool {
        self.ordered && self.sleeps(number)
    }

    /// The thread goes on so much later, by itself.
    pub(super) fn fall_asleep(&mut self, number: usize, time: u8) {
        let until = self.state.time + u32::from(time);
        self.state.threads[number].until = if self.ordered { until } else { 0 };
    }

    /// It goes on, perhaps because its time has come.
    pub(super) fn wake_up(&mut self, number: usize, step: &mut Step<Failure>) {
        let until = std::mem::take(&mut self.state.threads[number].until);
        if self.is_patient(number) {
            self.state.time = self.state.time.max(until);
            step.footprint.by_time = true;
        } else if self.sleeps(number) {
            let overtaken = (0..self.code.len())
                .any(|other| !self.sleeps(other) && self.status(ThreadId(other as u32)).can_run());
            step.overtaken += u32::from(overtaken);
        }
    }

    /// Whether a thread that sleeps, or may leave a queue by itself, can go on.
    pub(super) fn status_asleep(&mut self, number: usize) -> Status {
        if !self.is_patient(number) {
            return Status::LowPriority;
        }
        let until = self.state.threads[number].until;
        let waits = (0..self.code.len()).any(|other| match self.is_patient(other) {
            true => self.state.threads[other].until < until,
            false => self.status(ThreadId(other as u32)).can_run(),
        });
        if waits { Status::Blocked { on: ObjectId(u64::MAX - 1) } } else { Status::LowPriority }
    }
}
