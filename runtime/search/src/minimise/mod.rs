//! From a schedule that fails to the least one that fails in the same way: fewer overtaken sleeps,
//! then fewer preemptions, then fewer threads, then fewer steps.
//!
//! A *preemption* is a switch away from a thread that could have gone on (Musuvathi, Qadeer:
//! Iterative context bounding for systematic testing of multithreaded programs, PLDI 2007).
//! Switches away from a thread that waits, has ended, or could only let a timeout fire or go round
//! a loop once more are none. What is counted is the execution up to where the failure shows.
//!
//! Two parts. [`shorten`] changes the schedule where it is: cuts it off, leaves threads out, joins
//! two blocks of one thread; each candidate is run, as far as it can be followed, and kept if it
//! fails alike and is less. [`exhaust`] then goes through all executions with no preemption, with
//! at most one, and so on, and so either finds a least one or excludes that there is one. A
//! schedule counts as minimal only as far as that came to its end ([`Proof`]).
//!
//! Effort is counted in steps, never in time, so that the result is the same on every machine. Time
//! may end it through the [`Asker`], and then it is said ([`Minimised::interrupted`]).

mod exhaust;
mod measure;
mod shorten;

use std::cell::Cell;

use crate::core::choice::Choice;
use crate::core::machine::Machine;
use crate::drive::Drive;
use crate::drive::observer::{Counts, Limits, Observer, Stop};

pub use measure::Measure;
use shorten::Plan;

/// Who asks for a minimal schedule.
pub trait Asker<F> {
    /// Whether a failure that has shown is the one that is looked for.
    fn is_wanted(&mut self, failure: &F) -> bool;

    /// `choice` is about to be made at this index of the schedule under way.
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        let _ = (depth, choice);
    }

    /// A step was made. Returns whether to go on.
    fn on_step(&mut self) -> bool {
        true
    }
}

/// How much may be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Steps in all, where going back to the root counts as 16 of them; those of the given schedule
    /// are free.
    pub steps: u64,
    /// Of these, what may go into local changes.
    pub local: u64,
    /// Steps of one execution; one that is longer, and longer than twice the given schedule, is
    /// given up.
    pub longest: u64,
    /// No schedule that shows the failure has fewer overtaken sleeps than so many.
    pub overtaken: u32,
}

/// What is known to be least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Proof {
    /// Nothing: there may be an execution with fewer preemptions.
    None,
    /// The number of preemptions.
    Preemptions,
    /// The whole measure.
    Measure,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minimised {
    /// The least schedule that was found, up to where the failure shows.
    pub schedule: Vec<Choice>,
    /// Its measure.
    pub measure: Measure,
    /// The measure of the given one.
    pub given: Measure,
    /// What is known to be least.
    pub proof: Proof,
    /// What it took, counted as in [`Effort::steps`].
    pub steps: u64,
    /// The asker ended it.
    pub interrupted: bool,
}

/// Looks for the least schedule that shows the same failure as the given one. `None` if the given
/// one does not show it.
pub fn minimise<M: Machine>(
    machine: &mut M,
    schedule: &[Choice],
    effort: Effort,
    asker: &mut dyn Asker<M::Failure>,
) -> Option<Minimised> {
    let tally = Tally::default();
    let mut aim = Aim { asker, effort, tally: &tally };
    // Where the failure does not show, what comes after the schedule may be endless.
    aim.effort.longest = effort.longest.max(schedule.len() as u64 * 2);
    let limits = Limits { executions: None, operations: aim.effort.longest };
    aim.effort.steps = u64::MAX;
    let given = {
        let mut drive = Drive::new(machine, limits, &mut aim);
        shorten::follow(&mut drive, &Plan::of(schedule), &tally).ok().flatten()?
    };
    tally.spent.set(0);
    aim.effort.steps = effort.steps;
    let mut drive = Drive::new(machine, limits, &mut aim);
    let mut best = given.clone();
    let mut proof = Proof::None;
    let shortened = shorten::shorten(&mut drive, &mut best, &tally, effort.local);
    if shortened.is_ok() {
        // Its end is shown by the proof.
        let _ = exhaust::exhaust(&mut drive, &mut best, &mut proof, &tally, effort.overtaken);
    }
    // Less than none there is not, however the search ended.
    if best.measure.preemptions == 0 && best.measure.overtaken <= effort.overtaken {
        proof = proof.max(Proof::Preemptions);
    }
    Some(Minimised {
        schedule: best.schedule,
        measure: best.measure,
        given: given.measure,
        proof,
        steps: tally.spent.get(),
        interrupted: tally.interrupted.get(),
    })
}

/// An execution that fails alike.
#[derive(Clone, Debug)]
struct Failing {
    schedule: Vec<Choice>,
    measure: Measure,
}

/// Watches the executions for the failure that is looked for, and the effort.
struct Aim<'a, F> {
    asker: &'a mut dyn Asker<F>,
    effort: Effort,
    tally: &'a Tally,
}

/// What was done and met so far.
#[derive(Default)]
struct Tally {
    /// Steps.
    spent: Cell<u64>,
    /// The asker ended it.
    interrupted: Cell<bool>,
}

/// What going back to the root takes, in steps.
const RESTART: u64 = 16;

impl Tally {
    fn restart(&self) {
        self.spent.set(self.spent.get() + RESTART);
    }
}

impl<F> Observer<F> for Aim<'_, F> {
    fn on_choice(&mut self, depth: usize, choice: Choice) {
        self.asker.on_choice(depth, choice);
    }

    fn on_step(&mut self, _: &Counts) -> bool {
        if !self.asker.on_step() {
            self.tally.interrupted.set(true);
            return false;
        }
        self.tally.spent.set(self.tally.spent.get() + 1);
        self.tally.spent.get() < self.effort.steps
    }

    fn on_failure(&mut self, failure: F, _: &[Choice]) -> bool {
        !self.asker.is_wanted(&failure)
    }
}

/// Whether a run ended in the failure that is looked for; other ends go on to the caller.
fn failed<T>(result: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Failure) => Ok(None),
        Err(stop) => Err(stop),
    }
}
