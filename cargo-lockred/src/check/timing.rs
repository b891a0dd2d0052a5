//! Findings that show only where a sleep is overtaken: warnings, after which the search goes on.
//!
//! A search that has stopped at one begins again and passes it over. It takes as long as it took to
//! come there, and all searches of a test together have the time of one. After so many ([`MOST`])
//! the search ends.
//!
//! The search by transactions goes through one schedule of each class, and that one may overtake a
//! sleep where another of its class does not. So where a finding is not known to take that, all
//! schedules in which time is ordered are searched, once.

use super::bugs;
use super::examine::Examiner;
use super::explore::{self, Explored, Response};
use crate::cli::check::{OwnOptions, SearchOptions, TimeName};
use crate::error::Result;
use crate::executable::list::Test;
use crate::outcome::{FoundBug, FoundWarning};
use crate::report::timing::{Timing, note};
use lockred_protocol::codes::WarningKind;
use lockred_protocol::message::Stop;
use lockred_protocol::session::Task;

/// Such findings of one test after which its search goes on.
const MOST: usize = 8;

/// What was found in a test, apart from deaths.
pub struct Sifted {
    /// The response of the last search.
    pub response: Response,
    /// Bugs; or why a finding is none.
    pub found: Vec<std::result::Result<FoundBug, bugs::Lost>>,
    /// What is no bug, but shows that a sleep may be too short.
    pub timing: Vec<FoundBug>,
}

/// Replays what was found, and searches on while that is a matter of timing only. Where a search
/// does not respond, that is what the test came to.
///
/// # Errors
/// When no session can be made, or no schedule written.
pub fn sift(
    examiner: &Examiner<'_>,
    test: &Test,
    response: Response,
) -> Result<std::result::Result<Sifted, Explored>> {
    let mut sifted = Sifted { response, found: Vec::new(), timing: Vec::new() };
    let mut passes = Vec::new();
    let (mut seconds, mut looked) = (0.0, false);
    loop {
        for finding in &sifted.response.exploration.findings {
            match bugs::reproduce(examiner, test, finding, sifted.response.exploration.seconds) {
                Ok(bug) if bug.timing.is_some() => {
                    passes.push(finding.key.clone());
                    if !sifted.timing.iter().any(|known| known.fingerprint == bug.fingerprint) {
                        sifted.timing.push(bug);
                    }
                }
                other => sifted.found.push(other),
            }
        }
        seconds += sifted.response.exploration.seconds;
        let unknown = sifted.timing.iter().any(|bug| bug.timing == Some(Timing::Perhaps));
        if unknown && sifted.found.is_empty() && !looked {
            looked = true;
            match look_in_order(examiner, test, &mut sifted, seconds)? {
                Ok(took) => seconds += took,
                Err(explored) => return Ok(Err(explored)),
            }
        }
        sifted.response.exploration.seconds = seconds;
        let stopped =
            sifted.response.exploration.stop == Stop::Bug && sifted.response.deaths.is_empty();
        if !stopped || !sifted.found.is_empty() || passes.is_empty() || passes.len() >= MOST {
            return Ok(Ok(sifted));
        }
        match search_for(examiner, test, &passes, |all| all - seconds)? {
            Explored::Response(next) => sifted.response = *next,
            other => return Ok(Err(other)),
        }
    }
}

/// Looks for failures in the schedules in which all sleeps are long enough, in half of the time
/// that is left. Gives the seconds that it took.
fn look_in_order(
    examiner: &Examiner<'_>,
    test: &Test,
    sifted: &mut Sifted,
    seconds: f64,
) -> Result<std::result::Result<f64, Explored>> {
    let own = examiner.search(test);
    let search = SearchOptions { time: TimeName::Ordered, ..own.clone() };
    let words = test.own.as_ref().map_or_else(Vec::new, |own| own.words.clone());
    let ordered = Test { own: Some(OwnOptions { words, search }), ..test.clone() };
    let explored = search_for(examiner, &ordered, &[], |all| (all - seconds) / 2.0)?;
    let Explored::Response(response) = explored else { return Ok(Err(explored)) };
    let exploration = &response.exploration;
    for finding in &exploration.findings {
        let bug = bugs::reproduce(examiner, &ordered, finding, exploration.seconds);
        if !bug.as_ref().is_ok_and(|bug| bug.timing.is_some()) {
            sifted.found.push(bug);
        }
    }
    if exploration.stop == Stop::Complete && response.deaths.is_empty() {
        sifted.timing.iter_mut().for_each(is_excluded);
    }
    Ok(Ok(exploration.seconds))
}

/// A failure is known now to take an overtaken sleep.
fn is_excluded(bug: &mut FoundBug) {
    if bug.timing.replace(Timing::Only) != Some(Timing::Perhaps) {
        return;
    }
    let [perhaps, only] = [Timing::Perhaps, Timing::Only].map(note);
    let rendered = &mut bug.rendered;
    rendered.report.notes.iter_mut().filter(|note| *note == perhaps).for_each(|note| {
        only.clone_into(note);
    });
    for text in [&mut rendered.text, &mut rendered.plain] {
        *text = text.replace(perhaps, only);
    }
}

/// Searches again, past what has these keys, in what `left` gives of all the test's seconds.
fn search_for(
    examiner: &Examiner<'_>,
    test: &Test,
    passes: &[String],
    left: impl Fn(f64) -> f64,
) -> Result<Explored> {
    let mut request = examiner.exploration(test);
    request.passes = passes.to_vec();
    if let Task::Explore { limits, .. } = &mut request.task {
        limits.seconds = limits.seconds.map(|all| left(all).max(0.1));
    }
    explore::once(&examiner.launch(test), &request, examiner.by(test), &mut |_| ())
}

/// The warning that such a finding is.
pub fn warning(bug: FoundBug, denied: bool) -> FoundWarning {
    let FoundBug { fingerprint, known, rendered, .. } = bug;
    FoundWarning { fingerprint, known, denied, kind: WarningKind::Timing, rendered }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Rendered;
    use crate::report::{Report, Severity};
    use lockred_protocol::codes::BugKind;

    #[test]
    fn a_failure_that_is_excluded_says_so_wherever_it_said_perhaps() {
        let perhaps = note(Timing::Perhaps);
        let report = Report {
            severity: Severity::Warning,
            code: None,
            title: String::new(),
            places: Vec::new(),
            notes: vec!["another".into(), perhaps.into()],
        };
        let text = format!("= note: {perhaps}\n");
        let mut bug = FoundBug {
            id: String::new(),
            fingerprint: String::new(),
            known: false,
            kind: BugKind::Panic,
            schedule: None,
            size: None,
            rendered: Rendered { report, plain: text.clone(), text },
            thread_flows: Vec::new(),
            timing: Some(Timing::Perhaps),
        };
        is_excluded(&mut bug);
        let only = note(Timing::Only);
        assert_eq!(bug.timing, Some(Timing::Only));
        assert_eq!(bug.rendered.report.notes, ["another", only]);
        assert_eq!(bug.rendered.text, format!("= note: {only}\n"));
        assert_eq!(bug.rendered.plain, bug.rendered.text);
    }
}
