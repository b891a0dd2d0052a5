//! The native machine as the search by transactions sees it: whole transactions, and going back by running again.
//!
//! A saved state is the length of the log of steps that lead to it; going back is restoring the root, or the last checkpoint before
//! (a [`Snapshot`]), and running the steps from there again, which are compared with what they were. Checkpoints are made on the way
//! back only, half way between where it begins and where it leads, as long as that is [`far`]: so going back step by step from depth
//! n, as a depth-first search does, costs O(n log n) steps and not O(n^2), at O(log n) copies.

use crate::chunks::Chunks;
use crate::failure::Failure;
use crate::fingerprint::Whole;
use crate::gate;
use crate::machine::{Native, execute, status};
use crate::native::{self, Call};
use crate::operation::Pending;
use crate::snapshot::Snapshot;
use crate::state::state;
use lockred_search::discipline::{Gate, Go};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use lockred_search::transactional::{End, Racer, Snapshots, Transactional};
use lockred_trace::codes::AssumptionKind;
use lockred_trace::sites::SiteId;

/// Steps that are run again rather than copying a state (70 kB in a small test) and putting it back: measured with 4 to 64 of them, where
/// 16 were best by 5 to 10 %; in a search over states, whose steps cost several times as much, 4.
fn far() -> usize {
    if state().compares { 4 } else { 16 }
}

/// A step that was made.
#[derive(Clone, Debug)]
struct Made {
    thread: ThreadId,
    signature: u64,
    /// Where its values end.
    values: usize,
    /// The calls of native code in it.
    native: Box<[Call]>,
}

/// The steps since the root.
#[derive(Default, Debug)]
pub struct Log {
    steps: Vec<Made>,
    /// What the steps chose.
    values: Vec<u32>,
    /// Of each saved state, the number of steps that lead to it.
    saved: Vec<usize>,
    step: Step<Failure>,
    /// Copies of states, and the numbers of steps that lead to them.
    checkpoints: Vec<(usize, Snapshot)>,
    chunks: Chunks,
    /// A step that was made again was another one.
    differs: bool,
}

impl Log {
    /// The machine is at the root.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.values.clear();
        self.checkpoints.clear();
    }

    /// Forgets what is behind the first so many steps.
    fn truncate(&mut self, length: usize) {
        self.steps.truncate(length);
        self.values.truncate(self.steps.last().map_or(0, |made| made.values));
        self.checkpoints.truncate(self.checkpoints.partition_point(|&(steps, _)| steps <= length));
    }

    /// Keeps a copy of the state to which so many steps lead.
    fn check_in(&mut self, steps: usize) {
        if let Some(snapshot) = Snapshot::take(&mut self.chunks) {
            self.checkpoints.push((steps, snapshot));
        }
    }
}

/// Takes the values that a step took before.
struct Again<'a> {
    values: std::slice::Iter<'a, u32>,
}

impl Chooser for Again<'_> {
    fn choose(&mut self, of: u32) -> u32 {
        self.values.next().copied().unwrap_or(0).min(of - 1)
    }
}

/// Keeps the values that a step takes.
struct Keeping<'a, 'g> {
    gate: *mut Gate<'g>,
    values: &'a mut Vec<u32>,
}

impl Chooser for Keeping<'_, '_> {
    fn choose(&mut self, of: u32) -> u32 {
        // SAFETY: `advance` lends the gate while the step runs, and hooks use it one after the other.
        let value = unsafe { (*self.gate).choose(of) };
        self.values.push(value);
        value
    }
}

/// Where a checkpoint is worth its while between two numbers of steps.
fn half_way(from: usize, to: usize) -> Option<usize> {
    (to - from >= far()).then_some(from + (to - from) / 2)
}

impl Snapshots for Native {
    fn save(&mut self, slot: usize) {
        self.log.saved.truncate(slot);
        self.log.saved.resize(slot + 1, self.log.steps.len());
    }

    fn restore(&mut self, slot: usize) {
        let length = self.log.saved[slot];
        if length == self.log.steps.len() {
            return;
        }
        self.log.truncate(length);
        self.go_back(true);
        let verifies =
            state().order.as_ref().is_some_and(|order| order.environment.verify_restores);
        if verifies && !self.log.checkpoints.is_empty() && !self.log.differs {
            let mut chunks = Chunks::default();
            let copied = Whole::take(&mut chunks);
            self.go_back(false);
            if let Some(what) = copied.difference(&Whole::take(&mut chunks)) {
                crate::state::fatal(&format!(
                    "a restored state differs from the one it is a copy of: {what}"
                ));
            }
        }
    }
}

impl Native {
    /// Goes to where the log ends: from the last checkpoint, or else (and if not `copied`) from the root.
    fn go_back(&mut self, copied: bool) {
        let mut log = std::mem::take(&mut self.log);
        let length = log.steps.len();
        let mut number = match log.checkpoints.last() {
            Some((steps, snapshot)) if copied => {
                snapshot.restore();
                *steps
            }
            _ => {
                crate::root::restore();
                0
            }
        };
        let mut half = half_way(number, length).filter(|_| copied);
        let mut step = std::mem::take(&mut log.step);
        let mut differing = None;
        while number < length {
            if half == Some(number) {
                log.check_in(number);
                half = half_way(number, length);
            }
            let from = number.checked_sub(1).map_or(0, |before| log.steps[before].values);
            let made = &log.steps[number];
            let values = log.values[from..made.values].iter();
            let runs = made.thread.0 < self.threads() && self.status(made.thread).can_run();
            if runs {
                self.step(made.thread, &mut Again { values }, &mut step);
            }
            if runs && differing.is_none() {
                differing = native::difference(&made.native, state().native.of_step());
            }
            if !runs || step.signature != made.signature || step.flow != Flow::On {
                state().unsupported = Some(crate::answer::nondeterminism(number, differing));
                log.differs = true;
                break;
            }
            number += 1;
        }
        log.step = step;
        self.log = log;
    }
}

impl Transactional for Native {
    fn advance(
        &mut self,
        thread: ThreadId,
        gate: &mut Gate<'_>,
        failures: &mut Vec<Failure>,
    ) -> End {
        if self.log.differs {
            return End::Unsupported;
        }
        let number = thread.index();
        let mut made = false;
        loop {
            let status = status(state(), number);
            match (status, state().execution.threads[number].pending) {
                (Status::Ended, _) => return End::Ended,
                (
                    Status::Blocked { .. },
                    Pending::FutexQueued { .. } | Pending::Offering { .. } | Pending::Never,
                ) => {
                    return End::Boundary;
                }
                // Also behind the thread's beginning, which the gate does not know of: others may go on instead.
                (_, Pending::Sleeping { .. }) if made => return End::Boundary,
                _ => {}
            }
            let operation = gate::next(state(), number, gate);
            let go = gate.before(&operation, status.can_run());
            if state().names.take_renamed() {
                gate.renamed();
            }
            match go {
                Go::On => {}
                Go::Boundary => return End::Boundary,
                Go::Blocked => return End::Blocked,
            }
            let flow = self.make(thread, gate, failures);
            made = true;
            if state().names.take_renamed() {
                gate.renamed();
            }
            match flow {
                Flow::On => {}
                Flow::Over => return End::Over,
                Flow::Unsupported => return End::Unsupported,
            }
        }
    }

    fn weak_values(&mut self) {
        state().weak_pair = true;
    }

    fn may_race(&mut self, _object: ObjectId, earlier: Racer, later: Racer) {
        let place =
            [earlier, later].map(|racer| racer.site as u32).into_iter().find(|&site| site != 0);
        crate::host::assume_at(AssumptionKind::DataRaces, "", SiteId(place.unwrap_or(0)));
    }

    fn race(&self, _object: ObjectId, earlier: Racer, later: Racer) -> Failure {
        crate::plain::race(earlier, later)
    }
}

impl Native {
    /// Makes a step under the gate.
    fn make(&mut self, thread: ThreadId, gate: &mut Gate<'_>, failures: &mut Vec<Failure>) -> Flow {
        let number = thread.index();
        let lent = std::ptr::from_mut(gate);
        let mut step = std::mem::take(&mut self.log.step);
        let mut keeping = Keeping { gate: lent, values: &mut self.log.values };
        execute(thread, &mut keeping, Some(lent.cast()), &mut step);
        failures.append(&mut step.failures);
        let native = state().native.of_step().into();
        let values = self.log.values.len();
        let made = Made { thread, signature: step.signature, values, native };
        self.log.steps.push(made);
        if state().execution.threads[number].has_ended() {
            gate::ended(state(), thread, gate);
        }
        let flow = step.flow;
        self.log.step = step;
        flow
    }
}
