//! What a finding is known by from one version of a program to the next: its code and what its
//! places say, not their numbers.
//!
//! The runtime's keys are made of sites, which are numbered anew whenever the program changes.
//! Here, a place is the function and the text of the line, as a reader would recognise it, so that
//! lines can move and other code can change. Baselines and SARIF make their fingerprints of it.

use super::{Place, Report};
use crate::executable::source::{Sources, line_text};
use crate::fingerprint::Fingerprint;
use std::path::Path;

/// Adds what a report is about. Where nothing is known of its places, that is `else_this`.
pub fn add(
    fingerprint: Fingerprint,
    report: &Report,
    sources: &Sources,
    else_this: &str,
) -> Fingerprint {
    let mut places: Vec<String> = report
        .places
        .iter()
        .filter(|place| place.is_primary())
        .filter_map(|p| place(p, sources))
        .collect();
    // Which thread comes first, and how many are at one place, differ from one schedule to the
    // next.
    places.sort();
    places.dedup();
    let mut fingerprint = fingerprint.add(report.code.unwrap_or_default());
    if places.is_empty() {
        fingerprint = fingerprint.add(else_this);
    }
    for place in places {
        fingerprint = fingerprint.add(place);
    }
    fingerprint
}

/// A place in words that stay: what is done there, the function, the line, and which of the equal
/// lines it is.
fn place(place: &Place, sources: &Sources) -> Option<String> {
    let frame = place.frame()?;
    let text = sources.text(Path::new(&frame.file));
    let line =
        text.as_deref().and_then(|text| line_text(text, frame.line)).unwrap_or_default().trim();
    let alike = text.as_deref().map_or(0, |text| alike_before(text, frame.line, line));
    // Where a line has several calls, the name is all that tells them apart besides the column,
    // which moves with renaming.
    let role = place.role.map(|role| format!("{role:?}")).unwrap_or_default();
    Some(format!("{role} {} {line} {alike}", frame.function))
}

/// How many lines between the beginning of the function and this one read the same. (What looks
/// like the beginning of a function may be in a string; then the number is a little less telling,
/// never different from run to run.)
fn alike_before(text: &str, number: u32, line: &str) -> usize {
    let before = text.lines().take((number as usize).saturating_sub(1)).collect::<Vec<_>>();
    let in_function = before.iter().rev().take_while(|line| !begins_function(line));
    in_function.filter(|other| other.trim() == line).count()
}

fn begins_function(line: &str) -> bool {
    line.split_whitespace().any(|word| word == "fn")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executable::symbols::{Frame, Origin};
    use crate::report::Severity;
    use lockred_protocol::message::Role;

    fn identity(source: &str, lines: &[(Role, u32)]) -> String {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x.rs"), source).unwrap();
        let place = |(role, line): &(Role, u32)| Place {
            role: Some(*role),
            thread: "main".into(),
            label: String::new(),
            frames: vec![Frame {
                function: "f".into(),
                file: "x.rs".into(),
                line: *line,
                column: 5,
                origin: Origin::User,
            }],
            order: None,
        };
        let report = Report {
            severity: Severity::Error,
            code: Some("LR0001"),
            title: String::new(),
            places: lines.iter().map(place).collect(),
            notes: Vec::new(),
        };
        add(Fingerprint::new(), &report, &Sources::new(directory.path()), "key").hex()
    }

    const SOURCE: &str = "fn f() {\n    x += 1;\n    y += 1;\n    x += 1;\n}\n";

    #[test]
    fn a_finding_stays_itself_when_lines_move_and_threads_change_places() {
        let here = identity(SOURCE, &[(Role::Write, 2), (Role::Read, 3)]);
        let moved = format!("// More.\nfn g() {{\n    x += 1;\n}}\n{SOURCE}");
        assert_eq!(here, identity(&moved, &[(Role::Write, 6), (Role::Read, 7)]));
        assert_eq!(here, identity(SOURCE, &[(Role::Read, 3), (Role::Write, 2)]));
        assert_eq!(
            here,
            identity(&SOURCE.replace("    y", "  y"), &[(Role::Read, 3), (Role::Write, 2)])
        );
    }

    #[test]
    fn findings_at_other_lines_are_others_also_where_these_read_the_same() {
        let all = [
            identity(SOURCE, &[(Role::Write, 2)]),
            identity(SOURCE, &[(Role::Write, 3)]),
            identity(SOURCE, &[(Role::Write, 4)]),
            identity(SOURCE, &[(Role::Read, 2)]),
            identity(SOURCE, &[]),
        ];
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn where_a_lock_was_taken_does_not_matter() {
        let here = identity(SOURCE, &[(Role::Waits, 2)]);
        assert_eq!(here, identity(SOURCE, &[(Role::Waits, 2), (Role::Holds, 3)]));
    }
}
