//! What libtest does after a test: left out, once a run has shown that it changes nothing.
//!
//! When the test's function has returned, the harness prints, drops and counts before the process
//! exits. None of that is the user's, but it costs time in every execution, and its operations
//! interleave with those of threads that the test has left behind. Whether the test has passed does
//! follow from what it returned, in a way that only the harness knows (`should_panic`). So one
//! execution is run to its end first ([`learn`]): if the test returned `Ok` there and the process
//! exited with success, `Ok` means success. From then on, main ends the process where the test
//! returns `Ok`, after its thread-local destructors, as it would have in the end.

use crate::drive::native::Native;
use crate::machine::execution::Exit;
use crate::machine::hook;
use crate::machine::libtest::Harness;
use crate::machine::state::State;
use crate::record::failure::Failure;
use crate::record::recorder::Recorder;
use lockred_search::{self as search, Choice, Counts, Observer};

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
        crate::machine::schedule_log::log_choice(depth, choice);
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        false
    }
}

/// Operations after which that execution is given up.
const LONGEST: u64 = 100_000;

/// Runs one execution by the default policy, and finds out whether the harness can be left out.
/// What fails in it is forgotten, as the search comes by it again; what it assumes is kept, as some
/// of that is reported only once. `false`: the session has asked to stop.
pub fn learn() -> bool {
    let Some((recorder, by_transactions)) = hook::with(set_aside) else {
        return !crate::faults::leaving::stop_requested();
    };
    let limits = search::Limits { executions: Some(1), operations: LONGEST };
    let run = search::replay(&mut Native::default(), &[], limits, &mut Silent);
    let state = &mut *hook::enter();
    let success = Exit { status: 0, thread: 0, returned: true };
    let passed = run.outcome.stop == search::Stop::Complete
        && state.knowledge.harness == Harness::SawOk
        && state.execution.exit == Some(success);
    state.knowledge.harness = if passed { Harness::LeftOut } else { Harness::Runs };
    // Whoever looks at the root next finds it: locks that were held where that execution ended are
    // not held there.
    crate::drive::restore::restore(state);
    state.monitors.recorder = recorder;
    state.config.by_transactions = by_transactions;
    state.verdicts.unsupported = None;
    state.verdicts.weak_pair = false;
    !crate::faults::leaving::stop_requested()
}

/// What that execution is made without: the record, and transactions. Nothing if no libtest runs
/// the program.
fn set_aside(state: &mut State) -> Option<(Option<Recorder>, bool)> {
    state.config.libtest().then(|| {
        let by_transactions = std::mem::take(&mut state.config.by_transactions);
        (state.monitors.recorder.take(), by_transactions)
    })
}
