//! A check as a SARIF 2.1.0 log: a result a finding, its interleaving as a code flow with a thread
//! flow a thread.
//!
//! Paths are relative to `SRCROOT`, the root of the repository. What could not be checked is no
//! result but a notification of the run.

use super::run::{End, Run};
use crate::audit::sarif as audit;
use crate::executable::symbols::{Frame, Origin};
use crate::exit::Exit;
use crate::outcome::confirmation::Status;
use crate::outcome::confirmation::Warned;
use crate::outcome::{FoundBug, FoundWarning, Outcome, Rendered};
use crate::printing::sarif::{
    FINGERPRINT, ROOT, message, note_baseline, of_run, rule_index, tool, uri, without_repetition,
};
use crate::printing::utc;
use crate::report::render::is_harness;
use crate::report::thread_flows::{FlowStep, ThreadFlow};
use crate::report::{Place, Report, Severity};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::SystemTime;

/// The whole document.
pub fn document(run: &Run) -> String {
    let mut log = json!({
        "tool": tool(),
        "invocations": [invocation(run)],
        "columnKind": "unicodeCodePoints",
        "results": all_results(run),
    });
    if !run.source_root.as_os_str().is_empty() {
        let mut root = uri(&run.source_root);
        root.push('/');
        log["originalUriBaseIds"] = json!({ ROOT: { "uri": format!("file://{root}") } });
    }
    of_run(&log)
}

/// How we were run, and what went wrong.
fn invocation(run: &Run) -> Value {
    let mut notifications: Vec<Value> =
        run.outcomes.iter().flat_map(|outcome| notifications(outcome, run)).collect();
    let (successful, exit) = match &run.end {
        End::UnderWay => {
            notifications.push(notification(
                "error",
                "the check did not come to its end",
                &[],
                run,
            ));
            (false, None)
        }
        End::Finished(exit) => (*exit != Exit::Interrupted, Some(*exit)),
        End::Error { exit, message } => {
            notifications.push(notification("error", message, &[], run));
            (false, Some(*exit))
        }
    };
    let mut invocation = json!({
        "executionSuccessful": successful,
        "startTimeUtc": utc::text(run.begun),
        "endTimeUtc": utc::text(SystemTime::now()),
        "toolExecutionNotifications": notifications,
    });
    if let Some(exit) = exit {
        invocation["exitCode"] = (exit as u8).into();
    }
    invocation
}

fn notifications(outcome: &Outcome, run: &Run) -> Vec<Value> {
    let mut notifications = Vec::new();
    for what in outcome.unsupported.iter().chain(&outcome.computing) {
        let text = format!("{}: {}", outcome.name, what.report.title);
        notifications.push(notification("warning", &text, &what.report.places, run));
    }
    if let Some(error) = &outcome.error {
        let text = format!("{}: error of lockred: {error}", outcome.name);
        notifications.push(notification("error", &text, &[], run));
    }
    notifications
}

fn notification(level: &str, text: &str, places: &[Place], run: &Run) -> Value {
    let mut notification = json!({ "level": level, "message": message(text) });
    let locations: Vec<Value> = places.iter().filter_map(|p| placed(p, run)).take(1).collect();
    if !locations.is_empty() {
        notification["locations"] = locations.into();
    }
    notification
}

/// What the tests show, and what an audit warns of.
fn all_results(run: &Run) -> Vec<Value> {
    let of_tests = run.outcomes.iter().flat_map(|outcome| results(outcome, run));
    let of_audit = run.audited.iter().map(|warned| {
        let Warned { package, finding, status, tests } = warned;
        let file = |file: &str| run.relative(file);
        let mut result = audit::result(finding, package, run.compared, &file);
        if *status == Status::Excluded {
            result["level"] = "note".into();
        }
        result["properties"]["status"] = status.name().into();
        result["properties"]["tests"] = json!(tests);
        result
    });
    of_tests.chain(of_audit).collect()
}

fn results(outcome: &Outcome, run: &Run) -> Vec<Value> {
    let bugs = outcome.bugs.iter().map(|bug| bug_result(bug, outcome, run));
    let warnings = outcome.warnings.iter().map(|warning| warning_result(warning, outcome, run));
    bugs.chain(warnings).collect()
}

fn bug_result(bug: &FoundBug, outcome: &Outcome, run: &Run) -> Value {
    let mut result = result(&bug.rendered, &bug.fingerprint, bug.known, outcome, run);
    if let Some(replay) = bug.replay() {
        result["properties"]["replay"] = replay.into();
    }
    let flows: Vec<Value> =
        bug.thread_flows.iter().filter_map(|flow| thread_flow(flow, run)).collect();
    if !flows.is_empty() {
        result["codeFlows"] = json!([{ "threadFlows": flows }]);
    }
    result
}

fn warning_result(warning: &FoundWarning, outcome: &Outcome, run: &Run) -> Value {
    result(&warning.rendered, &warning.fingerprint, warning.known, outcome, run)
}

/// What bugs and warnings have in common.
fn result(
    rendered: &Rendered,
    fingerprint: &str,
    known: bool,
    outcome: &Outcome,
    run: &Run,
) -> Value {
    let report = &rendered.report;
    let code = report.code.unwrap_or_default();
    let mut result = json!({
        "ruleId": code,
        "level": match report.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "message": message(&sentences(report, outcome)),
        "partialFingerprints": { FINGERPRINT: fingerprint },
        "properties": {
            "package": outcome.package,
            "target": { "kind": outcome.kind, "name": outcome.target },
            "test": outcome.name,
        },
    });
    if let Some(index) = rule_index(code) {
        result["ruleIndex"] = index.into();
    }
    let mut locations = report.places.iter().filter_map(|place| placed(place, run));
    if let Some(first) = locations.next() {
        result["locations"] = json!([first]);
    }
    let others = without_repetition(locations);
    if !others.is_empty() {
        result["relatedLocations"] = others.into();
    }
    let stacks = without_repetition(
        report.places.iter().filter_map(|place| stack(&place.label, &place.frames, run)),
    );
    if !stacks.is_empty() {
        result["stacks"] = stacks.into();
    }
    note_baseline(&mut result, run.compared, known);
    result
}

/// The text of a result: the title, the test, the notes.
fn sentences(report: &Report, outcome: &Outcome) -> String {
    let mut text = format!("{} (in the test {})", report.title, outcome.name);
    for note in &report.notes {
        let _ = write!(text, "\n{note}");
    }
    text
}

/// A place of a report as a location.
fn placed(place: &Place, run: &Run) -> Option<Value> {
    let frame = place.frame().filter(|frame| frame.line > 0)?;
    let mut location = location(frame, run)?;
    location["message"] = message(&place.label);
    Some(location)
}

fn location(frame: &Frame, run: &Run) -> Option<Value> {
    if frame.file.is_empty() {
        return None;
    }
    let file = run.file(frame);
    let mut artifact = Map::new();
    if file.is_absolute() {
        artifact.insert("uri".into(), format!("file://{}", uri(&file)).into());
    } else {
        artifact.insert("uri".into(), uri(&file).into());
        artifact.insert("uriBaseId".into(), ROOT.into());
    }
    let mut physical = json!({ "artifactLocation": artifact });
    if frame.line > 0 {
        physical["region"] = region(frame, run);
    }
    let function = json!({ "fullyQualifiedName": frame.function, "kind": "function" });
    Some(json!({ "physicalLocation": physical, "logicalLocations": [function] }))
}

fn region(frame: &Frame, run: &Run) -> Value {
    match run.columns(frame) {
        Some((first, end)) => json!({
            "startLine": frame.line,
            "startColumn": first,
            "endLine": frame.line,
            "endColumn": end,
        }),
        None if frame.column > 0 => {
            json!({ "startLine": frame.line, "startColumn": frame.column })
        }
        None => json!({ "startLine": frame.line }),
    }
}

/// A stack. What std and the harness do around the program is left out, unless there is nothing
/// else.
fn stack(label: &str, frames: &[Frame], run: &Run) -> Option<Value> {
    let of_program = |frame: &&Frame| matches!(frame.origin, Origin::User | Origin::Dependency);
    let all = !frames.iter().any(|frame| of_program(&frame));
    let frames: Vec<Value> = frames
        .iter()
        .filter(|frame| !is_harness(frame) && (all || of_program(frame)))
        .filter_map(|frame| Some(json!({ "location": location(frame, run)? })))
        .collect();
    (!frames.is_empty()).then(|| json!({ "message": message(label), "frames": frames }))
}

fn thread_flow(flow: &ThreadFlow, run: &Run) -> Option<Value> {
    let locations: Vec<Value> = flow.steps.iter().filter_map(|it| step(it, run)).collect();
    let name = &flow.thread;
    let flow = || json!({ "id": name, "message": message(name), "locations": locations });
    (!locations.is_empty()).then(flow)
}

fn step(flow_step: &FlowStep, run: &Run) -> Option<Value> {
    let mut place = location(&flow_step.frame, run)?;
    place["message"] = message(&flow_step.label);
    let mut step = json!({
        "executionOrder": flow_step.order,
        "importance": if flow_step.stack.is_some() { "essential" } else { "important" },
        "location": place,
    });
    if let Some(stack) = flow_step.stack.as_ref().and_then(|f| stack(&flow_step.label, f, run)) {
        step["stack"] = stack;
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_under_way_is_reported_as_one_that_did_not_succeed() {
        let log: Value = serde_json::from_str(&document(&Run::new(false))).unwrap();
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
        assert_eq!(log["runs"][0]["results"], json!([]));
    }
}
