//! Local changes of a schedule: cheap, and most of what there is to gain where the search has found
//! it by a detour.

use std::collections::BTreeMap;

use super::measure::Walk;
use super::{Failing, Tally, failed};
use crate::core::choice::Choice;
use crate::core::machine::{Machine, ThreadId};
use crate::drive::observer::Stop;
use crate::drive::{After, Drive, Run};

/// So many steps of a thread in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    thread: ThreadId,
    steps: usize,
}

/// A schedule that is followed as far as it can be: a block ends early where its thread cannot go
/// on, and after the last one the default policy goes on, which preempts nobody.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Plan {
    blocks: Vec<Block>,
    /// What each thread chooses, in its order.
    values: BTreeMap<ThreadId, Vec<u32>>,
}

impl Plan {
    /// As a schedule has it.
    pub(super) fn of(schedule: &[Choice]) -> Self {
        let mut plan = Self::default();
        for &choice in schedule {
            match choice {
                Choice::Thread(thread) => plan.push(Block { thread, steps: 1 }),
                Choice::Value { picked, .. } => {
                    if let Some(block) = plan.blocks.last() {
                        plan.values.entry(block.thread).or_default().push(picked);
                    }
                }
            }
        }
        plan
    }

    fn push(&mut self, block: Block) {
        match self.blocks.last_mut() {
            Some(last) if last.thread == block.thread => last.steps += block.steps,
            _ => self.blocks.push(block),
        }
    }

    /// The same values with other blocks.
    fn with(&self, blocks: impl IntoIterator<Item = Block>) -> Self {
        let mut plan = Self { blocks: Vec::new(), values: self.values.clone() };
        blocks.into_iter().for_each(|block| plan.push(block));
        plan
    }

    /// The first blocks only.
    fn cut(&self, length: usize) -> Self {
        self.with(self.blocks[..length].iter().copied())
    }

    /// Without a thread.
    fn without(&self, thread: ThreadId) -> Self {
        self.with(self.blocks.iter().copied().filter(|block| block.thread != thread))
    }

    /// The block at `from` comes to stand where `to` stands.
    fn moved(&self, from: usize, to: usize) -> Self {
        let mut blocks = self.blocks.clone();
        let block = blocks.remove(from);
        blocks.insert(to, block);
        self.with(blocks)
    }

    /// What to try, in this order.
    fn changes(&self) -> Vec<Self> {
        let mut changes: Vec<Self> = (0..self.blocks.len()).map(|k| self.cut(k)).collect();
        let mut threads: Vec<ThreadId> = self.blocks.iter().map(|block| block.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        changes.extend(threads.into_iter().map(|thread| self.without(thread)));
        for (at, block) in self.blocks.iter().enumerate() {
            let next = (at + 1..self.blocks.len()).find(|&o| self.blocks[o].thread == block.thread);
            if let Some(next) = next {
                changes.push(self.moved(next, at + 1));
                changes.push(self.moved(at, next - 1));
            }
        }
        changes
    }
}

/// Runs a plan. Gives what it did if that fails in the way that is looked for.
pub(super) fn follow<M: Machine>(
    drive: &mut Drive<'_, M>,
    plan: &Plan,
    tally: &Tally,
) -> Result<Option<Failing>, Stop> {
    tally.restart();
    drive.restart()?;
    let mut walk = Walk::default();
    match failed(run(drive, plan, &mut walk))? {
        Some(()) => Ok(None),
        None => Ok(Some(Failing { schedule: drive.schedule.clone(), measure: walk.measure })),
    }
}

fn run<M: Machine>(drive: &mut Drive<'_, M>, plan: &Plan, walk: &mut Walk) -> Result<(), Stop> {
    let mut values: BTreeMap<ThreadId, std::slice::Iter<'_, u32>> =
        plan.values.iter().map(|(&thread, values)| (thread, values.iter())).collect();
    let mut blocks = plan.blocks.iter();
    let mut block = Block { thread: ThreadId(0), steps: 0 };
    loop {
        let thread = loop {
            let can_run = block.thread.0 < drive.machine.threads()
                && drive.machine.status(block.thread).can_run();
            if block.steps > 0 && can_run {
                block.steps -= 1;
                break Some(block.thread);
            }
            match blocks.next() {
                Some(next) => block = *next,
                None => break drive.default_thread(walk.last),
            }
        };
        let Some(thread) = thread else { return drive.finish() };
        let mut values = values.get_mut(&thread);
        let mut pick = |of: u32| {
            let value = values.as_mut().and_then(|values| values.next()).copied();
            value.filter(|&value| value < of).unwrap_or(0)
        };
        match walk.run(drive, thread, Run::Fresh, &mut pick)? {
            After::On => {}
            After::Over => return drive.finish(),
            After::Cut => {
                drive.give_up();
                return Ok(());
            }
        }
    }
}

/// Makes the failing execution less by local changes, as long as there are any and not so much was
/// spent.
pub(super) fn shorten<M: Machine>(
    drive: &mut Drive<'_, M>,
    best: &mut Failing,
    tally: &Tally,
    most: u64,
) -> Result<(), Stop> {
    'less: loop {
        for change in Plan::of(&best.schedule).changes() {
            if tally.spent.get() >= most {
                return Ok(());
            }
            if let Some(found) = follow(drive, &change, tally)?
                && found.measure < best.measure
            {
                *best = found;
                continue 'less;
            }
        }
        return Ok(());
    }
}
