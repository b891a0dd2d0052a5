//! What libtest does behind a test: left out, once a run has shown that it changes nothing.
//!
//! When the test's function has returned, the harness prints, drops and counts before the process exits. None of that is the
//! user's, but it costs time in every execution, and its operations interleave with those of threads that the test has left behind.
//! Whether the test has passed does follow from what it returned, in a way that only the harness knows (`should_panic`). So one execution is run to
//! its end first ([`learn`]): if the test returned `Ok` there and the process exited with success, `Ok` means success. From then on,
//! main ends the process where the test returns `Ok`, after its thread-local destructors, as it would have in the end.

use crate::hooks::process;
use crate::hooks::pthread;
use crate::machine::execution::Exit;
use crate::machine::hook;
use crate::machine::native::Native;
use crate::machine::state::State;
use crate::report::failure::Failure;
use lockred_search::{self as search, Choice, Counts, Observer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is known of the harness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Harness {
    /// It runs to its end.
    #[default]
    Runs,
    /// It runs to its end, and the test has returned `Ok`.
    SawOk,
    /// It is left out where the test returns `Ok`.
    LeftOut,
}

/// See [`lockred_trace::hooks`].
///
/// # Safety
/// `result` points to what libtest's wrapper of a test returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_test_returned(result: *const Result<(), String>) {
    let entered = &mut hook::enter();
    let state = &mut **entered;
    // SAFETY: by the caller's promise; the runtime was built by the program's compiler, which lays out a type in one way.
    let passed = unsafe { (*result).is_ok() };
    if !state.below_root || state.thread_number() != 0 || !passed {
        return;
    }
    if state.knowledge.harness == Harness::LeftOut {
        pthread::run_destructors(entered);
        process::run_at_exit(entered);
        process::exit(entered, 0, true);
    }
    state.knowledge.harness = Harness::SawOk;
}

/// Where the frame of the function that calls the test ends: what main has called above that is libtest. 0 where that is not known.
static TEST: AtomicUsize = AtomicUsize::new(0);

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_test_begins() {
    let here = 0_u8;
    TEST.store(&raw const here as usize, Ordering::Relaxed);
}

/// Whether libtest is running, before or behind its test.
pub fn is_running(state: &State) -> bool {
    if state.thread_number() != 0 || !state.config.libtest() {
        return false;
    }
    let here = 0_u8;
    match TEST.load(Ordering::Relaxed) {
        0 => !state.below_root,
        test => &raw const here as usize > test,
    }
}

/// Looks on without a word.
struct Silent;

impl Observer<Failure> for Silent {
    fn on_step(&mut self, _: &Counts) -> bool {
        if let Some(status) = hook::enter().config.status {
            status.beat();
        }
        !crate::faults::leaving::stop_requested()
    }

    fn on_choice(&mut self, depth: usize, choice: Choice) {
        crate::tasks::answer::trail(depth, choice);
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        false
    }
}

/// Operations after which that execution is given up.
const LONGEST: u64 = 100_000;

/// Runs one execution by the default policy, and finds out whether the harness can be left out. What fails in it is forgotten, as the search
/// comes by it again; what it assumes is kept, as some of that is told only once. `false`: the session has asked to stop.
pub fn learn() -> bool {
    let (recorder, by_transactions) = {
        let state = &mut *hook::enter();
        if !state.config.libtest() {
            return !crate::faults::leaving::stop_requested();
        }
        (state.monitors.recorder.take(), std::mem::take(&mut state.config.by_transactions))
    };
    let limits = search::Limits { executions: Some(1), operations: LONGEST };
    let run = search::replay(&mut Native::default(), &[], limits, &mut Silent);
    let state = &mut *hook::enter();
    let success = Exit { status: 0, thread: 0, returned: true };
    let passed = run.outcome.stop == search::Stop::Complete
        && state.knowledge.harness == Harness::SawOk
        && state.execution.exit == Some(success);
    state.knowledge.harness = if passed { Harness::LeftOut } else { Harness::Runs };
    // Whoever looks at the root next finds it: locks that were held where that execution ended are not held there.
    crate::machine::root::restore(state);
    state.monitors.recorder = recorder;
    state.config.by_transactions = by_transactions;
    state.verdicts.unsupported = None;
    state.verdicts.weak_pair = false;
    !crate::faults::leaving::stop_requested()
}
