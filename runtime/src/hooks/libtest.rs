//! Where libtest calls its test, and what that returns ([`crate::tasks::harness`]).

use crate::hooks::{process, pthread};
use crate::machine::hook;
use crate::machine::libtest::{self, Harness};

/// See [`lockred_protocol::hooks`].
///
/// # Safety
/// `result` points to what libtest's wrapper of a test returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __lr_test_returned(result: *const Result<(), String>) {
    let entered = &mut hook::enter();
    let state = &mut **entered;
    // SAFETY: by the caller's promise; the runtime was built by the program's compiler, which lays
    // out a type in one way.
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

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_test_begins() {
    libtest::begins();
}
