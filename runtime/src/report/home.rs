//! What the memory of a recorded object lies in: a block of the heap with where it was allocated,
//! or a frame of a stack. Which field of which type that is, is found out from the debug
//! information by who makes the report.

use crate::coroutine::unwind::{self, Frame};
use crate::machine::state::State;
use crate::memory::heap;
use crate::memory::validity;
use lockred_protocol::message::Home;
use std::collections::HashMap;

/// Of an address; `stopped`: by thread, the frames of those that are. `None` where it lies in
/// neither, or nothing is known of its block.
pub fn of(state: &State, address: usize, stopped: &HashMap<u32, Vec<Frame>>) -> Option<Home> {
    if !crate::memory::arena::range().contains(&address) {
        return None;
    }
    if validity::is_heap(address) {
        of_block(state, address)
    } else {
        of_frame(state, address, stopped)
    }
}

fn of_block(state: &State, address: usize) -> Option<Home> {
    let block = heap::near(address)?;
    if !(block.start..block.start + block.size).contains(&address) {
        return None;
    }
    let life = state.monitors.allocations.as_ref()?.of(block.start)?;
    let allocated = life.allocated.as_ref()?.stack.clone();
    Some(Home::Block { start: block.start as u64, size: block.size as u64, allocated })
}

fn of_frame(state: &State, address: usize, stopped: &HashMap<u32, Vec<Frame>>) -> Option<Home> {
    let is_here = |region: crate::memory::arena::Region| region.is_stack(address);
    let number = state.execution.threads.iter().position(|thread| is_here(thread.region))?;
    let thread = &state.execution.threads[number];
    let frame = if state.running == Some(number as u32) {
        containing(&unwind::frames(), address)
    } else if thread.has_ended() {
        None
    } else {
        containing(stopped.get(&(number as u32))?, address)
    }?;
    Some(Home::Frame {
        instruction: frame.instruction as u64,
        stack_pointer: frame.stack_pointer as u64,
        frame_pointer: frame.frame_pointer as u64,
    })
}

/// The frame that an address lies in. Each ends where the one that called it begins.
fn containing(frames: &[Frame], address: usize) -> Option<Frame> {
    let behind = frames.iter().position(|frame| frame.stack_pointer > address);
    let behind = behind.unwrap_or(frames.len());
    // What lies in the outermost may lie behind it.
    if behind == frames.len() {
        return None;
    }
    behind.checked_sub(1).map(|index| frames[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_ends_where_its_caller_s_begins() {
        let frame = |stack_pointer| Frame { instruction: 1, stack_pointer, frame_pointer: 0 };
        let frames = [frame(100), frame(120), frame(160)];
        let found = |address| containing(&frames, address).map(|frame| frame.stack_pointer);
        assert_eq!([found(99), found(100), found(119)], [None, Some(100), Some(100)]);
        assert_eq!([found(120), found(159), found(160)], [Some(120), Some(120), None]);
    }
}
