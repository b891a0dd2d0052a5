//! JSON lines on stdout: one object a test, and one at the end.

use crate::check::outcome::{FoundBug, Outcome, Rendered};
use crate::check::tally::Tally;
use crate::cli::check::CheckOptions;
use crate::error::{Error, Result};
use crate::report::Place;
use lockred_trace::codes::Verdict;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Version of the lines.
const VERSION: u32 = 1;
/// The memory model that is explored.
const MEMORY_MODEL: &str = "sc";

/// Prints the line of one test.
///
/// # Errors
/// When stdout cannot be written.
pub fn test_finished(outcome: &Outcome, options: &CheckOptions) -> Result<()> {
    print(&line(outcome, options.search.strategy.text()))
}

/// Prints the last line.
///
/// # Errors
/// When stdout cannot be written.
pub fn finished(tally: &Tally) -> Result<()> {
    print(&json!({
        "reason": "finished",
        "v": VERSION,
        "verified": tally.verified,
        "passed": tally.passed,
        "failed": tally.failed,
        "unsupported": tally.unsupported,
    }))
}

fn print(value: &Value) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{value}").and_then(|()| stdout.flush());
    written.map_err(|e| Error::ours(format!("cannot write to standard output: {e}")))
}

/// The line of one test. Beyond the documented fields: `ended` says why the search ended; an `unsupported` test has
/// `error` (whether it is an error of ours) and `message`.
fn line(outcome: &Outcome, strategy: &str) -> Value {
    let mut line = Map::new();
    let mut put = |key: &str, value: Value| line.insert(key.into(), value);
    put("reason", "test-finished".into());
    put("v", VERSION.into());
    put("package", outcome.package.as_str().into());
    put("target", json!({ "kind": outcome.kind, "name": outcome.target }));
    put("name", outcome.name.as_str().into());
    put("verdict", json!(outcome.verdict));
    put("complete", (outcome.ended == crate::check::outcome::Ended::Complete).into());
    put("ended", outcome.ended.text().into());
    let counts = &outcome.counts;
    put("executions", counts.executions.into());
    put("blocked", counts.blocked.into());
    put("refinements", counts.refinements.into());
    put("transactions", counts.transactions.into());
    put("operations", counts.operations.into());
    put("seconds", outcome.seconds.into());
    put("strategy", strategy.into());
    put("memory_model", MEMORY_MODEL.into());
    let assumption = |told: &crate::check::outcome::Told| json!({ "code": told.kind.code(), "message": told.message });
    put("assumptions", outcome.assumptions.iter().map(assumption).collect());
    put("bugs", outcome.bugs.iter().map(bug).collect());
    let warnings = outcome.warnings.iter().map(|warning| {
        json!({
            "code": warning.kind.code(),
            "kind": warning.kind,
            "message": warning.rendered.report.title,
            "sites": sites(&warning.rendered),
        })
    });
    put("warnings", warnings.collect());
    if outcome.verdict == Verdict::Unsupported || outcome.error.is_some() {
        put("error", outcome.error.is_some().into());
        let what = outcome.unsupported.as_ref().map(|rendered| {
            let title = &rendered.report.title;
            title.strip_prefix("unsupported: ").unwrap_or(title)
        });
        put("message", outcome.error.as_deref().or(what).unwrap_or_default().into());
        put("sites", outcome.unsupported.as_ref().map_or_else(|| json!([]), sites));
    }
    Value::Object(line)
}

fn bug(bug: &FoundBug) -> Value {
    json!({
        "id": bug.id,
        "code": bug.kind.code(),
        "kind": bug.kind,
        "fingerprint": bug.fingerprint,
        "message": bug.rendered.report.title,
        "sites": sites(&bug.rendered),
        "replay": bug.schedule.to_string_lossy(),
    })
}

/// The places of a report whose source is known.
fn sites(rendered: &Rendered) -> Value {
    let site = |place: &Place| {
        let frame = place.frame().filter(|frame| frame.line > 0)?;
        Some(json!({
            "file": frame.file,
            "line": frame.line,
            "column": frame.column,
            "function": frame.function,
            "thread": place.thread,
            "role": place.role.map_or(json!("unsupported"), |role| json!(role)),
        }))
    };
    rendered.report.places.iter().filter_map(site).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::outcome::Ended;
    use lockred_trace::message::Counts;

    #[test]
    fn a_line_has_every_documented_field() {
        let outcome = Outcome {
            package: "p".into(),
            kind: "lib",
            target: "p".into(),
            name: "t".into(),
            verdict: Verdict::Unsupported,
            ended: Ended::Error,
            counts: Counts { executions: 7, ..Counts::default() },
            seconds: 0.5,
            assumptions: Vec::new(),
            bugs: Vec::new(),
            warnings: Vec::new(),
            unsupported: None,
            error: Some("broken".into()),
        };
        let line = line(&outcome, "dpor");
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
            "strategy",
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
