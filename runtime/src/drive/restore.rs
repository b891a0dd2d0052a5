//! Reaching the root ([`crate::machine::root`]), and going back to it.

use crate::machine::config::Mode;
use crate::machine::execution::Execution;
use crate::machine::root::{self, Root};
use crate::machine::state::State;
use crate::memory::arena::Region;
use crate::memory::{heap, program};
use std::time::Instant;

/// Main is stopped at the root: saves it, and begins to check.
pub fn reached(state: &mut State) {
    state.below_root = true;
    crate::world::at_root(state.execution.clock);
    if state.config.mode == Mode::Free {
        return;
    }
    let main = &state.execution.threads[0];
    let memory = main.memory(main.stack_pointer);
    let mut root = Root::new(memory[1].end, state.execution.clone());
    let copies_all = root::copies_all(state);
    memory.into_iter().chain([program::globals()]).for_each(|piece| root.save(piece, copies_all));
    state.root = Some(root);
    crate::monitor::races::begin(state);
}

/// Makes a copy of an execution, whose memory was put back, the one under way.
pub fn put_back(state: &mut State, execution: &Execution) {
    state.execution.clone_from(execution);
    for thread in state.execution.threads.iter().filter(|thread| !thread.has_ended()) {
        // SAFETY: the thread is suspended there.
        unsafe { crate::coroutine::scrub::below(thread.stack_pointer) };
    }
    crate::world::outside::mirror_all(&state.execution.signals);
    state.step.failures.clear();
    state.monitors.native.begin();
    crate::machine::channels::restored(state);
}

/// Goes back to the root.
pub fn restore(state: &mut State) {
    // It is out of the state while that is put back.
    let Some(mut root) = state.root.take() else { return };
    let since = Instant::now();
    // SAFETY: main's heap was made at start, and what was allocated since the root is nobody's any
    // more.
    unsafe { heap::forget_after(Region::MAIN, root.heap_end) };
    root.restore_pieces();
    root.restore_images();
    if state.config.request.as_ref().is_some_and(|request| request.environment.verify_restores)
        && let Some(address) = root.difference()
    {
        crate::session::files::fatal(&format!(
            "memory at {address:#x} is not what it was at the root"
        ));
    }
    put_back(state, root.execution());
    state.root = Some(root);
    if let Some(allocations) = &mut state.monitors.allocations {
        allocations.begin();
    }
    crate::world::restore_root();
    crate::monitor::races::begin(state);
    crate::report::record::begin(state);
    root::took(state, since);
}
