//! The native machine: [`lockred_search::machine::Machine`] over the program's coroutines.

use crate::drive::fingerprint::Fingerprints;
use crate::drive::transactional::Log;
use crate::machine::footprints;
use crate::machine::hook::{self, Entered};
use crate::machine::step::Lent;
use crate::record::failure::Failure;
use crate::scheduler::status::status;
use crate::scheduler::stops::run;
use crate::scheduler::timely;
use lockred_protocol::codes::AssumptionKind;
use lockred_search::footprint::Footprint;
use lockred_search::machine::{Approach, Chooser, Flow, Machine, Status, Step, ThreadId};
use std::cell::RefCell;

/// Steps that remain to the other threads once the process has exited.
const STEPS_AFTER_EXIT: u64 = 10_000;

/// The machine. The program's state is in [`crate::machine::state`]: coroutines reach it from
/// inside a step.
#[derive(Default, Debug)]
pub struct Native {
    /// How the present state was reached, for the search by transactions.
    pub(crate) log: Log,
    /// What states are told apart with, in the search over them.
    pub(crate) fingerprints: RefCell<Fingerprints>,
}

/// Runs a thread, which can run, to its next stop. `monitor`: of the search by transactions, if
/// that runs it.
pub fn execute(
    entered: &mut Entered,
    thread: ThreadId,
    chooser: &mut dyn Chooser,
    monitor: Option<Lent>,
    step: &mut Step<Failure>,
) {
    step.clear();
    let state = &mut **entered;
    // SAFETY: only the lifetime is changed; the pointer is used during this call alone and cleared
    // at its end.
    let chooser: *mut (dyn Chooser + 'static) =
        unsafe { std::mem::transmute(std::ptr::from_mut(chooser)) };
    state.step.chooser = Some(chooser);
    state.step.monitor = monitor;
    state.step.begin(thread.0, state.execution.threads[thread.index()].site);
    state.step.signature = u64::from(thread.0);
    state.monitors.native.begin_step();
    std::mem::swap(&mut state.step.footprint, &mut step.footprint);
    std::mem::swap(&mut state.step.failures, &mut step.failures);
    if state.knowledge.deaths.take_reached() {
        state.step.flow = Flow::Over;
    } else {
        run(entered, thread.0);
    }
    let state = &mut **entered;
    state.step.chooser = None;
    state.step.monitor = None;
    std::mem::swap(&mut state.step.footprint, &mut step.footprint);
    std::mem::swap(&mut state.step.failures, &mut step.failures);
    step.signature = state.step.signature;
    step.flow = state.step.flow;
    step.overtaken = state.step.overtaken;
    state.knowledge.most_threads =
        state.knowledge.most_threads.max(state.execution.threads.len() as u32);
    if state.execution.exit.is_some() {
        state.execution.steps_after_exit += 1;
        state.execution.cut |= state.config.exit_ends;
        if state.execution.steps_after_exit > STEPS_AFTER_EXIT {
            state.execution.cut = true;
            crate::machine::limits::assume(state, AssumptionKind::DetachedThreadCut, "");
        }
    }
}

/// The search is outside: each of these enters ([`crate::machine::hook`]).
impl Machine for Native {
    type Failure = Failure;

    fn is_race(failure: &Failure) -> bool {
        failure.kind == lockred_protocol::codes::BugKind::DataRace
    }

    fn restore_root(&mut self) {
        self.log.clear();
        crate::drive::restore::restore(&mut hook::enter());
    }

    fn threads(&self) -> u32 {
        hook::enter().execution.threads.len() as u32
    }

    fn status(&mut self, thread: ThreadId) -> Status {
        status(&hook::enter(), thread.index())
    }

    fn waits_for_time(&self) -> bool {
        timely::is_waited_for(&hook::enter())
    }

    fn pending(&mut self, thread: ThreadId, footprint: &mut Footprint) {
        let state = &*hook::enter();
        footprint.clear();
        if state.config.by_transactions {
            let touch = |object, access| footprint.touch(object, access);
            return crate::monitor::transactions::pending(state, thread.index(), touch);
        }
        let thread = &state.execution.threads[thread.index()];
        let words = thread.loops.read_only_spin.words().map(|(address, _)| address);
        footprints::pending(&thread.pending, words, footprint);
    }

    fn approach(&self, thread: ThreadId, target: u32) -> Approach {
        crate::monitor::targets::approach(&hook::enter(), thread, target)
    }

    fn step(&mut self, thread: ThreadId, chooser: &mut dyn Chooser, step: &mut Step<Failure>) {
        execute(&mut hook::enter(), thread, chooser, None, step);
    }

    fn finish(&mut self, failures: &mut Vec<Failure>) {
        crate::judge::execution::finish(&mut hook::enter(), failures);
    }
}
