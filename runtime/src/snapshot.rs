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
            let stack =
                if thread.has_ended() { 0 } else { thread.region.end() - thread.stack_pointer };
            // SAFETY: the thread's heap was made when it was; its used part and the live part of the stack are mapped.
            unsafe {
                let used = heap::used(thread.region);
                ends.push((thread.region, used[1].end));
                used.into_iter().for_each(|range| chunks.take(range, &mut all));
                chunks.take(thread.region.end() - stack..thread.region.end(), &mut all);
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
        let state = state();
        state.execution.clone_from(&self.execution);
        crate::root::scrub(&state.execution);
        state.step.failures.clear();
        crate::channels::restored(state);
        if self.watched {
            crate::plain::wake_up();
        } else {
            crate::plain::rest();
        }
    }
}
