//! Explorer and coroutines take turns: threads are stopped before operations, and run again.

use crate::coroutine::context;
use crate::machine::hook::Entered;
use crate::machine::operation::Pending;
use crate::machine::state::{Passed, keep_errno};
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;
use std::sync::atomic::{AtomicU32, Ordering};

/// Stops the running thread before an operation, until the explorer runs it again.
pub fn stop(entered: &mut Entered, pending: Pending, passed: Passed, site: SiteId) {
    keep_errno(entered);
    if !entered.below_root {
        crate::machine::limits::before_root(entered);
    }
    crate::monitor::exclusive::look(entered, None);
    let state = &mut **entered;
    let stopped = crate::report::record::stack(state);
    let number = state.thread_number();
    let frames = match (&mut state.monitors.recorder, &mut state.monitors.observed) {
        (Some(recorder), _) => Some(&mut recorder.frames),
        (None, Some(observed)) => Some(&mut observed.frames),
        (None, None) => None,
    };
    if let Some(frames) = frames {
        frames.insert(number, crate::coroutine::unwind::frames());
    }
    let frame =
        if state.config.compares { crate::coroutine::unwind::program_frame() } else { None };
    if let Some(frame) = &frame {
        // SAFETY: it is a frame of the running stack.
        unsafe { state.knowledge.frames.clear(frame) };
    }
    let scales = u64::from(state.knowledge.scales);
    let thread = state.thread();
    thread.loops.acts += scales;
    thread.frame = frame;
    thread.stopped = stopped;
    thread.pending = pending;
    thread.arguments = passed;
    thread.site = site;
    switch_to_explorer(entered);
    crate::coroutine::scrub::after_stop();
    while entered.probing {
        let stack = crate::coroutine::unwind::stack();
        entered.thread().stopped = stack;
        switch_to_explorer(entered);
    }
}

/// Suspends the running thread.
fn switch_to_explorer(entered: &mut Entered) {
    let explorer = entered.explorer;
    let save = &raw mut entered.thread().stack_pointer;
    // SAFETY: `explorer` was saved by `run`, whose stack waits there; `save` is written before
    // anything else runs.
    entered.outside(|| unsafe { context::switch(save, explorer) });
}

/// Return addresses of a stopped thread's stack, and after them those of its creation. Called by
/// the explorer.
pub fn stack_of(entered: &mut Entered, number: u32) -> Vec<u64> {
    let thread = &entered.execution.threads[number as usize];
    let region = thread.region.0 as usize;
    let mut stack = Vec::new();
    // A thread that left its coroutine in the middle cannot be run, not even for this.
    let over = entered.step.flow != Flow::On;
    if !over && !matches!(thread.pending, Pending::Start | Pending::Ended) {
        entered.probing = true;
        run(entered, number);
        entered.probing = false;
        stack.clone_from(&entered.execution.threads[number as usize].stopped);
    }
    stack.extend(entered.knowledge.created.get(region).into_iter().flatten());
    stack
}

/// The thread whose coroutine is running, and one more; 0 while the explorer runs. For signal
/// handlers, which may come while somebody has the state.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// The thread whose coroutine is running.
pub fn running() -> Option<u32> {
    RUNNING.load(Ordering::Relaxed).checked_sub(1)
}

/// Runs a thread's coroutine until it stops or leaves.
pub fn run(entered: &mut Entered, number: u32) {
    let state = &mut **entered;
    state.running = Some(number);
    RUNNING.store(number + 1, Ordering::Relaxed);
    let thread = &state.execution.threads[number as usize];
    let stack_pointer = thread.stack_pointer;
    crate::memory::thread_locals::switch_to(thread.handle.tls);
    let save = &raw mut state.explorer;
    // SAFETY: the thread is suspended, or prepared and not yet run; by the Machine contract it has
    // not ended.
    entered.outside(|| unsafe { context::switch(save, stack_pointer) });
    entered.running = None;
    RUNNING.store(0, Ordering::Relaxed);
}
