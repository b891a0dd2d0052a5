//! `lockred::assume!`: executions in which a condition is false are left out.
//!
//! The thread that finds it false goes no further, and the others go on until they end or wait for good: so the search learns of all that could have come
//! before, and have made it true. What shows by then (a data race, an abort) comes from what the others do in any case, and counts; how
//! the execution ends does not.

use crate::machine::config::Mode;
use crate::machine::event::{self, Event};
use crate::machine::hook;
use crate::machine::operation::Pending;
use crate::machine::state::{State, stop};
use lockred_trace::codes::AssumptionKind;
use lockred_trace::message::Assumption;
use lockred_trace::sites::SiteId;

/// See [`lockred_trace::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_assumed_not(text: usize, length: usize) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let Some(entered) = &mut hook::enter_if_ready() else { return };
    let state = &mut **entered;
    if state.running.is_none() || state.config.mode == Mode::Free {
        return;
    }
    crate::loops::waiting::leave_loop(state, SiteId(0));
    state.thread().atomic.open = false;
    event::notify(entered, &Event::WaitsForGood);
    loop {
        stop(entered, Pending::Never, [text as u64, length as u64, 0, 0], SiteId(0));
    }
}

/// Whether the execution, which is at its end, is to be left out. Tells what was assumed then.
pub fn leaves_out(state: &mut State) -> bool {
    let never = |thread: &&crate::machine::thread::Thread| thread.pending == Pending::Never;
    let texts: Vec<[u64; 2]> = state
        .execution
        .threads
        .iter()
        .filter(never)
        .map(|thread| [thread.arguments[0], thread.arguments[1]])
        .collect();
    for &[text, length] in &texts {
        // SAFETY: the hook's contract: a text that lives as long as the program.
        let text = unsafe { std::slice::from_raw_parts(text as *const u8, length as usize) };
        let detail = String::from_utf8_lossy(text).into_owned();
        let assumption =
            Assumption { kind: AssumptionKind::AssumedConditions, detail, site: SiteId(0) };
        if !state.verdicts.assumptions.contains(&assumption) {
            state.verdicts.assumptions.push(assumption);
        }
    }
    state.verdicts.kept |= texts.is_empty();
    !texts.is_empty()
}

/// The search is over. Where every execution was left out, it has shown nothing, and that is told.
pub fn judge(state: &mut State) {
    let kind = AssumptionKind::AssumedConditions;
    if !state.verdicts.kept && state.verdicts.assumptions.iter().any(|told| told.kind == kind) {
        let detail = "no execution is left, so nothing was checked".to_owned();
        state.verdicts.assumptions.push(Assumption { kind, detail, site: SiteId(0) });
    }
}
