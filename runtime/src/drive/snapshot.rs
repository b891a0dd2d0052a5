//! A copy of the program's state below the root: memory, and what the machine keeps for it.
//!
//! Where taking one and putting it back is cheaper than running the steps again is decided in
//! [`crate::drive::transactional`].

use crate::machine::execution::Execution;
use crate::machine::root::Part;
use crate::machine::state::State;
use crate::memory::arena::Region;
use crate::memory::chunks::{Chunk, Chunks};
use crate::memory::heap;
use std::ops::Range;
use std::rc::Rc;

/// See the module.
#[derive(Debug)]
pub struct Snapshot {
    /// What differs from the root, where there is an image of that, and everything elsewhere.
    chunks: Vec<Rc<Chunk>>,
    /// What nobody had touched.
    blanks: Vec<Range<usize>>,
    /// Where the used parts of heaps end.
    ends: Vec<(Region, usize)>,
    execution: Execution,
    watched: bool,
}

impl Snapshot {
    /// Copies the state; `None` if there is more to it than can be copied. The program is stopped
    /// between two steps.
    pub fn take(state: &mut State, chunks: &mut Chunks) -> Option<Self> {
        if state.execution.outside
            || state.monitors.allocations.is_some()
            || state.monitors.detector.is_some()
            || state.monitors.recorder.is_some()
        {
            return None;
        }
        let root = state.root.as_mut()?;
        root.look();
        let (mut all, mut blanks, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = |piece| {
            root.for_each_part(piece, |part| match part {
                // SAFETY: used heaps, live stacks and globals are mapped.
                Part::Unknown(range) | Part::Touched(range) => unsafe {
                    chunks.take(range, &mut all);
                },
                // SAFETY: as above.
                Part::Written(range, held) => unsafe {
                    chunks.take_other_than(range, held, &mut all);
                },
                Part::Blank(range) => blanks.push(range),
            });
        };
        for thread in &state.execution.threads {
            let memory = thread.memory(thread.stack_pointer);
            ends.push((thread.region, memory[1].end));
            memory.into_iter().for_each(&mut take);
        }
        take(crate::memory::program::globals());
        let execution = state.execution.clone();
        let watched = crate::machine::watch::watching();
        Some(Self { chunks: all, blanks, ends, execution, watched })
    }

    /// Puts the state back. The machine is in a state of the same search, between two steps.
    pub fn restore(&self, state: &mut State) {
        let since = std::time::Instant::now();
        for &(region, end) in &self.ends {
            // SAFETY: the heap existed when the copy was made, and what was allocated since is
            // nobody's any more.
            unsafe { heap::forget_after(region, end) };
        }
        if let Some(root) = &mut state.root {
            root.restore_images();
        }
        for blank in &self.blanks {
            crate::machine::root::clear(state, blank.start, blank.len());
        }
        for chunk in &self.chunks {
            // SAFETY: heaps, stacks and globals are never unmapped, and the program is stopped.
            unsafe { chunk.restore() };
        }
        let outside = state.execution.outside;
        crate::drive::restore::put_back(state, &self.execution);
        if outside {
            // Nothing outside was changed when the copy was made.
            crate::world::restore_root();
        }
        if self.watched {
            crate::machine::watch::wake_up(state);
        } else {
            crate::machine::watch::rest();
        }
        crate::machine::root::took(state, since);
    }
}
