//! A copy of the program's state below the root: memory, and what the machine keeps for it.
//!
//! Where taking one and putting it back is cheaper than running the steps again is decided in [`crate::transactional`].

use crate::arena::Region;
use crate::chunks::{Chunk, Chunks};
use crate::execution::Execution;
use crate::heap;
use crate::state::state;
use std::rc::Rc;

/// See the module.
#[derive(Debug)]
pub struct Snapshot {
    chunks: Vec<Rc<Chunk>>,
    /// Where the used parts of heaps end.
    ends: Vec<(Region, usize)>,
    execution: Execution,
    watched: bool,
}

impl Snapshot {
    /// Copies the state; `None` if there is more to it than can be copied. The program is stopped between two steps.
    pub fn take(chunks: &mut Chunks) -> Option<Self> {
        let state = state();
        if state.execution.outside
            || state.lives.is_some()
            || state.detector.is_some()
            || state.recorder.is_some()
        {
            return None;
        }
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for thread in &state.execution.threads {
            let memory = thread.memory(thread.stack_pointer);
            ends.push((thread.region, memory[1].end));
            for range in memory {
                // SAFETY: used heaps and live stacks are mapped.
                unsafe { chunks.take(range, &mut all) };
            }
        }
        // SAFETY: globals are mapped.
        unsafe { chunks.take(crate::root::globals(), &mut all) };
        let execution = state.execution.clone();
        Some(Self { chunks: all, ends, execution, watched: crate::plain::watching() })
    }

    /// Puts the state back. The machine is in a state of the same search, between two steps.
    pub fn restore(&self) {
        for &(region, end) in &self.ends {
            // SAFETY: the heap existed when the copy was made, and what was allocated since is nobody's any more.
            unsafe { heap::forget_behind(region, end) };
        }
        for chunk in &self.chunks {
            // SAFETY: heaps, stacks and globals are never unmapped, and the program is stopped.
            unsafe { chunk.restore() };
        }
        crate::root::put_back(&self.execution);
        if self.watched {
            crate::plain::wake_up();
        } else {
            crate::plain::rest();
        }
    }
}
