//! JSON lines on stdout: one object a test, and one at the end. The types here are the format.

use crate::outcome::{self, tally::Tally};
use crate::outcome::{Ended, FoundBug, FoundWarning, Outcome, Rendered, Reported, Size};
use crate::printing::line::json;
use crate::report::Place;
use lockred_protocol::codes::{BugKind, Verdict, WarningKind};
use lockred_protocol::message::{Proved, Role, Stronger};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

/// Version of the lines.
const VERSION: u32 = 1;
/// The memory model that is explored.
const MEMORY_MODEL: &str = "sc";

/// The line of one test.
#[derive(Serialize)]
struct TestFinished<'a> {
    reason: &'static str,
    v: u32,
    package: &'a str,
    target: Target<'a>,
    name: &'a str,
    verdict: Verdict,
    complete: bool,
    /// Why the search ended: `complete`, `bug`, `executions`, `seconds`, `operations`,
    /// `operations-total`, `preemptions`, `interrupted`, `unsupported`, `error`.
    ended: &'static str,
    executions: u64,
    blocked: u64,
    refinements: u64,
    transactions: u64,
    operations: u64,
    /// Walks towards cycles in the order of locks, which are no executions of the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    walks: Option<u64>,
    /// What each part of the search did, where there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part<'a>>,
    /// From the root to the end of the search.
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    restoring: Option<f64>,
    /// All executions with at most so many preemptions were covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proved: Option<Proved>,
    /// As `--search` takes it.
    search: String,
    /// Options of the test's own, as the command line has them.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    options: &'a [String],
    memory_model: &'static str,
    assumptions: Vec<Assumption<'a>>,
    bugs: Vec<Bug<'a>>,
    warnings: Vec<Warning<'a>>,
    /// Where a thread was computing when the time was up, if that ended the search in the middle of
    /// a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    computing: Option<Computing<'a>>,
    /// Present where the verdict is `unsupported`, or an error of ours came in between.
    #[serde(flatten)]
    unsupported: Option<Unsupported<'a>>,
}

#[derive(Serialize)]
struct Target<'a> {
    kind: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct Part<'a> {
    /// As `--search` takes it.
    search: String,
    executions: u64,
    transactions: u64,
    operations: u64,
    seconds: f64,
    /// As of the whole. `operations-total`: its share was taken.
    ended: &'static str,
    /// All executions with at most so many preemptions were covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<u32>,
    /// About the share of everything that it has covered, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// Why it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

#[derive(Serialize)]
struct Computing<'a> {
    message: &'a str,
    sites: Vec<Site<'a>>,
}

#[derive(Serialize)]
struct Assumption<'a> {
    code: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct Bug<'a> {
    id: &'a str,
    code: &'static str,
    kind: BugKind,
    fingerprint: &'a str,
    /// Whether the baseline has it.
    known: bool,
    message: &'a str,
    sites: Vec<Site<'a>>,
    /// Further sentences of the report.
    notes: &'a [String],
    /// The schedule's file, relative to the workspace root where it lies in it; left out where it
    /// could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Cow<'a, str>>,
    /// What the schedule takes, where it was made minimal: all but deaths of the process.
    schedule: Option<Schedule>,
}

#[derive(Serialize)]
struct Schedule {
    /// Switches away from a thread that could have gone on.
    preemptions: u32,
    /// Threads that run before the bug shows.
    threads: u32,
    /// Their steps.
    steps: u64,
    /// No schedule with fewer preemptions shows the bug.
    minimal: bool,
}

#[derive(Serialize)]
struct Warning<'a> {
    code: &'static str,
    kind: WarningKind,
    fingerprint: &'a str,
    /// Whether the baseline has it.
    known: bool,
    /// Whether it fails the test, as was asked for.
    denied: bool,
    message: &'a str,
    sites: Vec<Site<'a>>,
}

#[derive(Serialize)]
struct Site<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    thread: &'a str,
    role: Option<Role>,
    /// What happens there, in words.
    label: &'a str,
    /// The memory order that would have to be stronger there.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<Order>,
}

#[derive(Serialize)]
struct Order {
    /// As std names it.
    has: String,
    /// The weakest that is enough.
    needs: String,
    /// It is the order of a compare-exchange that failed.
    fails: bool,
}

#[derive(Serialize)]
struct Unsupported<'a> {
    /// Whether it is an error of ours.
    error: bool,
    message: &'a str,
    sites: Vec<Site<'a>>,
}

/// The last line.
#[derive(Serialize)]
struct Finished<'a> {
    reason: &'static str,
    v: u32,
    verified: usize,
    passed: usize,
    interrupted: usize,
    failed: usize,
    /// Those that an error of ours ended included.
    unsupported: usize,
    errors: usize,
    /// `failed` tests whose findings are all in the baseline.
    known: usize,
    /// Fingerprints that the baseline has and that were not found in a complete search.
    stale: Vec<&'a str>,
    /// What is explored as written although there is a sync model, and why: a sentence each.
    unmodelled: &'a BTreeSet<&'a str>,
}

/// The line of one test. `root` is the workspace's.
pub fn test_finished(outcome: &Outcome, root: &Path) -> String {
    json(&line(outcome, root))
}

/// The last line.
pub fn finished(tally: &Tally, unmodelled: &BTreeSet<&str>) -> String {
    json(&Finished {
        reason: "finished",
        v: VERSION,
        verified: tally.verified,
        passed: tally.passed,
        interrupted: tally.interrupted,
        failed: tally.failed,
        unsupported: tally.unsupported,
        errors: tally.ended_by_errors,
        known: tally.known,
        stale: tally.stale.iter().map(|entry| entry.fingerprint.as_str()).collect(),
        unmodelled,
    })
}

fn line<'a>(outcome: &'a Outcome, root: &Path) -> TestFinished<'a> {
    let counts = &outcome.counts;
    TestFinished {
        reason: "test-finished",
        v: VERSION,
        package: &outcome.package,
        target: Target { kind: outcome.kind, name: &outcome.target },
        name: &outcome.name,
        verdict: outcome.verdict,
        complete: outcome.ended == Ended::Complete,
        ended: outcome.ended.text(),
        executions: counts.executions,
        blocked: counts.blocked,
        refinements: counts.refinements,
        transactions: counts.transactions,
        operations: counts.operations,
        walks: outcome.walks,
        parts: outcome.parts.iter().map(part).collect(),
        seconds: outcome.seconds,
        restoring: outcome.restoring,
        preemptions: outcome.preemptions,
        proved: outcome.proved,
        search: outcome.search.to_string(),
        options: &outcome.own_options,
        memory_model: MEMORY_MODEL,
        assumptions: outcome.assumptions.iter().map(assumption).collect(),
        bugs: outcome.bugs.iter().map(|found| bug(found, root)).collect(),
        warnings: outcome.warnings.iter().map(warning).collect(),
        computing: outcome
            .computing
            .as_ref()
            .map(|reported| Computing { message: &reported.report.title, sites: sites(reported) }),
        unsupported: unsupported(outcome),
    }
}

fn part(part: &outcome::Part) -> Part<'_> {
    Part {
        search: part.search.to_string(),
        executions: part.counts.executions,
        transactions: part.counts.transactions,
        operations: part.counts.operations,
        seconds: part.seconds,
        ended: part.ended.text(),
        preemptions: part.preemptions,
        share: part.share,
        message: part.reason.as_deref(),
    }
}

fn assumption(reported: &Reported) -> Assumption<'_> {
    Assumption { code: reported.kind.code(), message: &reported.message }
}

fn bug<'a>(bug: &'a FoundBug, root: &Path) -> Bug<'a> {
    Bug {
        id: &bug.id,
        code: bug.kind.code(),
        kind: bug.kind,
        fingerprint: &bug.fingerprint,
        known: bug.known,
        message: &bug.rendered.report.title,
        sites: sites(&bug.rendered),
        notes: &bug.rendered.report.notes,
        replay: bug
            .schedule
            .as_ref()
            .map(|file| file.strip_prefix(root).unwrap_or(file).to_string_lossy()),
        schedule: bug.size.map(schedule),
    }
}

const fn schedule(size: Size) -> Schedule {
    let Size { measure, minimal, .. } = size;
    let (preemptions, threads, steps) = (measure.preemptions, measure.threads, measure.steps);
    Schedule { preemptions, threads, steps, minimal }
}

fn warning(warning: &FoundWarning) -> Warning<'_> {
    Warning {
        code: warning.kind.code(),
        kind: warning.kind,
        fingerprint: &warning.fingerprint,
        known: warning.known,
        denied: warning.denied,
        message: &warning.rendered.report.title,
        sites: sites(&warning.rendered),
    }
}

fn unsupported(outcome: &Outcome) -> Option<Unsupported<'_>> {
    if outcome.verdict != Verdict::Unsupported && outcome.error.is_none() {
        return None;
    }
    let what = outcome.unsupported.as_ref().map(|rendered| {
        let title = &rendered.report.title;
        title.strip_prefix("unsupported: ").unwrap_or(title)
    });
    Some(Unsupported {
        error: outcome.error.is_some(),
        message: outcome.error.as_deref().or(what).unwrap_or_default(),
        sites: outcome.unsupported.as_ref().map_or_else(Vec::new, sites),
    })
}

/// The places of a report whose source is known.
fn sites(rendered: &Rendered) -> Vec<Site<'_>> {
    rendered.report.places.iter().filter_map(site).collect()
}

fn site(place: &Place) -> Option<Site<'_>> {
    let frame = place.frame().filter(|frame| frame.line > 0)?;
    Some(Site {
        file: &frame.file,
        line: frame.line,
        column: frame.column,
        function: &frame.function,
        thread: &place.thread,
        role: place.role,
        label: &place.label,
        order: place.order.map(|Stronger { has, needs, fails }| Order {
            has: format!("{has:?}"),
            needs: format!("{needs:?}"),
            fails,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_protocol::message::Counts;
    use serde_json::json;

    #[test]
    fn a_line_has_every_documented_field() {
        let outcome = Outcome {
            verdict: Verdict::Unsupported,
            ended: Ended::Error,
            counts: Counts { executions: 7, ..Counts::default() },
            error: Some("broken".into()),
            ..Outcome::sample()
        };
        let line = serde_json::to_value(line(&outcome, Path::new("/"))).unwrap();
        for key in [
            "reason",
            "v",
            "package",
            "target",
            "name",
            "verdict",
            "complete",
            "executions",
            "blocked",
            "refinements",
            "transactions",
            "operations",
            "seconds",
            "search",
            "memory_model",
            "assumptions",
            "bugs",
            "warnings",
            "error",
            "message",
        ] {
            assert!(line.get(key).is_some(), "{key} is missing in {line}");
        }
        assert_eq!(line["verdict"], "unsupported");
        assert_eq!((&line["error"], &line["executions"]), (&json!(true), &json!(7)));
    }
}
