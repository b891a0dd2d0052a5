//! What a replay records of the execution under way ([`crate::record::recorder`]).

use crate::machine::state::State;
use lockred_protocol::message::Step;
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;

/// The recorded number of the object at an address, if this execution is being recorded.
pub fn object(state: &mut State, address: usize, kind: &str, size: Option<u64>) -> Option<u32> {
    let recorder = state.monitors.recorder.as_ref()?;
    let home = match recorder.number(address) {
        Some(_) => None,
        None => crate::report::home::of(state, address, &recorder.frames),
    };
    state.monitors.recorder.as_mut().map(|recorder| recorder.object(address, kind, size, home))
}

/// A new execution: what was recorded below the root is void. Output from before it stays.
pub fn begin(state: &mut State) {
    if let Some(recorder) = &mut state.monitors.recorder {
        recorder.begin();
    }
}

/// Records a visible operation of the running thread, if this execution is being recorded.
pub fn step(state: &mut State, operation: String, object: Option<u32>, site: SiteId) {
    if state.monitors.recorder.is_none() {
        return;
    }
    let stack = crate::coroutine::unwind::stack();
    let thread = state.thread_number();
    let fails = !state.step.failures.is_empty();
    let Some(recorder) = &mut state.monitors.recorder else { return };
    if recorder.add(Step { thread, operation, object, site, stack }, fails) {
        crate::machine::state::end_execution(state, Flow::Over);
    }
}

/// The running stack, if this execution is being recorded.
pub fn stack(state: &State) -> Vec<u64> {
    if state.monitors.recorder.is_some() { crate::coroutine::unwind::stack() } else { Vec::new() }
}

/// Number of steps recorded so far.
pub fn steps(state: &State) -> usize {
    state.monitors.recorder.as_ref().map_or(0, |recorder| recorder.steps.len())
}
