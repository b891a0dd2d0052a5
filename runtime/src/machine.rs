//! The native machine: [`lockred_search::machine::Machine`] over the program's coroutines.

use crate::failure::Failure;
use crate::footprints;
use crate::operation::Pending;
use crate::state::{State, run, state};
use lockred_search::footprint::{Footprint, ObjectId};
use lockred_search::machine::{Chooser, Flow, Machine, Status, Step, ThreadId};
use lockred_trace::sites::SiteId;

/// Timeouts of one thread that fire in a row while other threads could run.
const TIMEOUTS: u32 = 2;
/// Steps that remain to the other threads once the process has exited.
const STEPS_AFTER_EXIT: u64 = 10_000;

/// The machine. All of its state is in [`crate::state`]: coroutines reach it from inside a step.
#[derive(Debug)]
pub struct Native;

/// Mixes an operation into a signature.
pub fn sign(signature: &mut u64, what: u64, address: usize, site: SiteId) {
    for word in [what, address as u64, u64::from(site.0)] {
        *signature = (signature.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// Whether a thread could run whatever the others do, timeouts and free spinning aside.
fn ready(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    match thread.pending {
        Pending::Start | Pending::Spawn | Pending::FutexWait { .. } | Pending::FutexWake { .. } => {
            true
        }
        Pending::Join { target } => state.execution.threads[target as usize].has_ended(),
        Pending::Atomic(operation) => operation.can_proceed(),
        Pending::FutexQueued { .. } => thread.woken,
        Pending::Spinning => thread.spin.changed(),
        Pending::Ended => false,
    }
}

/// Whether a thread waits with a timeout that may fire although others could run.
fn may_time_out(state: &State, number: usize) -> bool {
    let thread = &state.execution.threads[number];
    matches!(thread.pending, Pending::FutexQueued { deadline: Some(_), .. })
        && !thread.woken
        && thread.timeouts < TIMEOUTS
}

/// Status of a thread; see [`crate::spin`] for what loops wait for.
fn status(state: &State, number: usize) -> Status {
    let thread = &state.execution.threads[number];
    if thread.has_ended() || state.execution.cut {
        return Status::Ended;
    }
    if ready(state, number) {
        return Status::Enabled;
    }
    let blocked = Status::Blocked { on: waits_for(thread.pending) };
    let others = || (0..state.execution.threads.len()).filter(move |&other| other != number);
    match thread.pending {
        Pending::FutexQueued { deadline: Some(_), .. } => {
            if thread.timeouts < TIMEOUTS
                || !others().any(|other| ready(state, other) || may_time_out(state, other))
            {
                Status::Reluctant
            } else {
                blocked
            }
        }
        Pending::Spinning => {
            let helpless = !others().any(|other| ready(state, other) || may_time_out(state, other));
            if helpless && state.execution.exit.is_none() { Status::Reluctant } else { blocked }
        }
        _ => blocked,
    }
}

/// The object that a blocked thread waits for.
fn waits_for(pending: Pending) -> ObjectId {
    match pending {
        Pending::Atomic(operation) => footprints::word(operation.address),
        Pending::FutexQueued { address, .. } => footprints::queue(address),
        Pending::Join { target } => ObjectId(1 << 62 | u64::from(target)),
        _ => ObjectId(0),
    }
}

impl Machine for Native {
    type Failure = Failure;

    fn restore_root(&mut self) {
        crate::root::restore();
    }

    fn threads(&self) -> u32 {
        state().execution.threads.len() as u32
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        status(state(), thread.index())
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        footprint.clear();
        let thread = &state().execution.threads[thread.index()];
        footprints::pending(&thread.pending, thread.spin.words(), footprint);
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        step.clear();
        {
            let state = state();
            // SAFETY: only the lifetime is changed; the pointer is used during this call alone and cleared at its end.
            let chooser: *mut (dyn Chooser + 'static) =
                unsafe { std::mem::transmute(std::ptr::from_mut(chooser)) };
            state.step.chooser = Some(chooser);
            state.step.flow = Flow::On;
            state.step.signature = u64::from(thread.0);
            std::mem::swap(&mut state.step.footprint, &mut step.footprint);
            std::mem::swap(&mut state.step.failures, &mut step.failures);
        }
        run(thread.0);
        let state = state();
        state.step.chooser = None;
        std::mem::swap(&mut state.step.footprint, &mut step.footprint);
        std::mem::swap(&mut state.step.failures, &mut step.failures);
        step.signature = state.step.signature;
        step.flow = state.step.flow;
        state.most_threads = state.most_threads.max(state.execution.threads.len() as u32);
        if state.execution.exit.is_some() {
            state.execution.steps_after_exit += 1;
            if state.execution.steps_after_exit > STEPS_AFTER_EXIT {
                state.execution.cut = true;
                crate::host::assume(lockred_trace::codes::AssumptionKind::DetachedThreadCut, "");
            }
        }
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        crate::judge::finish(failures);
    }
}

/// An alternative, picked by the search; 0 where there is nothing to pick or nobody to ask.
pub fn choose(of: usize) -> usize {
    if of < 2 {
        return 0;
    }
    match state().step.chooser {
        // SAFETY: set by `step`, whose caller lends the chooser until the step ends, and this runs inside a step.
        Some(chooser) => unsafe { (*chooser).choose(of as u32) as usize },
        None => 0,
    }
}
