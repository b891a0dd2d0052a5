//! Checkpoints: what it takes to go on with a search in another process, kept in a file from time
//! to time.
//!
//! Beside the search's own frontier that is what was reported to it about the program: names,
//! channels, regions. All of it is plain data; addresses in it are those of the arena, which are
//! the same in every process. The file is replaced as a whole.

use crate::machine::object_ids::ObjectIds;
use crate::machine::state::State;
use crate::memory::arena::Regions;
use crate::tasks::response::Watch;
use lockred_protocol::message::{Assumption, Finding, Warning};
use lockred_protocol::sealed;
use lockred_protocol::session::Checkpoint as Request;
use lockred_search::transactions::Frontier;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// See the module. The names and the frontier are lent to be written, and owned once they were
/// read.
#[derive(Serialize, Deserialize)]
struct Checkpoint<'a, N, F> {
    /// Seconds that the search has taken so far.
    seconds: f64,
    findings: Cow<'a, [Finding]>,
    warnings: Cow<'a, [Warning]>,
    assumptions: Cow<'a, [Assumption]>,
    kept: bool,
    weak_pair: bool,
    most_threads: u32,
    channels_step_by_step: bool,
    channels: Cow<'a, [usize]>,
    regions: Vec<(u32, u32, u32)>,
    names: N,
    frontier: F,
}

/// Nodes of the longest path that is kept: writing a longer one would take many seconds, in which
/// the search shows no sign of life.
const LONGEST: usize = 1 << 18;

/// Keeps where a search stands. What cannot be written, or is too much, is not kept: the search can
/// do without.
pub fn keep(state: &State, request: &Request, watch: &Watch, frontier: &Frontier) {
    if frontier.depth() > LONGEST {
        return;
    }
    let mut warnings = state.verdicts.warnings.clone();
    crate::discipline::atomicity::report(&state.monitors.atomicity, &mut warnings);
    let checkpoint = Checkpoint {
        seconds: watch.seconds(),
        findings: watch.findings().into(),
        warnings: warnings.into(),
        assumptions: (&state.verdicts.assumptions[..]).into(),
        kept: state.verdicts.kept,
        weak_pair: state.verdicts.weak_pair,
        most_threads: state.knowledge.most_threads,
        channels_step_by_step: state.knowledge.channels_step_by_step,
        channels: state.knowledge.channel_words.channels().into(),
        regions: state.knowledge.regions.hashed(),
        names: &state.knowledge.object_ids,
        frontier,
    };
    if let Ok(text) = serde_json::to_string(&checkpoint) {
        let new = format!("{}.new", request.file);
        if std::fs::write(&new, sealed::seal(&text)).is_ok() {
            let _ = std::fs::rename(&new, &request.file);
        }
    }
}

/// Takes up what another process kept, if it is whole. Gives where that search stood.
pub fn take_up(state: &mut State, request: &Request, watch: &mut Watch) -> Option<Frontier> {
    let text = std::fs::read_to_string(Path::new(&request.file)).ok()?;
    let checkpoint: Checkpoint<'_, ObjectIds, Frontier> =
        serde_json::from_str(sealed::open(&text)?).ok()?;
    let State { knowledge, verdicts, .. } = state;
    knowledge.object_ids = checkpoint.names;
    knowledge.regions = Regions::of_hashed(&checkpoint.regions);
    for &channel in checkpoint.channels.iter() {
        knowledge.channel_words.make(channel);
    }
    knowledge.most_threads = checkpoint.most_threads;
    knowledge.channels_step_by_step = checkpoint.channels_step_by_step;
    verdicts.warnings = checkpoint.warnings.into_owned();
    // Those of the first execution, which was run again, are among them.
    verdicts.assumptions = checkpoint.assumptions.into_owned();
    verdicts.kept = checkpoint.kept;
    verdicts.weak_pair = checkpoint.weak_pair;
    watch.go_on_from(checkpoint.seconds, checkpoint.findings.into_owned());
    Some(checkpoint.frontier)
}
