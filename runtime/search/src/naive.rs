//! Every interleaving, without any reduction: what the other strategies are compared with.
//!
//! For machines that can tell their state ([`Fingerprint`]), [`explore_states`] visits each state once.

use crate::drive::{After, Drive, Run};
use crate::explore::{Bound, Covered, Limits, Observer, Outcome, Stop};
use crate::fingerprint::Fingerprints;
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
    let outcome = search(machine, limits, observer, |_| true);
    match (outcome.stop, u32::try_from(limits.operations)) {
        (Stop::Operations, Ok(most)) => {
            Outcome { covered: Covered::Within(Bound::Operations(most)), ..outcome }
        }
        _ => outcome,
    }
}

/// Explores every state once, by any interleaving that leads to it. Memory grows with the number of states.
pub fn explore_states<M: Fingerprint>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    let mut visited = Fingerprints::default();
    search(machine, limits, observer, |machine| visited.insert(machine.fingerprint()))
}

/// Explores every interleaving with at most so many preemptions, switches or operations: first those with none, then those with
/// at most one, and so on up to the bound, so that failures show with as few as they take (Musuvathi, Qadeer: Iterative context
/// bounding for systematic testing of multithreaded programs, PLDI 2007; for operations, iterative deepening: Korf, AI 1985).
/// [`Stop::Complete`] if the bound cut nothing. What was covered is told also if the search ends before: the last bound that was
/// explored in full.
pub fn explore_bounded<M: Machine>(
    machine: &mut M,
    bound: Bound,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
) -> Outcome {
    // Without any operation there is nothing to run.
    let (first, most) = match bound {
        Bound::Preemptions(most) | Bound::Switches(most) => (0, most),
        Bound::Operations(most) => (1, most),
    };
    let mut drive = Drive::new(machine, limits, observer);
    let mut covered = Covered::Some;
    for most in first..=most {
        let mut budget = Budget { bound: Some(bound), most, cut: false };
        let result = all(&mut drive, &mut budget, &mut |_| true);
        if result.is_err() || (!budget.cut && drive.was_cut()) {
            return Outcome { covered, ..drive.outcome(result) };
        }
        if !budget.cut {
            return drive.outcome(result);
        }
        if !drive.was_cut() {
            covered = Covered::Within(with_most(bound, most));
        }
    }
    drive.cut();
    Outcome { covered, ..drive.outcome(Ok(())) }
}

const fn with_most(bound: Bound, most: u32) -> Bound {
    match bound {
        Bound::Preemptions(_) => Bound::Preemptions(most),
        Bound::Switches(_) => Bound::Switches(most),
        Bound::Operations(_) => Bound::Operations(most),
    }
}

/// How many preemptions, switches or operations are allowed.
struct Budget {
    bound: Option<Bound>,
    most: u32,
    /// Something was left out.
    cut: bool,
}

/// A node of the search and the branch under way.
#[derive(Default)]
struct Level {
    /// Threads that can run and were not explored yet, reluctant ones first (they are taken from the end).
    left: Vec<ThreadId>,
    thread: Option<ThreadId>,
    picks: Picks,
    signature: u64,
    /// The thread that ran before, and whether it can go on.
    last: Option<(ThreadId, bool)>,
    /// What of the budget was spent on the way here.
    spent: u32,
}

fn search<M: Machine>(
    machine: &mut M,
    limits: Limits,
    observer: &mut dyn Observer<M::Failure>,
    mut is_new: impl FnMut(&mut M) -> bool,
) -> Outcome {
    let mut drive = Drive::new(machine, limits, observer);
    let mut budget = Budget { bound: None, most: 0, cut: false };
    let result = all(&mut drive, &mut budget, &mut is_new);
    drive.outcome(result)
}

fn all<M: Machine>(
    drive: &mut Drive<'_, M>,
    budget: &mut Budget,
    is_new: &mut dyn FnMut(&mut M) -> bool,
) -> Result<(), Stop> {
    let mut levels: Vec<Level> = Vec::new();
    loop {
        drive.restart()?;
        run_prefix(drive, &mut levels)?;
        descend(drive, &mut levels, budget, is_new)?;
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
    budget: &mut Budget,
    is_new: &mut dyn FnMut(&mut M) -> bool,
) -> Result<(), Stop> {
    if levels.is_empty() && !open(drive, levels, budget) {
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
                let depth = levels.len();
                if !open(drive, levels, budget) {
                    return drive.finish();
                }
                if levels.len() == depth {
                    drive.block();
                    return Ok(());
                }
            }
        }
    }
}

/// Adds a level for the present state. Returns whether any thread can run.
fn open<M: Machine>(
    drive: &mut Drive<'_, M>,
    levels: &mut Vec<Level>,
    budget: &mut Budget,
) -> bool {
    let mut left = Vec::new();
    let threads = || (0..drive.machine.threads()).map(ThreadId).rev();
    let statuses: Vec<_> = threads().map(|thread| (thread, drive.machine.status(thread))).collect();
    left.extend(statuses.iter().filter(|(_, s)| *s == Status::Reluctant).map(|(t, _)| *t));
    left.extend(statuses.iter().filter(|(_, s)| *s == Status::Enabled).map(|(t, _)| *t));
    let mut level = Level::default();
    if let Some(parent) = levels.last()
        && let Some(thread) = parent.thread
    {
        let goes_on = statuses.contains(&(thread, Status::Enabled));
        level.last = Some((thread, goes_on));
        level.spent = parent.spent + cost(budget.bound, parent.last, thread);
    }
    let before = left.len();
    left.retain(|&thread| level.spent + cost(budget.bound, level.last, thread) <= budget.most);
    budget.cut |= left.len() < before;
    level.thread = left.pop();
    level.left = left;
    // Nobody is left if a switch that has to be made exceeds the bound.
    let runs = level.thread.is_some();
    if runs {
        levels.push(level);
    }
    runs || before > 0
}

/// What it takes of the budget to run `thread` after `last`, which can go on or not.
fn cost(bound: Option<Bound>, last: Option<(ThreadId, bool)>, thread: ThreadId) -> u32 {
    if let Some(Bound::Operations(_)) = bound {
        return 1;
    }
    let Some((last, goes_on)) = last else { return 0 };
    let counts = match bound {
        None | Some(Bound::Operations(_)) => false,
        Some(Bound::Preemptions(_)) => goes_on,
        Some(Bound::Switches(_)) => true,
    };
    u32::from(counts && last != thread)
}
