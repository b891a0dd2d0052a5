//! Random walks towards targets: cycles of locks that are acquired under each other, each to be
//! closed to a deadlock.
//!
//! *DeadlockFuzzer* (Joshi, Park, Sen, Naik: A randomized dynamic program analysis technique for
//! detecting real deadlocks, PLDI 2009, algorithm 3): a walk runs threads at random, but a thread
//! that is about to acquire the inner lock of one of the cycle's nestings, and holds the outer
//! one, is paused until no other can run. If the cycle can be closed, the others come to their
//! parts of it meanwhile. Where only paused threads could run, the walk is *thrashing*: one of
//! them, at random, goes on. That makes a step each time, so that a walk is as long as any other at
//! most.
//!
//! A thread that is paused too early may keep others from their parts: they need, for something
//! else, the lock that it holds. The paper has threads yield before the cycle's outermost lock,
//! too (section 4); here, every second walk pauses them there, and lets these go on first. As the
//! paper's monitor does, a walk goes on with a paused thread, too, when the others have made
//! [`PATIENCE`] steps meanwhile: they may do so for ever. Departure: deadlocks are found where no
//! thread can run, as in all searches, not by looking at who waits for whom after each step.
//!
//! Low-priority threads take part in one of eight steps, as in [`crate::sampling::random`], and
//! where nobody else could run. The search ends when all walks were made, by a limit, or by the
//! observer.

use crate::core::machine::{Approach, Machine, Status, ThreadId};
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::{After, Drive, Run};
use crate::sampling::random::Generator;

/// Steps of others after which a paused thread goes on.
pub const PATIENCE: u64 = 10_000;

/// Walks in a row after which a target is given up if no thread was at any of its inner
/// acquisitions in them.
pub const UNMET: u64 = 4;

/// What is walked towards, and how far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aim {
    /// How many targets the machine has ([`Machine::approach`]); one is walked towards after the
    /// other.
    pub targets: u32,
    /// Walks towards each, at most.
    pub walks: u64,
    /// Runs of threads in the walks towards one target after which no further walk towards it
    /// begins.
    pub operations: u64,
    /// Equal seeds give equal walks.
    pub seed: u64,
}

/// Walks towards each target in turn.
pub fn explore<M: Machine>(
    machine: &mut M,
    aim: Aim,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let drive = Drive::new(machine, limits, observer);
    let mut walks = Walks { drive, random: Generator(aim.seed), threads: Threads::default() };
    let result = (0..aim.targets).try_for_each(|target| walks.towards(target, aim));
    // All that were wanted were made, which covers nothing.
    walks.drive.sampled(result.and(Err(Stop::Executions)), aim.seed)
}

struct Walks<'a, M: Machine> {
    drive: Drive<'a, M>,
    random: Generator,
    threads: Threads,
}

/// The threads that can run, by what a walk does with them.
#[derive(Default)]
struct Threads {
    free: Vec<ThreadId>,
    /// They are free in some steps.
    low_priority: Vec<ThreadId>,
    /// Paused before an outer acquisition.
    outer: Vec<ThreadId>,
    /// Paused before an inner acquisition.
    inner: Vec<ThreadId>,
    /// Some thread, perhaps a blocked one, is at an inner acquisition.
    meets: bool,
}

impl<M: Machine> Walks<'_, M> {
    /// Makes the walks towards one target.
    fn towards(&mut self, target: u32, aim: Aim) -> Result<(), Stop> {
        let begun = self.drive.counts.operations;
        let mut unmet = 0;
        for walk in 0..aim.walks {
            let operations = self.drive.counts.operations - begun;
            if unmet == UNMET || operations >= aim.operations {
                break;
            }
            self.drive.restart()?;
            unmet = if self.walk(target, walk % 2 == 1)? { 0 } else { unmet + 1 };
        }
        Ok(())
    }

    /// Walks once; `outer`: pauses threads before outer acquisitions, too. Gives whether some
    /// thread was at an inner one.
    fn walk(&mut self, target: u32, outer: bool) -> Result<bool, Stop> {
        let mut met = false;
        let mut paused = 0;
        loop {
            self.threads.sort(self.drive.machine, target, outer);
            met |= self.threads.meets;
            paused = if self.threads.pauses() { paused + 1 } else { 0 };
            let Some(thread) = self.threads.pick(&mut self.random, &mut paused) else {
                self.drive.finish()?;
                return Ok(met);
            };
            let random = &mut self.random;
            match self.drive.run(thread, Run::Fresh, &mut |of| random.below(of))? {
                After::On => {}
                After::Over => {
                    self.drive.finish()?;
                    return Ok(met);
                }
                After::Cut => {
                    self.drive.give_up();
                    return Ok(met);
                }
            }
        }
    }
}

impl Threads {
    fn sort<M: Machine>(&mut self, machine: &mut M, target: u32, pauses_outer: bool) {
        let Self { free, low_priority, outer, inner, meets } = self;
        [&mut *free, low_priority, outer, inner].into_iter().for_each(Vec::clear);
        *meets = false;
        for thread in (0..machine.threads()).map(ThreadId) {
            let approach = machine.approach(thread, target);
            *meets |= approach == Approach::Inner;
            match (machine.status(thread), approach) {
                (Status::Blocked { .. } | Status::Ended, _) => {}
                (Status::LowPriority, _) => low_priority.push(thread),
                (Status::Enabled, Approach::Inner) => inner.push(thread),
                (Status::Enabled, Approach::Outer) if pauses_outer => outer.push(thread),
                (Status::Enabled, _) => free.push(thread),
            }
        }
    }

    /// Whether somebody is paused.
    fn pauses(&self) -> bool {
        !(self.outer.is_empty() && self.inner.is_empty())
    }

    /// Who runs next; `paused`: steps since somebody was paused, or since one who was has gone on.
    fn pick(&mut self, random: &mut Generator, paused: &mut u64) -> Option<ThreadId> {
        let Self { free, low_priority, outer, inner, .. } = self;
        if random.below(8) == 0 {
            free.append(low_priority);
        }
        if free.is_empty() || *paused > PATIENCE {
            *paused = 0;
            free.clone_from([outer, inner, low_priority].into_iter().find(|of| !of.is_empty())?);
        }
        let number = u32::try_from(free.len()).unwrap_or(u32::MAX);
        Some(free[random.below(number) as usize])
    }
}
