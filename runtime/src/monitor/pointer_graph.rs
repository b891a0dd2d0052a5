//! Which block of the program's heap points to which: whatever looks like the address of a block,
//! or of something inside of one, does.

use crate::machine::execution::Execution;
use crate::machine::thread::Thread;
use crate::memory::heap::{self, Block};
use std::ops::Range;

/// All live blocks, by address.
pub struct Heap(pub Vec<Block>);

impl Heap {
    /// The blocks of all threads, O(blocks · log blocks).
    pub fn of(execution: &Execution) -> Self {
        let mut blocks = Vec::new();
        for thread in &execution.threads {
            // SAFETY: the heap of a thread's region is made with the thread.
            unsafe { heap::for_each_live(thread.region, |block| blocks.push(block)) };
        }
        blocks.sort_unstable_by_key(|block| block.start);
        Self(blocks)
    }

    /// The block that a word points into, by its number.
    pub fn pointed_to(&self, word: usize) -> Option<usize> {
        let behind = self.0.partition_point(|block| block.start <= word);
        let number = behind.checked_sub(1)?;
        let block = self.0[number];
        (word < block.start + block.size.max(1)).then_some(number)
    }

    /// Calls `visit` with the blocks that words of this memory point to.
    pub fn points_to(&self, memory: Range<usize>, mut visit: impl FnMut(usize)) {
        let mut at = memory.start.next_multiple_of(size_of::<usize>());
        while at + size_of::<usize>() <= memory.end {
            // SAFETY: the caller names memory of the program, which is stopped.
            let word = unsafe { (at as *const usize).read() };
            if let Some(block) = self.pointed_to(word) {
                visit(block);
            }
            at += size_of::<usize>();
        }
    }

    /// Where a block is.
    pub fn contents(&self, number: usize) -> Range<usize> {
        let block = self.0[number];
        block.start..block.start + block.size
    }

    /// Everything that can be reached from some blocks, and is not in `found` yet, comes into it.
    /// Gives how many that are.
    pub fn flood(&self, mut open: Vec<usize>, found: &mut [bool]) -> usize {
        let mut count = 0;
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut found[number], true) {
                count += 1;
                self.points_to(self.contents(number), |other| open.push(other));
            }
        }
        count
    }

    /// Whether a thread that has not ended reaches the block at an address: from its stack, its
    /// thread-locals, or what it was started with.
    pub fn reaches(&self, thread: &Thread, block: usize) -> bool {
        let mut roots = Vec::new();
        self.points_to(thread.stack_pointer..thread.region.end(), |number| roots.push(number));
        let words = [
            thread.handle.tls as usize,
            thread.handle.start.map_or(0, |start| start.argument as usize),
        ];
        roots.extend(words.into_iter().filter_map(|word| self.pointed_to(word)));
        self.leads_to(roots, block)
    }

    /// Whether the program's globals reach the block at an address.
    pub fn is_global(&self, block: usize) -> bool {
        let mut roots = Vec::new();
        self.points_to(crate::memory::program::globals(), |number| roots.push(number));
        self.leads_to(roots, block)
    }

    fn leads_to(&self, roots: Vec<usize>, block: usize) -> bool {
        let mut found = vec![false; self.0.len()];
        self.flood(roots, &mut found);
        self.pointed_to(block).is_some_and(|number| found[number])
    }
}
