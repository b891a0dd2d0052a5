//! The root: the state at the program's first thread creation (or first block), saved once and restored before every execution.
//!
//! Saved are main's region as far as its heap goes, the live part of main's stack, the program's writable globals, and the
//! runtime's [`Execution`]. Other threads' regions are made anew when they are spawned. A restore copies in O(bytes saved).

use crate::arena::Region;
use crate::execution::Execution;
use crate::heap;
use crate::state::{Mode, state};
use std::ops::Range;

/// A piece of memory and what it held.
struct Piece {
    address: usize,
    bytes: Vec<u8>,
}

impl Piece {
    fn save(range: Range<usize>) -> Self {
        // SAFETY: the ranges are live memory of the program, which is stopped.
        let bytes = unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) };
        Self { address: range.start, bytes: bytes.to_vec() }
    }

    fn restore(&self) {
        // SAFETY: the range was live when it was saved, and stays mapped: heaps, stacks and globals are never unmapped.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.bytes.as_ptr(),
                self.address as *mut u8,
                self.bytes.len(),
            );
        }
    }
}

/// What a restore puts back.
pub struct Root {
    pieces: Vec<Piece>,
    /// Where main's heap ended.
    heap_end: usize,
    execution: Execution,
}

#[cfg(not(test))]
unsafe extern "C" {
    static __start_lockred_data: u8;
    static __stop_lockred_data: u8;
    static __start_lockred_text: u8;
    static __stop_lockred_text: u8;
}

/// The program's writable globals.
#[cfg(not(test))]
pub fn globals() -> Range<usize> {
    (&raw const __start_lockred_data) as usize..(&raw const __stop_lockred_data) as usize
}

/// Unit tests have no program.
#[cfg(test)]
pub fn globals() -> Range<usize> {
    16..16
}

/// The program's code.
#[cfg(not(test))]
pub fn text() -> Range<usize> {
    (&raw const __start_lockred_text) as usize..(&raw const __stop_lockred_text) as usize
}

/// The programs of unit tests are where the runtime is.
#[cfg(test)]
pub const fn text() -> Range<usize> {
    0..usize::MAX
}

/// Main is stopped at the root: saves it, and begins to check.
pub fn reached() {
    let state = state();
    state.below_root = true;
    crate::models::at_root();
    if state.mode == Mode::Free {
        return;
    }
    let main = &state.execution.threads[0];
    let memory = main.memory(main.stack_pointer);
    let heap_end = memory[1].end;
    let pieces = memory.into_iter().chain([globals()]).map(Piece::save).collect();
    state.root = Some(Root { pieces, heap_end, execution: state.execution.clone() });
    crate::plain::begin();
}

/// Makes a copy of an execution, whose memory was put back, the one under way.
pub fn put_back(execution: &Execution) {
    let state = state();
    state.execution.clone_from(execution);
    for thread in state.execution.threads.iter().filter(|thread| !thread.has_ended()) {
        // SAFETY: the thread is suspended there.
        unsafe { crate::scrub::below(thread.stack_pointer) };
    }
    state.step.failures.clear();
    crate::channels::restored(state);
}

/// Goes back to the root.
pub fn restore() {
    let state = state();
    let Some(root) = &state.root else { return };
    // SAFETY: main's heap was made at start, and what was allocated since the root is nobody's any more.
    unsafe { heap::forget_behind(Region::MAIN, root.heap_end) };
    for piece in &root.pieces {
        piece.restore();
    }
    put_back(&root.execution);
    if let Some(lives) = &mut crate::state::state().lives {
        lives.begin();
    }
    crate::models::restore_root();
    crate::plain::begin();
    crate::record::begin();
}
