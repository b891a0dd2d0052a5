//! The locking discipline of a test, looked at in a process of its own: so no search is slower for
//! it.

use super::examine::Examiner;
use crate::cli::check::CheckOptions;
use crate::discipline;
use crate::discipline::facts::Facts;
use crate::error::Result;
use crate::executable::list::Test;
use crate::outcome::verdict_without_bugs;
use crate::session::{self, Ending, Patience};
use lockred_protocol::codes::{Verdict, WarningKind};
use lockred_protocol::message::{Exploration, Observation};
use lockred_protocol::session::{Task, Watch};

/// Executions, each a random walk. Of two places in the code of different threads, one comes before
/// the other in half of them or so.
const EXECUTIONS: u64 = 16;

/// Operations of one, at most.
const OPERATIONS: u64 = 10_000;

/// Seconds of processor time after which nothing is observed.
const SECONDS: f64 = 20.0;

/// Whether it is to be looked at. Where there is a bug, that is reported, and not what comes of it.
pub fn is_wanted(options: &CheckOptions, has_bug: bool) -> bool {
    let findings = &options.findings;
    let warns = !findings.allows(WarningKind::LockingDiscipline);
    options.observes || !has_bug && (warns || options.audit)
}

/// Looks at it; `None` if that did not come to an end.
///
/// # Errors
/// When no session can be made, or no process started.
pub fn of(
    examiner: &Examiner<'_>,
    test: &Test,
    exploration: &Exploration,
) -> Result<Option<Facts>> {
    let Some(mut observation) = observe(examiner, test, Vec::new())? else { return Ok(None) };
    let watches = discipline::exclusive::watches(
        &observation,
        &examiner.symbols,
        &examiner.notes,
        &examiner.built.executable,
    );
    if !watches.is_empty() {
        // The same walks, in which it is known now what the predicates are about.
        let Some(again) = observe(examiner, test, watches)? else { return Ok(None) };
        observation = again;
    }
    let verified =
        exploration.findings.is_empty() && verdict_without_bugs(exploration) == Verdict::Verified;
    Ok(Some(Facts::of(&observation, &examiner.symbols, verified)))
}

/// Looks at a few executions; `None` if that did not come to an end.
fn observe(
    examiner: &Examiner<'_>,
    test: &Test,
    watches: Vec<Watch>,
) -> Result<Option<Observation>> {
    let (executions, operations) = (EXECUTIONS, OPERATIONS);
    let task = Task::Observe { executions, seed: 0, operations, watches };
    let request = examiner.request(task, test);
    let patience = Patience::of_budget(Some(SECONDS));
    let Ending::Observed(observation) =
        session::run(&examiner.launch(test), &request, patience, &mut |_| ())?
    else {
        return Ok(None);
    };
    // What was not looked at might be the exception, or the rule.
    Ok((!observation.cut).then_some(*observation))
}
