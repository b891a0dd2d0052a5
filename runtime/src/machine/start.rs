//! The program's main thread: made before anything of the program runs.

use crate::coroutine::context;
use crate::machine::state::State;
use crate::machine::thread::Thread;
use crate::memory::arena::{self, Region};
use crate::memory::heap;
use crate::memory::thread_locals;

/// Main's stack, in bytes.
const MAIN_STACK: usize = 64 << 20;

/// Makes the main thread, which will begin with `bottom(0)`.
pub fn main_thread(state: &mut State, bottom: extern "C" fn(usize) -> !) {
    arena::ensure(Region::MAIN, MAIN_STACK)
        .unwrap_or_else(|why| crate::machine::limits::impossible(state, &why));
    // SAFETY: main's region is mapped, and nothing has run.
    unsafe { heap::reset(Region::MAIN) };
    let mut main = Thread::new(Region::MAIN, None, None);
    main.handle.tls = thread_locals::create(Region::MAIN);
    main.handle.errno = thread_locals::create_errno(Region::MAIN);
    thread_locals::switch_to(main.handle.tls);
    // SAFETY: the region's end is the top of main's unused stack, and page aligned.
    main.stack_pointer = unsafe { context::prepare(Region::MAIN.end(), bottom, 0) };
    state.execution.signals.word = thread_locals::create_errno(Region::MAIN) as usize;
    state.execution.threads.push(main);
    state.execution.live = 1;
}
