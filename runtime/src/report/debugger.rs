//! For `replay --gdb`: where a debugger stops, and what it reads of threads, which it knows nothing
//! of.
//!
//! `cargo-lockred/src/replay/gdb.gdb` has the other side. It reads memory only, as not every
//! sandbox lets a debugger write registers; but for its `lockred-switch`, which takes those of a
//! suspended thread from where [`crate::coroutine::context`] lays them.

use crate::machine::state::State;
use std::ffi::{CString, c_char};

/// What a debugger gets of a thread: eight bytes each, read as an array of words.
#[repr(C)]
#[derive(Debug)]
pub struct Reported {
    /// Its saved stack pointer.
    stack_pointer: u64,
    /// 0: suspended; 1: running; 2: it has ended.
    state: u64,
    /// Its name, or nothing, ended by 0.
    name: *const c_char,
    /// Return addresses, innermost first, where it is suspended; 0 after the last.
    frames: *const u64,
}

/// The threads at the last [`bug`]; a null pointer and 0 before it.
#[unsafe(no_mangle)]
pub static mut __lr_gdb_threads: *const Reported = std::ptr::null();

/// How many there are.
#[unsafe(no_mangle)]
pub static mut __lr_gdb_count: u64 = 0;

/// Something is wrong with the execution that is replayed: a debugger that has a breakpoint in
/// [`__lr_bug`] stops there, on the stack of the thread that did it, or, where all threads wait, on
/// the explorer's.
pub fn bug(state: &State) {
    let text = crate::memory::program::text();
    let reported = (0..).zip(&state.execution.threads).map(|(number, thread)| {
        let is = match state.running {
            _ if thread.has_ended() => 2,
            Some(running) if running == number => 1,
            _ => 0,
        };
        let name = CString::new(thread.handle.name.clone().unwrap_or_default()).unwrap_or_default();
        let stack = thread.stopped.iter().filter(|frame| text.contains(&(**frame as usize)));
        let mut frames: Vec<u64> = stack.filter(|_| is == 0).copied().collect();
        frames.push(0);
        Reported {
            stack_pointer: thread.stack_pointer as u64,
            state: is,
            name: name.into_raw(),
            frames: frames.leak().as_ptr(),
        }
    });
    let reported: Vec<Reported> = reported.collect();
    // SAFETY: one OS thread, and nobody else writes them. What they point to lives for ever.
    unsafe {
        __lr_gdb_count = reported.len() as u64;
        __lr_gdb_threads = reported.leak().as_ptr();
    }
    __lr_bug();
}

/// See [`bug`].
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn __lr_bug() {
    // There is something to stop at.
    std::hint::black_box(());
}
