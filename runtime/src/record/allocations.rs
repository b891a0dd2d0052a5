//! Where blocks were allocated and freed, and by whom: for reports, and for grouping leaks by where
//! they come from.

use crate::record::held::Held;
use std::collections::HashMap;

/// Blocks from before the root of which the allocation is remembered: a stack is walked for each.
const MOST_BEFORE_ROOT: usize = 20_000;

/// What happened to a block.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who did it.
    pub thread: u32,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// Steps recorded before it.
    pub step: usize,
    /// Locks that the thread held.
    pub held: Vec<Held>,
}

/// One block from its allocation on.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Its allocation, unless that is too long ago.
    pub allocated: Option<Event>,
    /// Its deallocation, once it is freed.
    pub freed: Option<Event>,
}

/// The blocks of one execution, by address. Kept while recording, and where leaks are looked for.
#[derive(Debug, Default)]
pub struct Allocations {
    before_root: HashMap<usize, Life>,
    since_root: HashMap<usize, Life>,
}

impl Allocations {
    /// What is known of a block.
    pub fn of(&self, block: usize) -> Option<&Life> {
        self.since_root.get(&block).or_else(|| self.before_root.get(&block))
    }

    /// The allocation of a block, if that was after the root.
    pub fn allocated_since_root(&self, block: usize) -> Option<&Event> {
        self.since_root.get(&block)?.allocated.as_ref()
    }

    /// Whether the allocation of another block is remembered.
    pub fn has_room(&self, below_root: bool) -> bool {
        below_root || self.before_root.len() < MOST_BEFORE_ROOT
    }

    /// A block was allocated.
    pub fn allocated(&mut self, block: usize, event: Event, below_root: bool) {
        let life = Life { allocated: Some(event), freed: None };
        let all = if below_root { &mut self.since_root } else { &mut self.before_root };
        all.insert(block, life);
    }

    /// A block is freed.
    pub fn freed(&mut self, block: usize, event: Event, below_root: bool) {
        if below_root {
            let mut life = self.of(block).cloned().unwrap_or_default();
            // One that was allocated before the root is not known as the program's own until then,
            // but is from here on.
            life.freed = Some(event);
            self.since_root.insert(block, life);
        } else {
            self.before_root.remove(&block);
        }
    }

    /// An execution begins at the root.
    pub fn begin(&mut self) {
        self.since_root.clear();
    }
}
