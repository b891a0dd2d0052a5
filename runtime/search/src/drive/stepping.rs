//! The one place that steps a machine: keeps the schedule under way, the counts and the limits, and
//! asks the observer.

use crate::core::choice::Choice;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::ObjectId;
use crate::core::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use crate::core::picks::Picks;
use crate::discipline::{Discipline, Mode, Run as Transaction, TransactionMonitor};
use crate::drive::frontier::Frontier;
use crate::drive::observer::{Counts, Covered, Limits, Observer, Outcome, Stop};
use crate::drive::transactional::{End, Transactional};

/// Whether a run is made for the first time or repeats a prefix (whose failures and choices are
/// known).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    /// For the first time.
    Fresh,
    /// As part of a prefix.
    Again,
}

/// How an execution stands after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// It goes on.
    On,
    /// It is over for all threads.
    Over,
    /// It has reached the limit of operations.
    Cut,
}

/// A machine under way in one execution of a search.
pub struct Drive<'a, M: Machine> {
    /// The machine.
    pub machine: &'a mut M,
    observer: &'a mut dyn Observer<M::Failure>,
    limits: Limits,
    /// How much was done.
    pub counts: Counts,
    /// The choices made since the root.
    pub schedule: Vec<Choice>,
    /// What the last run did.
    pub step: Step<M::Failure>,
    failures: Vec<M::Failure>,
    /// Runs since the root.
    steps: u64,
    /// A data race has shown in the execution.
    raced: bool,
    /// An execution was cut.
    cut: bool,
    /// Executions of passes that a refuted assumption threw away.
    wasted: u64,
}

impl<'a, M: Machine> Drive<'a, M> {
    /// A search begins, at the machine's root.
    pub fn new(
        machine: &'a mut M,
        limits: Limits,
        observer: &'a mut dyn Observer<M::Failure>,
    ) -> Self {
        Self {
            machine,
            observer,
            limits,
            counts: Counts::default(),
            schedule: Vec::new(),
            step: Step::default(),
            failures: Vec::new(),
            steps: 0,
            raced: false,
            cut: false,
            wasted: 0,
        }
    }

    /// The same for what is run again from the root beside the execution under way.
    pub(crate) fn again(&mut self) -> Drive<'_, M> {
        let limits = Limits { executions: None, ..self.limits };
        let mut again = Drive::new(&mut *self.machine, limits, &mut *self.observer);
        again.counts = self.counts;
        again
    }

    /// How much was done: counts, executions that a refuted assumption threw away, and whether one
    /// was cut.
    pub fn progress(&self) -> (Counts, u64, bool) {
        (self.counts, self.wasted, self.cut)
    }

    /// As much was done as [`Drive::progress`] reported.
    pub fn reopen(&mut self, (counts, wasted, cut): (Counts, u64, bool)) {
        self.counts = counts;
        self.wasted = wasted;
        self.cut = cut;
    }

    /// Reports to the observer where the search stands, if it wants to know, or the search stops
    /// here.
    pub fn report_frontier(
        &mut self,
        frontier: impl FnOnce((Counts, u64, bool)) -> Frontier,
    ) -> Option<Frontier> {
        if !self.is_spent() && !self.observer.wants_frontier() {
            return None;
        }
        let frontier = frontier(self.progress());
        self.observer.on_frontier(&frontier);
        Some(frontier)
    }

    /// Tells the observer that all executions with at most so many of what counts are explored now.
    pub fn report_bound(&mut self, most: u32) {
        self.observer.on_bound(most);
    }

    /// Tells the observer how far the search is, if it wants to know.
    pub fn report_share(&mut self, share: impl FnOnce() -> f64) {
        if self.observer.wants_share() {
            self.observer.on_share(share());
        }
    }

    /// Goes back to the root for the next execution, unless a limit is reached.
    pub fn restart(&mut self) -> Result<(), Stop> {
        self.begin()?;
        self.go_to_root();
        Ok(())
    }

    /// Goes back to the root to begin anew or to go on from elsewhere, unless the limit of
    /// executions is reached. The share is not looked at: nothing was reported from which another
    /// process could go on here.
    pub fn begin_pass(&mut self) -> Result<(), Stop> {
        self.begin_within_executions()?;
        self.go_to_root();
        Ok(())
    }

    fn go_to_root(&mut self) {
        self.machine.restore_root();
        self.schedule.clear();
    }

    /// Begins the next execution, unless a limit is reached.
    pub fn begin(&mut self) -> Result<(), Stop> {
        self.begin_within_executions()?;
        if self.is_spent() { Err(Stop::Total) } else { Ok(()) }
    }

    /// Whether the search has taken its share.
    fn is_spent(&mut self) -> bool {
        self.observer.is_spent(&self.counts)
    }

    fn begin_within_executions(&mut self) -> Result<(), Stop> {
        let done = self.counts.executions + self.counts.blocked + self.wasted;
        self.steps = 0;
        self.raced = false;
        match self.limits.executions {
            Some(limit) if done >= limit => Err(Stop::Executions),
            _ => Ok(()),
        }
    }

    /// An assumption was refuted: counts begin again.
    pub fn refine(&mut self) {
        self.begin_again();
        self.counts.refinements += 1;
    }

    /// What was explored so far will be again: counts begin again.
    pub fn begin_again(&mut self) {
        self.wasted += self.counts.executions + self.counts.blocked;
        self.counts.executions = 0;
        self.counts.blocked = 0;
        self.cut = false;
    }

    /// Another place of the search is gone on from, to which the choices lead: reports to the
    /// observer those that differ.
    pub fn resume(&mut self, choices: &[Choice]) {
        let same =
            self.schedule.iter().zip(choices).take_while(|(one, other)| one == other).count();
        for (depth, &choice) in choices.iter().enumerate().skip(same) {
            self.observer.on_choice(depth, choice);
        }
        self.schedule.clear();
        self.schedule.extend(choices);
        let runs = choices.iter().filter(|choice| matches!(choice, Choice::Thread(_)));
        self.steps = runs.count() as u64;
    }

    /// Runs `thread`, which can run, to its next boundary. `pick` takes the alternatives that the
    /// run meets.
    pub fn run(
        &mut self,
        thread: ThreadId,
        kind: Run,
        pick: &mut dyn FnMut(u32) -> u32,
    ) -> Result<After, Stop> {
        let choice = Choice::Thread(thread);
        if kind == Run::Fresh {
            self.observer.on_choice(self.schedule.len(), choice);
        }
        self.schedule.push(choice);
        let mut chooser =
            Recorder { schedule: &mut self.schedule, observer: &mut *self.observer, kind, pick };
        self.machine.step(thread, &mut chooser, &mut self.step);
        self.steps += 1;
        self.counts.operations += 1;
        self.raced |= self.step.failures.iter().any(M::is_race);
        if kind == Run::Fresh {
            self.counts.transactions += 1;
            for failure in &self.step.failures {
                if !self.observer.on_failure(failure.clone(), &self.schedule) {
                    return Err(Stop::Failure);
                }
            }
        }
        if !self.observer.on_step(&self.counts) {
            return Err(Stop::Interrupted);
        }
        match self.step.flow {
            Flow::Unsupported => Err(Stop::Unsupported),
            Flow::Over => Ok(After::Over),
            Flow::On if self.steps >= self.limits.operations => Ok(After::Cut),
            Flow::On => Ok(After::On),
        }
    }

    /// Tells the observer of a failure that `schedule` leads to.
    pub fn fail(&mut self, failure: M::Failure, schedule: &[Choice]) -> Result<(), Stop> {
        if self.observer.on_failure(failure, schedule) { Ok(()) } else { Err(Stop::Failure) }
    }

    /// The execution has ended: no thread can run, or it is over.
    pub fn finish(&mut self) -> Result<(), Stop> {
        self.counts.executions += 1;
        self.failures.clear();
        self.machine.finish(&mut self.failures);
        for failure in self.failures.drain(..) {
            if !self.observer.on_failure(failure, &self.schedule) {
                return Err(Stop::Failure);
            }
        }
        Ok(())
    }

    /// The execution was cut at the limit of operations.
    pub fn give_up(&mut self) {
        self.counts.executions += 1;
        self.cut = true;
    }

    /// Whether the execution, which is counted in operations, has reached their limit.
    pub fn is_too_long(&self) -> bool {
        self.schedule.len() as u64 >= self.limits.operations
    }

    /// What is longer than the limit of operations was left out.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// The execution can only repeat others.
    pub fn block(&mut self) {
        self.counts.blocked += 1;
    }

    /// All threads that were rolled back stand where they wait: the machine judges the state, in
    /// which nobody can run. Where somebody can, the discipline is wrong, which other executions
    /// show.
    ///
    /// # Errors
    /// As for [`Drive::finish`].
    pub fn finish_where_all_wait(&mut self) -> Result<(), Stop> {
        let mut threads = (0..self.machine.threads()).map(ThreadId);
        if threads.any(|thread| self.machine.status(thread).can_run()) {
            self.block();
            return Ok(());
        }
        self.finish()
    }

    /// Whether a data race has shown in the execution under way.
    pub const fn has_raced(&self) -> bool {
        self.raced
    }

    /// Whether something was left out at the limit of operations.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// The outcome of a random search that ended with `result`.
    pub fn sampled(&self, result: Result<(), Stop>, seed: u64) -> Outcome {
        let executions = self.counts.executions;
        Outcome { covered: Covered::Sampled { executions, seed }, ..self.outcome(result) }
    }

    /// The outcome of a search that ended with `result`.
    pub fn outcome(&self, result: Result<(), Stop>) -> Outcome {
        let stop = match result {
            Err(stop) => stop,
            Ok(()) if self.cut => Stop::Operations,
            Ok(()) => Stop::Complete,
        };
        let complete = stop == Stop::Complete;
        let covered = if complete { Covered::Everything } else { Covered::Some };
        Outcome { stop, covered, counts: self.counts }
    }

    /// The thread that the default policy runs next: the one that ran last, else the lowest that
    /// can run; low-priority ones only if there is no other.
    pub fn default_thread(&mut self, last: Option<ThreadId>) -> Option<ThreadId> {
        let mut low_priority = None;
        let order = last.into_iter().chain((0..self.machine.threads()).map(ThreadId));
        for thread in order {
            match self.machine.status(thread) {
                Status::Enabled => return Some(thread),
                Status::LowPriority if low_priority.is_none() && Some(thread) != last => {
                    low_priority = Some(thread);
                }
                _ => {}
            }
        }
        low_priority.or_else(|| last.filter(|&thread| self.machine.status(thread).can_run()))
    }
}

impl<M: Transactional> Drive<'_, M> {
    /// Whether only one thread was ever started.
    fn is_alone(&mut self) -> bool {
        let mut others = self.machine.started();
        if is_on(Fault::AloneAgain) {
            let threads = (0..self.machine.threads()).map(ThreadId);
            others -= threads.filter(|&t| self.machine.status(t) == Status::Ended).count() as u32;
        }
        others <= 1
    }

    /// Runs a transaction of `thread` from the node where the machine stands. `parts`: the
    /// discipline, what to fill, and the locks that the thread holds.
    pub(crate) fn transact(
        &mut self,
        thread: ThreadId,
        parts: (&mut Discipline, &mut Transaction, &mut Vec<(ObjectId, Mode)>),
        picks: &mut Picks,
    ) -> Result<End, Stop> {
        let alone = self.is_alone();
        let (schedule, observer) = (&mut self.schedule, &mut *self.observer);
        let mut schedule_log = |choice| {
            observer.on_choice(schedule.len(), choice);
            schedule.push(choice);
        };
        let (discipline, run, held) = parts;
        let mut monitor = TransactionMonitor {
            discipline,
            run,
            held,
            picks,
            schedule_log: &mut schedule_log,
            thread,
            alone,
        };
        self.failures.clear();
        let end = self.machine.advance(thread, &mut monitor, &mut self.failures);
        let length = run.length();
        self.counts.operations += u64::from(length);
        self.counts.transactions += 1;
        for failure in self.failures.drain(..) {
            if !self.observer.on_failure(failure, &self.schedule) {
                return Err(Stop::Failure);
            }
        }
        if !self.observer.on_step(&self.counts) {
            return Err(Stop::Interrupted);
        }
        if end == End::Unsupported { Err(Stop::Unsupported) } else { Ok(end) }
    }
}

/// Notes the values that a run chooses.
struct Recorder<'a, F> {
    schedule: &'a mut Vec<Choice>,
    observer: &'a mut dyn Observer<F>,
    kind: Run,
    pick: &'a mut dyn FnMut(u32) -> u32,
}

impl<F> Chooser for Recorder<'_, F> {
    fn choose(&mut self, of: u32) -> u32 {
        let picked = (self.pick)(of);
        let choice = Choice::Value { picked, of };
        if self.kind == Run::Fresh {
            self.observer.on_choice(self.schedule.len(), choice);
        }
        self.schedule.push(choice);
        picked
    }
}
