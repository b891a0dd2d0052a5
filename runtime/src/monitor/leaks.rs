//! Leaks: blocks of the test that nothing points to when it has ended.
//!
//! As LeakSanitizer has it: whatever looks like the address of a block, or of something inside of
//! one, points to it. Looked through are the program's globals, the blocks from before the root,
//! the stacks of threads that have not ended, what is kept for threads and for the process's end,
//! and from there on all blocks that are found. Of what is not found, blocks are reported to which
//! no other such block points; of those that point to each other in a cycle, the first.

use crate::machine::config::Mode;
use crate::machine::execution::{AtExit, Execution};
use crate::machine::libtest::Harness;
use crate::machine::state::State;
use crate::memory::heap::Block;
use crate::monitor::pointer_graph::Heap;
use crate::record::allocations::Allocations;
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::{Home, Warning};
use lockred_protocol::sites::SiteId;

/// The execution is over: warns of leaks, each place of an allocation once, if that is wanted.
/// O(bytes in use, times the logarithm of the number of blocks).
pub fn judge(state: &mut State) {
    let request = state.config.request.as_ref();
    let wanted = request.is_some_and(|request| {
        request.environment.leaks && {
            // What libtest leaves behind is not the test's.
            !request.libtest || state.knowledge.harness == Harness::LeftOut
        }
    });
    let execution = &state.execution;
    let succeeded = execution.exit.is_some_and(|exit| exit.status == 0) && !execution.cut;
    let Some(allocations) = state.monitors.allocations.as_ref().filter(|_| wanted && succeeded)
    else {
        return;
    };
    if state.config.mode != Mode::Explore || !state.step.failures.is_empty() {
        return;
    }
    let heap = Heap::of(execution);
    let mut places: Vec<Place<'_>> = Vec::new();
    for leak in heap.leaks(execution, allocations) {
        let allocated = allocations.allocated_since_root(leak.block.start);
        let Some(stack) = allocated.map(|event| &event.stack[..]) else { continue };
        match places.iter_mut().find(|place| place.stack == stack) {
            Some(place) => place.add(&leak),
            None => {
                let mut place =
                    Place { stack, blocks: 0, bytes: 0, others: 0, size: leak.block.size };
                place.add(&leak);
                places.push(place);
            }
        }
    }
    for place in places {
        let reported =
            |known: &Warning| known.kind == WarningKind::Leak && known.stack == place.stack;
        if !state.verdicts.warnings.iter().any(reported) {
            state.verdicts.warnings.push(place.warning());
        }
    }
}

/// A block that is lost.
struct Leak {
    block: Block,
    /// Blocks that are lost with it.
    others: usize,
}

/// What was lost of what one place allocated.
struct Place<'a> {
    stack: &'a [u64],
    blocks: usize,
    bytes: usize,
    others: usize,
    /// Of the first one.
    size: usize,
}

impl Place<'_> {
    fn add(&mut self, leak: &Leak) {
        self.blocks += 1;
        self.bytes += leak.block.size;
        self.others += leak.others;
    }

    fn warning(&self) -> Warning {
        let Self { blocks, bytes, others, .. } = *self;
        let mut message = match blocks {
            1 => format!(
                "leak: a block of {bytes} bytes is still allocated at the end, and nothing points to it"
            ),
            _ => format!(
                "leak: {blocks} blocks, {bytes} bytes together, are still allocated at the end, and nothing points to them"
            ),
        };
        match others {
            0 => {}
            1 => message.push_str(" (1 more block is lost with it)"),
            _ => message.push_str(&format!(" ({others} more blocks are lost with it)")),
        }
        let stack = self.stack.to_vec();
        let home = Home::Block { start: 0, size: self.size as u64, allocated: stack.clone() };
        Warning {
            kind: WarningKind::Leak,
            message,
            site: SiteId(0),
            stack,
            places: Vec::new(),
            home: Some(home),
            schedule: None,
        }
    }
}

impl Heap {
    /// What is lost.
    fn leaks(&self, execution: &Execution, allocations: &Allocations) -> Vec<Leak> {
        let mut found = vec![false; self.0.len()];
        self.flood(self.roots(execution, allocations), &mut found);
        let lost: Vec<usize> = (0..self.0.len()).filter(|&number| !found[number]).collect();
        let mut pointed_to = vec![false; self.0.len()];
        for &number in &lost {
            self.points_to(self.contents(number), |other| {
                pointed_to[other] |= other != number;
            });
        }
        let (inner, first): (Vec<usize>, Vec<usize>) =
            lost.iter().partition(|&&number| pointed_to[number]);
        let mut leaks = Vec::new();
        for number in first.into_iter().chain(inner) {
            let with = self.flood(vec![number], &mut found);
            if with > 0 {
                leaks.push(Leak { block: self.0[number], others: with - 1 });
            }
        }
        leaks
    }

    /// Blocks that are not lost to begin with.
    fn roots(&self, execution: &Execution, allocations: &Allocations) -> Vec<usize> {
        let mut roots = Vec::new();
        let ended = |block: &Block| {
            let mut threads = execution.threads.iter().skip(1).filter(|thread| thread.has_ended());
            threads.any(|thread| {
                [thread.handle.tls as usize, thread.handle.errno as usize].contains(&block.start)
            })
        };
        for (number, block) in self.0.iter().enumerate() {
            if allocations.allocated_since_root(block.start).is_none() && !ended(block) {
                roots.push(number);
            }
        }
        let mut memory = vec![crate::memory::program::globals()];
        let mut words = Vec::new();
        for (number, thread) in execution.threads.iter().enumerate() {
            // What called the test is still on main's stack.
            if number == 0 || !thread.has_ended() {
                memory.push(thread.stack_pointer..thread.region.end());
                words.extend(thread.handle.keys.iter().map(|&key| key as usize));
                words.extend(thread.handle.destructors.iter().map(|of| of.argument as usize));
                words.extend(thread.handle.start.map(|start| start.argument as usize));
            }
            words.push(thread.handle.result as usize);
        }
        words.extend(execution.at_exit.iter().filter_map(|function| match function {
            AtExit::Plain(_) => None,
            AtExit::With(_, argument) => Some(*argument as usize),
        }));
        for range in memory {
            self.points_to(range, |number| roots.push(number));
        }
        roots.extend(words.into_iter().filter_map(|word| self.pointed_to(word)));
        roots
    }
}
