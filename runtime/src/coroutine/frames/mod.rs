//! What nothing will read any more in the frames of a stopped thread: cleared in a search over
//! states, which it would tell apart.
//!
//! The program's code is generated without optimisation: every value that outlives a block, or a
//! call, has a slot of its own in the frame, which keeps the value when it is dead. What is cleared
//! are bytes of the frame that no *variable* has (the shim's table says where those are) and that
//! the function's machine code does not read on any way from the call on, the landing pads of
//! exceptions included ([`liveness`]), before it writes them. That is exact for the rest of a
//! frame:
//! - What is no variable has no address: LLVM's register allocator made it, and accesses it
//!   relative to the stack pointer and at constant offsets alone. A function in which an address is
//!   taken that is no variable's ends the walk up the stack.
//! - A callee gets words of the frame as arguments, which count as read; registers that were pushed
//!   at the beginning count as read all the time, since who unwinds the stack reads them, too.
//! - So does a function whose stack pointer is not the same on all ways to a place, and code that
//!   is not the program's.
//!
//! Where that would be wrong, the program would find a zero instead of its value, in every test
//! that is run over states.

mod exceptions;
mod liveness;
mod steps;
#[cfg(test)]
mod tests;

use crate::coroutine::unwind::Caller;
use lockred_protocol::frames;
use lockred_search::fingerprint::ByAddress;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use steps::Layout;

/// Frames that are looked at, from the innermost up: a recursion is not gone through at every stop.
const DEPTH: usize = 64;

/// A place where a function waits for a call to return.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// Bytes of the frame, from the stack pointer to the return address.
    size: usize,
    /// What is dead of it, from the stack pointer on.
    dead: Vec<Range<usize>>,
}

/// What is known of the program's frames: learned of a function when it is first met.
#[derive(Debug, Default)]
pub struct Frames {
    /// What the shim knows, by the function's address; read when it is first needed.
    layouts: Option<HashMap<usize, Layout>>,
    /// By return addresses. `None`: where nothing is known.
    waiting: ByAddress<Option<Rc<Waiting>>>,
}

impl Frames {
    /// Clears what is dead in a frame of the program that has called the runtime, and in those that
    /// wait for it.
    ///
    /// # Safety
    /// The frame is as it is on the running stack.
    pub unsafe fn clear(&mut self, innermost: &Caller) {
        let (mut instruction, mut stack_pointer) = (innermost.instruction, innermost.stack_pointer);
        for _ in 0..DEPTH {
            let Some(waiting) = self.waiting(instruction) else { return };
            for dead in &waiting.dead {
                // SAFETY: a part of the frame that nothing reads before it is written.
                unsafe {
                    std::ptr::write_bytes((stack_pointer + dead.start) as *mut u8, 0, dead.len());
                }
            }
            let above = stack_pointer + waiting.size;
            // SAFETY: the return address lies above the frame.
            instruction = unsafe { *(above as *const usize) };
            stack_pointer = above + size_of::<usize>();
        }
    }

    /// What is known of the place that a call returns to.
    fn waiting(&mut self, address: usize) -> Option<Rc<Waiting>> {
        if let Some(known) = self.waiting.get(&address) {
            return known.clone();
        }
        self.learn(address);
        self.waiting.entry(address).or_default().clone()
    }

    /// Looks at the function that a call is in.
    fn learn(&mut self, address: usize) {
        if !crate::memory::program::text().contains(&address.wrapping_sub(1)) {
            return;
        }
        let Some(function) = exceptions::function_at(address - 1) else { return };
        let layouts = self.layouts.get_or_insert_with(read_table);
        let Some(layout) = layouts.get(&function.code.start) else { return };
        // SAFETY: the program's code, which nobody changes.
        let code = unsafe {
            std::slice::from_raw_parts(function.code.start as *const u8, function.code.len())
        };
        let found = liveness::find(code, function.code.start, layout, &function.landing_pads);
        self.waiting.extend(found.into_iter().map(|(at, waiting)| (at, Some(Rc::new(waiting)))));
    }
}

fn read_table() -> HashMap<usize, Layout> {
    let text = crate::memory::program::text().start;
    let of_frame = |frame: frames::Frame| {
        let variables = frame.variables.iter().map(|variable| {
            let start = -i64::from(variable.below);
            start..start + i64::from(variable.size)
        });
        let layout = Layout { variables: variables.collect(), lowest: -i64::from(frame.lowest) };
        (text + frame.start as usize, layout)
    };
    frames::decode(section()).map(of_frame).collect()
}

#[cfg(not(test))]
unsafe extern "C" {
    static __start_lockred_frames: u8;
    static __stop_lockred_frames: u8;
}

#[cfg(not(test))]
fn section() -> &'static [u8] {
    let start = &raw const __start_lockred_frames;
    // SAFETY: the linker defines both ends of a constant section.
    unsafe {
        std::slice::from_raw_parts(
            start,
            (&raw const __stop_lockred_frames).offset_from_unsigned(start),
        )
    }
}

/// Unit tests have no program.
#[cfg(test)]
const fn section() -> &'static [u8] {
    &[]
}
