//! Findings that show only where a sleep is overtaken: warnings, behind which the search goes on.
//!
//! A search that has stopped at one begins again and passes it over. It takes as long as it took to come there, and all searches of a test together have
//! the time of one. After so many ([`MOST`]) the search ends.

use super::bugs;
use super::examine::Examiner;
use super::explore::{self, Answer, Explored};
use super::outcome::{FoundBug, FoundWarning};
use crate::error::Result;
use crate::executable::list::Test;
use lockred_trace::codes::WarningKind;
use lockred_trace::message::Stop;
use lockred_trace::session::Task;

/// Such findings of one test behind which its search goes on.
const MOST: usize = 8;

/// What was found in a test, apart from deaths.
pub struct Sifted {
    /// The answer of the last search.
    pub answer: Answer,
    /// Bugs; or why a finding is none.
    pub found: Vec<std::result::Result<FoundBug, String>>,
    /// What is no bug, but shows that a sleep may be too short.
    pub timing: Vec<FoundBug>,
}

/// Replays what was found, and searches on while that is a matter of timing only.
///
/// # Errors
/// When no session can be made, or no schedule written.
pub fn sift(examiner: &Examiner<'_>, test: &Test, mut answer: Answer) -> Result<Sifted> {
    let (mut found, mut timing) = (Vec::new(), Vec::<FoundBug>::new());
    let mut passes = Vec::new();
    let mut seconds = 0.0;
    loop {
        for finding in &answer.exploration.findings {
            match bugs::reproduce(examiner, test, finding, answer.exploration.seconds) {
                Ok(bug) if bug.is_timing => {
                    passes.push(finding.key.clone());
                    if !timing.iter().any(|known| known.fingerprint == bug.fingerprint) {
                        timing.push(bug);
                    }
                }
                other => found.push(other),
            }
        }
        seconds += answer.exploration.seconds;
        answer.exploration.seconds = seconds;
        let stopped = answer.exploration.stop == Stop::Bug && answer.deaths.is_empty();
        if !stopped || !found.is_empty() || passes.is_empty() || passes.len() >= MOST {
            return Ok(Sifted { answer, found, timing });
        }
        match again(examiner, test, &passes, seconds)? {
            Some(next) => answer = next,
            None => return Ok(Sifted { answer, found, timing }),
        }
    }
}

/// Searches again, past what has these keys; `None` where that did not answer.
fn again(
    examiner: &Examiner<'_>,
    test: &Test,
    passes: &[String],
    seconds: f64,
) -> Result<Option<Answer>> {
    let mut order = examiner.exploration(test);
    order.passes = passes.to_vec();
    if let Task::Explore { limits, .. } = &mut order.task {
        limits.seconds = limits.seconds.map(|all| (all - seconds).max(0.1));
    }
    let explored = explore::once(&examiner.launch(test), &order, &mut |_| ())?;
    Ok(match explored {
        Explored::Answer(answer) => Some(*answer),
        Explored::Interrupted { .. } | Explored::Failed(_) => None,
    })
}

/// The warning that such a finding is.
pub fn warning(bug: FoundBug, denied: bool) -> FoundWarning {
    let FoundBug { fingerprint, known, rendered, .. } = bug;
    FoundWarning { fingerprint, known, denied, kind: WarningKind::Timing, rendered }
}
