//! Every interleaving, without any reduction: what the other strategies are compared with.
//!
//! For machines that can tell their state ([`Fingerprint`]), [`explore_states`] visits each state once.

use std::collections::HashSet;

use crate::drive::{After, Drive, Run};
use crate::explore::{Limits, Observer, Outcome, Stop};
use crate::machine::{Machine, Status, ThreadId};
use crate::picks::Picks;

/// A machine that can tell its state.
pub trait Fingerprint: Machine {
    /// Equal for equal states only (up to hash collisions): from equal fingerprints on, everything is equal.
    fn fingerprint(&self) -> u128;
}

/// Explores every interleaving.
pub fn explore<M: Machine>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    search(machine, limits, observer, |_| true)
}

/// Explores every state once, by any interleaving that leads to it. Memory grows with the number of states.
pub fn explore_states<M: Fingerprint>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut visited = HashSet::new();
    search(machine, limits, observer, |machine| visited.insert(machine.fingerprint()))
}

/// A node of the search and the branch under way.
#[derive(Default)]
struct Level {
    /// Threads that can run and were not explored yet, reluctant ones first (they are taken from the end).
    left: Vec<ThreadId>,
    thread: Option<ThreadId>,
    picks: Picks,
    signature: u64,
}

fn search<M: Machine>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
    mut is_new: impl FnMut(&mut M) -> bool,
) -> Outcome {
    let mut drive = Drive::new(machine, limits, observer);
    let result = all(&mut drive, &mut is_new);
    drive.outcome(result)
}

fn all<M: Machine>(
    drive: &mut Drive<'_, M>,
    is_new: &mut dyn FnMut(&mut M) -> bool,
) -> Result<(), Stop> {
    let mut levels: Vec<Level> = Vec::new();
    loop {
        drive.restart()?;
        run_prefix(drive, &mut levels)?;
        descend(drive, &mut levels, is_new)?;
        loop {
            let Some(level) = levels.last_mut() else { return Ok(()) };
            if level.picks.advance() {
                break;
            }
            if let Some(thread) = level.left.pop() {
                level.thread = Some(thread);
                level.picks.clear();
                break;
            }
            levels.pop();
        }
    }
}

/// Runs the branches of all levels but the last again.
fn run_prefix<M: Machine>(drive: &mut Drive<'_, M>, levels: &mut [Level]) -> Result<(), Stop> {
    let Some((_, above)) = levels.split_last_mut() else { return Ok(()) };
    for (step, level) in above.iter_mut().enumerate() {
        let differs = Stop::Nondeterminism { step };
        let Some(thread) = level.thread else { return Err(differs) };
        if thread.0 >= drive.machine.threads() || !drive.machine.status(thread).can_run() {
            return Err(differs);
        }
        level.picks.rewind();
        let after = drive.run(thread, Run::Again, &mut |of| level.picks.pick(of))?;
        if after != After::On || !level.picks.agreed() || drive.step.signature != level.signature {
            return Err(differs);
        }
    }
    Ok(())
}

/// Runs the branch of the last level, and goes on to the end of an execution.
fn descend<M: Machine>(
    drive: &mut Drive<'_, M>,
    levels: &mut Vec<Level>,
    is_new: &mut dyn FnMut(&mut M) -> bool,
) -> Result<(), Stop> {
    if levels.is_empty() && !open(drive, levels) {
        return drive.finish();
    }
    loop {
        let step = levels.len() - 1;
        let level = &mut levels[step];
        let Some(thread) = level.thread else { return Ok(()) };
        level.picks.rewind();
        let after = drive.run(thread, Run::Fresh, &mut |of| level.picks.pick(of))?;
        if !level.picks.agreed() {
            return Err(Stop::Nondeterminism { step });
        }
        level.signature = drive.step.signature;
        match after {
            After::Over => return drive.finish(),
            After::Cut => {
                drive.give_up();
                return Ok(());
            }
            After::On if !is_new(drive.machine) => {
                drive.block();
                return Ok(());
            }
            After::On => {
                if !open(drive, levels) {
                    return drive.finish();
                }
            }
        }
    }
}

/// Adds a level for the present state. Returns whether any thread can run.
fn open<M: Machine>(drive: &mut Drive<'_, M>, levels: &mut Vec<Level>) -> bool {
    let mut left = Vec::new();
    let threads = || (0..drive.machine.threads()).map(ThreadId).rev();
    let statuses: Vec<_> = threads().map(|thread| (thread, drive.machine.status(thread))).collect();
    left.extend(statuses.iter().filter(|(_, s)| *s == Status::Reluctant).map(|(t, _)| *t));
    left.extend(statuses.iter().filter(|(_, s)| *s == Status::Enabled).map(|(t, _)| *t));
    let Some(thread) = left.pop() else { return false };
    levels.push(Level { left, thread: Some(thread), ..Level::default() });
    true
}
