//! Random searches by priorities, for programs too large to finish: PCT and POS.
//!
//! *PCT* (Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic
//! guarantees of finding bugs, ASPLOS 2010): every thread has a random priority, the highest one
//! that can run runs, and at `depth - 1` random steps the running thread falls below all others. A
//! bug that takes `depth` ordering constraints is found in one execution with probability at least
//! 1 / (n k^(depth-1)), for n threads and k steps. The number of steps is not known in advance: the
//! longest execution so far is taken for it.
//!
//! *POS* (Yuan, Yang, Gu: Partial order aware concurrency sampling, CAV 2018): every pending run
//! has a random priority; when one has run, those that depend on it draw new ones. So it samples
//! orders of dependent runs rather than schedules.
//!
//! Low-priority threads run only if nothing else can. Both end by a limit or by the observer only.

use crate::core::footprint::Footprint;
use crate::core::machine::{Machine, Status, ThreadId};
use crate::drive::observer::{Limits, Observer, Outcome, Stop};
use crate::drive::{After, Drive, Run};
use crate::sampling::random::Generator;

/// How priorities change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// PCT, for bugs of this depth (at least 1).
    Pct {
        /// Ordering constraints that a bug takes.
        depth: u32,
    },
    /// POS.
    Pos,
}

/// Walks at random; equal seeds give equal walks.
pub fn explore<M: Machine>(
    machine: &mut M,
    policy: Policy,
    seed: u64,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut walks = Walks {
        drive: Drive::new(machine, limits, observer),
        policy,
        random: Generator(seed),
        priorities: Vec::new(),
        changes: Vec::new(),
        longest: 1,
        pending: Footprint::default(),
    };
    let result = walks.run();
    walks.drive.sampled(result, seed)
}

struct Walks<'a, M: Machine> {
    drive: Drive<'a, M>,
    policy: Policy,
    random: Generator,
    /// Per thread; the highest runs.
    priorities: Vec<u64>,
    /// PCT: the steps at which the running thread falls.
    changes: Vec<u64>,
    /// Steps of the longest execution so far.
    longest: u64,
    pending: Footprint,
}

/// Priorities below this one are those of threads that fell.
const FALLEN: u64 = 1 << 32;

impl<M: Machine> Walks<'_, M> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            self.drive.restart()?;
            self.priorities.clear();
            self.changes.clear();
            if let Policy::Pct { depth } = self.policy {
                for _ in 1..depth {
                    let longest = u32::try_from(self.longest).unwrap_or(u32::MAX);
                    self.changes.push(u64::from(self.random.below(longest)));
                }
            }
            self.walk()?;
        }
    }

    fn walk(&mut self) -> Result<(), Stop> {
        for step in 0.. {
            self.longest = self.longest.max(step);
            let Some(thread) = self.highest() else { return self.drive.finish() };
            let random = &mut self.random;
            match self.drive.run(thread, Run::Fresh, &mut |of| random.below(of))? {
                After::On => self.change(thread, step),
                After::Over => return self.drive.finish(),
                After::Cut => {
                    self.drive.give_up();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The thread of the highest priority that can run; new ones draw theirs.
    fn highest(&mut self) -> Option<ThreadId> {
        while self.priorities.len() < self.drive.machine.threads() as usize {
            self.priorities.push(self.random.next() | FALLEN);
        }
        let mut best = None;
        for thread in (0..self.drive.machine.threads()).map(ThreadId) {
            let willing = match self.drive.machine.status(thread) {
                Status::Enabled => true,
                Status::LowPriority => false,
                Status::Blocked { .. } | Status::Ended => continue,
            };
            best = best.max(Some((willing, self.priorities[thread.index()], thread)));
        }
        best.map(|(_, _, thread)| thread)
    }

    /// Changes priorities after a run of `thread`.
    fn change(&mut self, thread: ThreadId, step: u64) {
        match self.policy {
            Policy::Pct { .. } => {
                if let Some(number) = self.changes.iter().position(|&change| change == step) {
                    self.priorities[thread.index()] = number as u64;
                }
            }
            Policy::Pos => {
                self.priorities[thread.index()] = self.random.next() | FALLEN;
                for other in (0..self.priorities.len() as u32).map(ThreadId) {
                    self.drive.machine.pending(other, &mut self.pending);
                    if other != thread && self.pending.depends_on(&self.drive.step.footprint) {
                        self.priorities[other.index()] = self.random.next() | FALLEN;
                    }
                }
            }
        }
    }
}
