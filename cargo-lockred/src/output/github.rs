//! Workflow commands of GitHub Actions, which it shows as annotations beside the lines of a change.

use super::run::Run;
use crate::outcome::confirmation::Status;
use crate::outcome::confirmation::Warned;
use crate::outcome::{Outcome, Rendered};
use crate::report::Severity;
use std::fmt::Write as _;

/// The annotations of one test: what was found and is not known yet, and why it could not be
/// checked.
pub fn annotations(outcome: &Outcome, run: &Run) -> String {
    let mut text = String::new();
    for bug in outcome.bugs.iter().filter(|bug| !bug.known) {
        let replay = bug.replay().map(|replay| format!("replay: {replay}")).unwrap_or_default();
        text.push_str(&annotation(&bug.rendered, outcome, &replay, run));
    }
    for warning in outcome.warnings.iter().filter(|warning| !warning.known) {
        text.push_str(&annotation(&warning.rendered, outcome, "", run));
    }
    for what in outcome.unsupported.iter().chain(&outcome.computing) {
        text.push_str(&annotation(what, outcome, "", run));
    }
    if let Some(error) = &outcome.error {
        let title = property(&format!("error of lockred in {}", outcome.name));
        let _ = writeln!(text, "::error title={title}::{}", data(error));
    }
    text
}

/// The annotation of a warning of an audit; none of what is known, and of what no schedule of the
/// tests shows.
pub fn warned(warned: &Warned, run: &Run) -> String {
    let Warned { finding, status, .. } = warned;
    if finding.known || *status == Status::Excluded {
        return String::new();
    }
    let command = if finding.denied { "error" } else { "warning" };
    let mut properties = Vec::new();
    if let Some((_, place)) = finding.places.first() {
        let file = run.relative(&place.file);
        properties.push(format!("file={}", property(&file.to_string_lossy())));
        properties.push(format!("line={}", place.line));
    }
    properties
        .push(format!("title={}", property(&format!("{} in {}", finding.code, finding.subject))));
    let mut lines = vec![finding.message.clone()];
    lines.extend(finding.places.iter().map(|(label, place)| {
        format!("{label}: {}:{}", run.relative(&place.file).display(), place.line)
    }));
    lines.extend(finding.notes.iter().map(|note| format!("note: {note}")));
    lines.push(format!("note: {}", status.text()));
    format!("::{command} {}::{}\n", properties.join(","), data(&lines.join("\n")))
}

/// One annotation. It stands at the first place; the others are reported in its text.
fn annotation(rendered: &Rendered, outcome: &Outcome, last: &str, run: &Run) -> String {
    let report = &rendered.report;
    let command = match report.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut properties = Vec::new();
    let placed = |place: &&crate::report::Place| place.frame().is_some_and(|frame| frame.line > 0);
    if let Some(frame) = report.places.iter().find(placed).and_then(|place| place.frame()) {
        properties.push(format!("file={}", property(&run.file(frame).to_string_lossy())));
        properties.push(format!("line={}", frame.line));
        // GitHub takes columns only where the annotation ends on the line that it begins on.
        properties.push(format!("endLine={}", frame.line));
        if let Some((first, end)) = run.columns(frame) {
            properties.push(format!("col={first}"));
            properties.push(format!("endColumn={end}"));
        }
    }
    let code = report.code.map(|code| format!("{code} in ")).unwrap_or_default();
    properties.push(format!("title={}", property(&format!("{code}{}", outcome.name))));
    let mut lines = vec![report.title.clone()];
    for place in report.places.iter().filter(placed) {
        let frame = place.frame().expect("placed");
        let file = run.file(frame);
        lines.push(format!("{}: {}:{}", place.label, file.display(), frame.line));
    }
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    lines.extend((!last.is_empty()).then(|| last.to_owned()));
    format!("::{command} {}::{}\n", properties.join(","), data(&lines.join("\n")))
}

/// The text of a command, escaped as GitHub takes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, in which two more characters are escaped.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_or_a_property_is_escaped() {
        assert_eq!(data("100 %\r\na: b, c"), "100 %25%0D%0Aa: b, c");
        assert_eq!(property("a::b,\n%"), "a%3A%3Ab%2C%0A%25");
    }
}
