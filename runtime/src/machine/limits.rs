//! What an outcome rests on, and what cannot be modelled.

use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::state::{State, end_execution};
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::message::{Assumption, Unsupported};
use lockred_protocol::sites::SiteId;
use lockred_search::machine::Flow;

/// The outcome rests on this (reported once a kind and detail). Before the root nothing is
/// explored, so nothing rests on it.
pub fn assume(state: &mut State, kind: AssumptionKind, detail: &str) {
    assume_at(state, kind, detail, SiteId(0));
}

/// The same, with a place.
pub fn assume_at(state: &mut State, kind: AssumptionKind, detail: &str, site: SiteId) {
    if state.config.mode == Mode::Free || !state.below_root {
        return;
    }
    state.execution.outside |= matches!(
        kind,
        AssumptionKind::NativeCode | AssumptionKind::ExternalWrite | AssumptionKind::FileChange
    );
    if !state.verdicts.assumptions.iter().any(|known| known.kind == kind && known.detail == detail)
    {
        state.verdicts.assumptions.push(Assumption { kind, detail: detail.to_owned(), site });
    }
}

/// The program does what cannot be modelled: the test ends. Without a session there is nobody to
/// tell, so the process does.
pub fn unsupported(state: &mut State, what: &str) -> ! {
    unsupported_at(state, what, SiteId(0))
}

/// The same, with a place.
pub fn unsupported_at(state: &mut State, what: &str, site: SiteId) -> ! {
    let stack = crate::coroutine::unwind::stack();
    if state.config.mode == Mode::Free {
        eprintln!("lockred: cannot be modelled: {what}");
        hook::exit(state, lockred_protocol::session::EXIT_INTERNAL);
    }
    state.verdicts.unsupported = Some(Unsupported { message: what.to_owned(), site, stack });
    end_execution(state, Flow::Unsupported)
}

/// Main is about to stop for the first time, at what will be the root: whoever goes on below it is
/// explored, and a child is not.
pub fn before_root(state: &mut State) {
    if state.config.mode != Mode::Free && crate::world::children::one_runs() {
        unsupported(state, "threads or choices while a child process still runs");
    }
}

/// The machine does not give what it takes: that is nobody's mistake. Where a thread runs, its test
/// ends; else the process does.
pub fn impossible(state: &mut State, what: &str) -> ! {
    if state.config.mode != Mode::Free && state.running.is_some() {
        unsupported(state, what);
    }
    crate::session::files::refuse(what)
}
