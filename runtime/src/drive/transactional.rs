//! The native machine as the search by transactions sees it: whole transactions, and going back by
//! running again.
//!
//! A saved state is the length of the log of steps that lead to it; going back is restoring the
//! root, or the last checkpoint before (a [`Snapshot`]), and running the steps from there again,
//! which are compared with what they were. Checkpoints are made on the way back only, half way
//! between where it begins and where it leads, as long as that is [`far`]: so going back step by
//! step from depth n, as a depth-first search does, costs O(n log n) steps and not O(n^2), at O(log
//! n) copies.

use crate::drive::fingerprint::Whole;
use crate::drive::native::Native;
use crate::drive::native::execute;
use crate::drive::snapshot::Snapshot;
use crate::machine::hook::{self, Entered};
use crate::machine::operation::Pending;
use crate::machine::state::State;
use crate::machine::step::Lent;
use crate::memory::chunks::Chunks;
use crate::monitor::transactions;
use crate::record::failure::Failure;
use crate::record::native_calls;
use crate::record::native_calls::Call;
use crate::scheduler::status::{awaited, status};
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::{Go, TransactionMonitor};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::{Chooser, Flow, Status, Step, ThreadId};
use lockred_search::transactional::{Awaited, End, Racer, Snapshots, Transactional};
use std::ptr::NonNull;

/// Steps that are run again rather than copying a state (70 kB in a small test) and putting it
/// back: measured with 4 to 64 of them, where 16 were best by 5 to 10 %; in a search over states,
/// whose steps cost several times as much, 4.
fn far(state: &State) -> usize {
    if state.config.compares { 4 } else { 16 }
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

    /// Forgets what is after the first so many steps.
    fn truncate(&mut self, length: usize) {
        self.steps.truncate(length);
        self.values.truncate(self.steps.last().map_or(0, |made| made.values));
        self.checkpoints.truncate(self.checkpoints.partition_point(|&(steps, _)| steps <= length));
    }

    /// Keeps a copy of the state to which so many steps lead.
    fn check_in(&mut self, state: &mut State, steps: usize) {
        if let Some(snapshot) = Snapshot::take(state, &mut self.chunks) {
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
    monitor: NonNull<TransactionMonitor<'g>>,
    values: &'a mut Vec<u32>,
}

impl Chooser for Keeping<'_, '_> {
    fn choose(&mut self, of: u32) -> u32 {
        // SAFETY: `advance` lends the monitor while the step runs, and hooks use it one after the
        // other.
        let value = unsafe { self.monitor.as_mut().choose(of) };
        self.values.push(value);
        value
    }
}

/// Where a checkpoint is worth its while between two numbers of steps.
fn half_way(state: &State, from: usize, to: usize) -> Option<usize> {
    (to - from >= far(state)).then_some(from + (to - from) / 2)
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
        let entered = &mut hook::enter();
        self.log.truncate(length);
        self.log.go_back(entered, true);
        let verifies = entered
            .config
            .request
            .as_ref()
            .is_some_and(|request| request.environment.verify_restores);
        if verifies && !self.log.checkpoints.is_empty() && !self.log.differs {
            let mut chunks = Chunks::default();
            let copied = Whole::take(entered, &mut chunks);
            self.log.go_back(entered, false);
            if let Some(what) = copied.difference(&Whole::take(entered, &mut chunks)) {
                crate::session::files::fatal(&format!(
                    "a restored state differs from the one it is a copy of: {what}"
                ));
            }
        }
    }
}

impl Log {
    /// Goes to where the log ends: from the last checkpoint, or else (and if not `copied`) from the
    /// root.
    fn go_back(&mut self, entered: &mut Entered, copied: bool) {
        let length = self.steps.len();
        let mut number = match self.checkpoints.last() {
            Some((steps, snapshot)) if copied => {
                snapshot.restore(entered);
                *steps
            }
            _ => {
                crate::drive::restore::restore(entered);
                0
            }
        };
        let mut half = half_way(entered, number, length).filter(|_| copied);
        let mut step = std::mem::take(&mut self.step);
        let mut differing = None;
        while number < length {
            if half == Some(number) {
                self.check_in(entered, number);
                half = half_way(entered, number, length);
            }
            let from = number.checked_sub(1).map_or(0, |before| self.steps[before].values);
            let made = &self.steps[number];
            let values = self.values[from..made.values].iter();
            let index = made.thread.index();
            let runs = index < entered.execution.threads.len() && status(entered, index).can_run();
            if runs {
                execute(entered, made.thread, &mut Again { values }, None, &mut step);
            }
            if runs && differing.is_none() {
                differing =
                    native_calls::difference(&made.native, entered.monitors.native.of_step());
            }
            if !runs || step.signature != made.signature || step.flow != Flow::On {
                let why = crate::drive::nondeterminism::nondeterminism(entered, number, differing);
                entered.verdicts.unsupported = Some(why);
                self.differs = true;
                break;
            }
            number += 1;
        }
        self.step = step;
    }

    /// Makes a step under the monitor.
    fn make(
        &mut self,
        entered: &mut Entered,
        thread: ThreadId,
        monitor: &mut TransactionMonitor<'_>,
        failures: &mut Vec<Failure>,
    ) -> Flow {
        let number = thread.index();
        let lent = NonNull::from(&mut *monitor);
        let mut step = std::mem::take(&mut self.step);
        let mut keeping = Keeping { monitor: lent, values: &mut self.values };
        // SAFETY: the step ends before `monitor` is used again, and values are chosen between
        // hooks' uses of it.
        let lent = unsafe { Lent::new(lent) };
        execute(entered, thread, &mut keeping, Some(lent), &mut step);
        failures.append(&mut step.failures);
        let native = entered.monitors.native.of_step().into();
        let values = self.values.len();
        let made = Made { thread, signature: step.signature, values, native };
        self.steps.push(made);
        if entered.execution.threads[number].has_ended() {
            transactions::ended(entered, thread, monitor);
        }
        let flow = step.flow;
        self.step = step;
        flow
    }
}

impl Transactional for Native {
    fn advance(
        &mut self,
        thread: ThreadId,
        monitor: &mut TransactionMonitor<'_>,
        failures: &mut Vec<Failure>,
    ) -> End {
        if self.log.differs {
            return End::Unsupported;
        }
        let entered = &mut hook::enter();
        let number = thread.index();
        let mut made = false;
        loop {
            let status = status(entered, number);
            match (status, entered.execution.threads[number].pending) {
                (Status::Ended, _) => return End::Ended,
                (
                    Status::Blocked { .. },
                    Pending::FutexQueued { .. } | Pending::Offering { .. } | Pending::Never,
                ) => {
                    return End::Boundary;
                }
                // Also after the thread's beginning, which the monitor does not know of: others may
                // go on instead.
                (_, Pending::Sleeping { .. }) if made => return End::Boundary,
                _ => {}
            }
            let operation = transactions::next(entered, number, monitor);
            // It reports to the observer of the choice, which enters.
            let go = entered.outside(|| monitor.before(&operation, status.can_run()));
            if entered.knowledge.object_ids.take_renamed() {
                monitor.renamed();
            }
            match go {
                Go::On => {}
                Go::Boundary => return End::Boundary,
                Go::Blocked => return End::Blocked,
            }
            let flow = self.log.make(entered, thread, monitor, failures);
            made = true;
            if entered.knowledge.object_ids.take_renamed() {
                monitor.renamed();
            }
            match flow {
                Flow::On => {}
                Flow::Over => return End::Over,
                Flow::Unsupported => return End::Unsupported,
            }
        }
    }

    fn awaited(&self, thread: ThreadId) -> Awaited {
        awaited(&hook::enter(), thread.index())
    }

    fn weak_values(&mut self) {
        hook::enter().verdicts.weak_pair = true;
    }

    fn may_race(&mut self, _object: ObjectId, earlier: Racer, later: Racer) {
        let sites = [earlier, later].map(|racer| racer.site as u32);
        let site = SiteId(sites.into_iter().find(|&site| site != 0).unwrap_or(0));
        hook::with(|state| {
            crate::machine::limits::assume_at(state, AssumptionKind::DataRaces, "", site)
        });
    }

    fn race(&self, _object: ObjectId, earlier: Racer, later: Racer) -> Failure {
        crate::monitor::race_report::race(earlier, later)
    }
}
