//! Holding what lockred said about the corpus against what the directives say.

use crate::directive::Expectation;
use crate::outcome::TestFinished;
use crate::program::Program;
use lockred_protocol::codes::{AssumptionKind, Verdict, WarningKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// One program that got another verdict than it should.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The test.
    pub name: String,
    /// What the directives say.
    pub expected: String,
    /// What lockred said.
    pub got: String,
}

/// All differences, by name.
#[must_use]
pub fn differences(programs: &[Program], tests: &[&TestFinished]) -> Vec<Difference> {
    let mut by_name: BTreeMap<&str, &TestFinished> =
        tests.iter().map(|test| (test.name.as_str(), *test)).collect();
    let mut differences = Vec::new();
    for program in programs {
        let found = match by_name.remove(program.name.as_str()) {
            Some(test) => difference(program, test),
            None => Some(("a verdict".to_owned(), "not reported".to_owned())),
        };
        let name = program.name.clone();
        differences.extend(found.map(|(expected, got)| Difference { name, expected, got }));
    }
    differences.extend(by_name.into_values().map(|test| Difference {
        name: test.name.clone(),
        expected: "no such test".to_owned(),
        got: summary(test),
    }));
    differences.sort_by(|a, b| a.name.cmp(&b.name));
    differences
}

/// What was expected and what came, if they differ.
fn difference(program: &Program, test: &TestFinished) -> Option<(String, String)> {
    let fits = match &program.expectation {
        Expectation::Verified => {
            test.verdict == Verdict::Verified && test.complete && !warned(test, WarningKind::Leak)
        }
        Expectation::Passed(kind) => {
            let rests_on_it = test.assumptions.iter().any(|a| a.code == kind.code());
            test.verdict == Verdict::Passed && test.complete && rests_on_it
        }
        Expectation::Clean => {
            matches!(test.verdict, Verdict::Verified | Verdict::Passed)
                && !warned(test, WarningKind::Leak)
        }
        Expectation::Warned(kind) => {
            matches!(test.verdict, Verdict::Verified | Verdict::Passed) && warned(test, *kind)
        }
        Expectation::Failed(kinds) => {
            test.verdict == Verdict::Failed && test.bugs.iter().any(|bug| kinds.contains(&bug.kind))
        }
        Expectation::FailedOrPassed(kinds, code) => match test.verdict {
            Verdict::Failed => test.bugs.iter().any(|bug| kinds.contains(&bug.kind)),
            Verdict::Passed => test.assumptions.iter().any(|a| a.code == code.code()),
            Verdict::Verified | Verdict::Unsupported | Verdict::Interrupted => false,
        },
        Expectation::Unsupported(word) => {
            let names_it = test.others.values().any(|value| value.to_string().contains(word));
            test.verdict == Verdict::Unsupported && !test.error && names_it
        }
    };
    // A cycle of locks, and a lock that is not held everywhere, are warned of where that is
    // expected, and nowhere else.
    let exact = [WarningKind::LockOrder, WarningKind::LockingDiscipline];
    let unexpected = |kind: &WarningKind| {
        program.expectation != Expectation::Warned(*kind) && warned(test, *kind)
    };
    let fits = fits && !exact.iter().any(unexpected);
    if !fits {
        return Some((describe(&program.expectation), summary(test)));
    }
    let named: BTreeSet<u32> = test
        .bugs
        .iter()
        .flat_map(|bug| &bug.sites)
        .filter(|site| site.file == program.file)
        .map(|site| site.line)
        .collect();
    if test.verdict == Verdict::Failed && !program.bug_lines.iter().all(|line| named.contains(line))
    {
        let sites: Vec<String> = (test.bugs.iter().flat_map(|bug| &bug.sites))
            .map(|site| format!("{} {}:{}", site.role, site.file, site.line))
            .collect();
        return Some((format!("lines {:?}", program.bug_lines), sites.join(", ")));
    }
    let schedules = || test.bugs.iter().map(|bug| bug.schedule);
    if let Some(wanted) = program.preemptions
        && !schedules().all(|found| found.is_some_and(|s| s.preemptions == wanted && s.minimal))
    {
        let expected = format!("a minimal schedule with {wanted} preemptions");
        return Some((expected, format!("{:?}", schedules().collect::<Vec<_>>())));
    }
    let range = program.executions.as_ref().filter(|range| !range.contains(&test.executions))?;
    Some((format!("{range:?} executions"), format!("{} executions", test.executions)))
}

/// Whether a test has a warning of a kind.
fn warned(test: &TestFinished, kind: WarningKind) -> bool {
    test.warnings.iter().any(|warning| warning["code"] == kind.code())
}

/// An expectation in words.
fn describe(expectation: &Expectation) -> String {
    match expectation {
        Expectation::Verified => "verified, complete".to_owned(),
        Expectation::Passed(kind) => format!("passed, complete, {}", AssumptionKind::code(*kind)),
        Expectation::Clean => "verified or passed".to_owned(),
        Expectation::Warned(kind) => format!("verified or passed, warned: {}", kind.code()),
        Expectation::Failed(kinds) => format!("failed {kinds:?}"),
        Expectation::FailedOrPassed(kinds, code) => {
            format!("failed {kinds:?}, or passed, {}", code.code())
        }
        Expectation::Unsupported(word) => format!("unsupported, naming {word}"),
    }
}

/// A verdict in a line.
#[must_use]
pub fn summary(test: &TestFinished) -> String {
    let TestFinished { verdict, complete, executions, seconds, .. } = test;
    let mut text = format!("{verdict:?}, {executions} executions in {seconds:.2} s");
    text.push_str(if *complete { "" } else { ", incomplete" });
    text.push_str(if test.error { ", an error of lockred" } else { "" });
    for bug in &test.bugs {
        let _ = write!(text, ", {:?}: {}", bug.kind, bug.message);
    }
    for assumption in &test.assumptions {
        let _ = write!(text, ", {}", assumption.code);
    }
    for warning in &test.warnings {
        let _ = write!(text, ", {}", warning["message"]);
    }
    if *verdict == Verdict::Unsupported {
        for (name, value) in &test.others {
            let _ = write!(text, ", {name} {value}");
        }
    }
    text
}

/// The differences as a table.
#[must_use]
pub fn table(differences: &[Difference]) -> String {
    let width = |column: fn(&Difference) -> &str| {
        differences.iter().map(|d| column(d).chars().count()).max().unwrap_or(0)
    };
    let (name, expected) = (width(|d| &d.name), width(|d| &d.expected));
    let mut table = String::new();
    for d in differences {
        let _ = writeln!(table, "{:name$}  {:expected$}  {}", d.name, d.expected, d.got);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome;

    const RACE: &str = r#"{"reason":"test-finished","v":1,"package":"p","target":{"kind":"lib","name":"p"},
"name":"m::f","verdict":"failed","complete":false,"executions":2,"blocked":0,"refinements":0,"transactions":3,
"operations":4,"seconds":0.5,"search":"dpor","memory_model":"sc","assumptions":[],"warnings":[],"bugs":[{"id":"1a2b",
"code":"LR0001","kind":"data-race","fingerprint":"f","known":false,"message":"race","replay":"r.json","sites":[{"file":"src/m.rs",
"line":4,"column":1,"function":"m::f","thread":"main","role":"write"}],"schedule":{"preemptions":1,"threads":2,"steps":5,"minimal":true}}]}"#;

    fn compared(directives: &str) -> Vec<Difference> {
        let text = format!("{directives}#[test]\nfn f() {{\n    race(); //~ bug\n}}\n");
        let programs = crate::program::parse("m", &text).unwrap();
        differences(&programs, &outcome::tests(&outcome::parse(&race(directives)).unwrap()))
    }

    /// The race at the line where it is after one directive, or after two that begin with a
    /// number of preemptions.
    fn race(directives: &str) -> String {
        let line = if directives.starts_with("//@ preemptions") { 5 } else { 4 };
        RACE.replace('\n', "").replace("\"line\":4", &format!("\"line\":{line}"))
    }

    #[test]
    fn what_fits_is_no_difference() {
        assert_eq!(compared("//@ failed data-race\n"), []);
    }

    #[test]
    fn another_kind_another_line_and_too_many_executions_are_differences() {
        assert_eq!(compared("//@ failed deadlock\n")[0].expected, "failed [Deadlock]");
        assert_eq!(compared("//@ unsupported fork\n").len(), 1);
        assert_eq!(compared("\n//@ failed data-race\n")[0].expected, "lines [5]");
        let bounded = compared("//@ executions <= 1\n//@ failed data-race\n");
        assert_eq!(bounded[0].expected, "lines [5]");
    }

    #[test]
    fn another_number_of_preemptions_is_a_difference() {
        assert_eq!(compared("//@ preemptions = 1\n//@ failed data-race\n"), []);
        assert_eq!(compared("//@ preemptions = 0\n//@ failed data-race\n").len(), 1);
    }

    #[test]
    fn a_missing_and_a_surplus_test_are_differences() {
        let lines = outcome::parse(&RACE.replace('\n', "")).unwrap();
        assert_eq!(differences(&[], &outcome::tests(&lines))[0].expected, "no such test");
        let programs = crate::program::parse("m", "//@ clean\n#[test]\nfn g() {}\n").unwrap();
        assert_eq!(differences(&programs, &[])[0].got, "not reported");
    }
}
