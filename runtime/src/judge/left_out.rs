//! Executions that are left out, as what they assume is false ([`crate::hooks::assumed`]).

use crate::machine::operation::Pending;
use crate::machine::state::State;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::message::Assumption;
use lockred_protocol::sites::SiteId;

/// Whether the execution, which is at its end, is to be left out. Reports what was assumed then.
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

/// The search is over. Where every execution was left out, it has shown nothing, and that is
/// reported.
pub fn judge(state: &mut State) {
    let kind = AssumptionKind::AssumedConditions;
    if !state.verdicts.kept
        && state.verdicts.assumptions.iter().any(|reported| reported.kind == kind)
    {
        let detail = "no execution is left, so nothing was checked".to_owned();
        state.verdicts.assumptions.push(Assumption { kind, detail, site: SiteId(0) });
    }
}
