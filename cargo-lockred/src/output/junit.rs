//! A JUnit report, with the names and shape that nextest gives it: a suite a target, a case a test.

use super::run::{End, Run};
use crate::audit::human;
use crate::outcome::confirmation::Warned;
use crate::outcome::{Ended, Outcome};
use crate::printing::style::Style;
use crate::printing::utc;
use lockred_protocol::codes::Verdict;
use std::fmt::Write as _;

/// The whole document.
pub fn document(run: &Run) -> String {
    let mut suites: Vec<(String, Vec<&Outcome>)> = Vec::new();
    for outcome in &run.outcomes {
        let name = suite(outcome);
        match suites.iter_mut().find(|(known, _)| *known == name) {
            Some((_, outcomes)) => outcomes.push(outcome),
            None => suites.push((name, vec![outcome])),
        }
    }
    let begun = utc::text(run.begun);
    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lockred\"");
    // An error that ended the check is one of the whole.
    let own = usize::from(matches!(run.end, End::Error { .. }));
    counts(&mut text, &run.outcomes.iter().collect::<Vec<_>>(), own, &run.audited);
    let _ = writeln!(text, " timestamp=\"{begun}\">");
    for (name, outcomes) in &suites {
        let _ = write!(text, "    <testsuite name=\"{}\"", attribute(name));
        counts(&mut text, outcomes, 0, &[]);
        text.push_str(">\n");
        for outcome in outcomes {
            case(&mut text, outcome, name);
        }
        text.push_str("    </testsuite>\n");
    }
    audited(&mut text, &run.audited);
    text.push_str(&ended(&run.end));
    text.push_str("</testsuites>\n");
    text
}

/// What a suite is called: nextest's name of an executable.
fn suite(outcome: &Outcome) -> String {
    let Outcome { package, kind, target, .. } = outcome;
    match *kind {
        "lib" => package.clone(),
        "test" => format!("{package}::{target}"),
        kind => format!("{package}::{kind}/{target}"),
    }
}

/// What tests took together. (The sum of no numbers is a negative zero.)
fn seconds(outcomes: &[&Outcome]) -> f64 {
    outcomes.iter().map(|outcome| outcome.seconds).fold(0.0, |all, one| all + one)
}

fn counts(text: &mut String, outcomes: &[&Outcome], own: usize, audited: &[Warned]) {
    let number = |what: Fate| outcomes.iter().filter(|outcome| fate(outcome) == what).count();
    let seconds = seconds(outcomes);
    let denied = audited.iter().filter(|warned| warned.finding.denied).count();
    let (failures, errors) = (number(Fate::Failure) + denied, number(Fate::Error) + own);
    let skipped = number(Fate::Skipped);
    let tests = outcomes.len() + own + audited.len();
    let _ = write!(
        text,
        " tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\""
    );
}

/// The warnings of an audit, a case each, in one suite a package: those fail that are denied.
fn audited(text: &mut String, warned: &[Warned]) {
    for of_package in warned.chunk_by(|one, other| one.package == other.package) {
        let suite = attribute(&format!("{}::audit", of_package[0].package));
        let _ = write!(text, "    <testsuite name=\"{suite}\"");
        counts(text, &[], 0, of_package);
        text.push_str(">\n");
        for Warned { finding, status, .. } in of_package {
            let (code, message) = (finding.code, attribute(&finding.message));
            let _ = writeln!(
                text,
                "        <testcase name=\"{code}: {message}\" classname=\"{suite}\" time=\"0.000\">"
            );
            let page =
                format!("{}    = {}", human::warning(finding, Style::plain(), true), status.text());
            let (name, attributes) = match finding.denied {
                true => ("failure", format!(" message=\"{message}\" type=\"{code}\"")),
                false => ("system-out", String::new()),
            };
            let page = content_of(&page);
            let _ = writeln!(text, "            <{name}{attributes}>{page}</{name}>");
            text.push_str("        </testcase>\n");
        }
        text.push_str("    </testsuite>\n");
    }
}

/// What JUnit can say of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Success,
    Failure,
    /// It could not be checked.
    Error,
    /// It was not checked to its end, as the user interrupted it.
    Skipped,
}

fn fate(outcome: &Outcome) -> Fate {
    match outcome.verdict {
        Verdict::Failed if outcome.fails() => Fate::Failure,
        Verdict::Unsupported => Fate::Error,
        _ if outcome.error.is_some() => Fate::Error,
        _ if outcome.ended == Ended::Interrupted => Fate::Skipped,
        _ => Fate::Success,
    }
}

fn case(text: &mut String, outcome: &Outcome, suite: &str) {
    let (name, suite) = (attribute(&outcome.name), attribute(suite));
    let seconds = outcome.seconds;
    let _ = writeln!(
        text,
        "        <testcase name=\"{name}\" classname=\"{suite}\" time=\"{seconds:.3}\">"
    );
    let mut element = |name: &str, message: &str, kind: &str, content: &str| {
        let (message, content) = (attribute(message), content_of(content));
        let _ = writeln!(
            text,
            "            <{name} message=\"{message}\" type=\"{kind}\">{content}</{name}>"
        );
    };
    match fate(outcome) {
        Fate::Success => {}
        Fate::Failure => {
            let failing: Vec<_> = outcome.failing().collect();
            let title = failing.first().map_or("", |found| found.report.title.as_str());
            let message = match failing.len() {
                0 | 1 => title.to_owned(),
                more => format!("{title} (and {} more)", more - 1),
            };
            let code = failing.first().and_then(|found| found.report.code).unwrap_or("bug");
            let texts: Vec<&str> = failing.iter().map(|found| found.plain.as_str()).collect();
            element("failure", &message, code, &texts.join("\n\n"));
        }
        Fate::Error => match (&outcome.error, &outcome.unsupported) {
            (Some(error), _) => element("error", "this is an error of lockred", "error", error),
            (None, Some(what)) => {
                element("error", &what.report.title, "unsupported", &what.plain);
            }
            (None, None) => element("error", "unsupported", "unsupported", ""),
        },
        Fate::Skipped => element("skipped", "interrupted", "interrupted", ""),
    }
    let _ =
        writeln!(text, "            <system-out>{}</system-out>", content_of(&reported(outcome)));
    text.push_str("        </testcase>\n");
}

/// What is reported of every test: its verdict, what that rests on, and what fails nothing.
fn reported(outcome: &Outcome) -> String {
    let verdict = match outcome.verdict {
        Verdict::Verified => "verified",
        Verdict::Passed => "passed",
        Verdict::Interrupted => "interrupted",
        Verdict::Failed => "failed",
        Verdict::Unsupported => "unsupported",
    };
    let (executions, ended) = (outcome.counts.executions, outcome.ended.text());
    let walks = outcome.walks.map_or_else(String::new, |walks| format!(", {walks} walks"));
    let mut text = format!("{verdict}: {executions} executions{walks}, ended: {ended}");
    for assumption in &outcome.assumptions {
        let _ = write!(text, "\nassuming {}: {}", assumption.kind.code(), assumption.message);
    }
    for known in outcome.known() {
        let _ = write!(text, "\n\nknown: {}", known.plain);
    }
    let warnings = outcome.warnings.iter().filter(|warning| !warning.known && !warning.denied);
    for warning in warnings {
        let _ = write!(text, "\n\n{}", warning.rendered.plain);
    }
    text
}

/// The error that ended the check, as a case of its own: readers that know nothing of our exit
/// status show it.
fn ended(end: &End) -> String {
    let End::Error { message, .. } = end else { return String::new() };
    let (short, long) = (attribute(message), content_of(message));
    format!(
        "    <testsuite name=\"lockred\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\">\n        \
         <testcase name=\"check\" classname=\"lockred\" time=\"0.000\">\n            \
         <error message=\"{short}\" type=\"error\">{long}</error>\n        </testcase>\n    </testsuite>\n"
    )
}

/// Text between tags.
fn content_of(text: &str) -> String {
    escaped(text, false)
}

/// The value of an attribute. Line breaks in it would be read as spaces.
fn attribute(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if attribute => escaped.push_str("&quot;"),
            '\n' if attribute => escaped.push_str("&#10;"),
            // XML 1.0 has no way to write these.
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            '\r' => escaped.push_str("&#13;"),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_tests_took_no_time() {
        assert_eq!(format!("{:.3}", seconds(&[])), "0.000");
    }

    #[test]
    fn what_xml_cannot_say_is_replaced() {
        assert_eq!(content_of("a<b>&\"\x1b[1m\n"), "a&lt;b&gt;&amp;\"\u{fffd}[1m\n");
        assert_eq!(attribute("\"x\"\ny"), "&quot;x&quot;&#10;y");
    }
}
