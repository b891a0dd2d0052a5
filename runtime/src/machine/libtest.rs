//! What is known of the harness that runs a test ([`crate::tasks::harness`]), and whether it is
//! running.

use crate::machine::state::State;
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

/// Where the frame of the function that calls the test ends: what main has called above that is
/// libtest. 0 where that is not known.
static TEST: AtomicUsize = AtomicUsize::new(0);

/// The harness calls the test.
pub fn begins() {
    let here = 0_u8;
    TEST.store(&raw const here as usize, Ordering::Relaxed);
}

/// Whether libtest is running, before or after its test.
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
