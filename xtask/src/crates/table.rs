//! The tables in Markdown.

use super::bugs::{Outcome, Row};
use super::check::Checked;
use super::expectations::accounts;
use super::list::Published;
use super::record::Record;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Tests that a note names; there may be many of which there is one thing to say.
const NAMED: usize = 5;

/// How many tests came out how.
#[derive(Default, PartialEq, Debug)]
struct Counts {
    verified: usize,
    /// Passed, all interleavings covered, under assumptions.
    assuming: usize,
    /// Passed within bounds.
    bounded: usize,
    failed: usize,
    unsupported: usize,
    /// Ended by an error of ours.
    crashed: usize,
}

fn counts(records: &[Record]) -> Counts {
    let mut counts = Counts::default();
    for record in records {
        let count = match record.verdict.as_str() {
            "verified" => &mut counts.verified,
            "passed" if record.is_bounded() => &mut counts.bounded,
            "passed" => &mut counts.assuming,
            "failed" => &mut counts.failed,
            _ if record.error => &mut counts.crashed,
            _ => &mut counts.unsupported,
        };
        *count += 1;
    }
    counts
}

/// The table of a set's crates: those that were checked now, in the order of the list, and the
/// others as they stand in the section before.
pub fn of_crates(
    list: &[&Published],
    checked: &[(&Published, Result<Checked, String>)],
    date: &str,
    before: &str,
) -> String {
    let mut rows = "\
        | crate | tests | verified | passed, assuming | passed, bounded | failed | unsupported | crashed | seconds | assumptions | on |\n\
        |---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n"
        .to_owned();
    let mut remarks = String::new();
    for published in list {
        let now = checked.iter().find(|(it, _)| it.title() == published.title());
        let (row, notes) = match now {
            Some((_, checked)) => of_crate(published, checked, date),
            None => kept(before, &published.title()),
        };
        rows += &row;
        remarks += &notes;
    }
    rows + "\nSeconds are with building. *assuming*: every interleaving was covered, under assumptions, which are counted; \
            *bounded*: not every one.\n\n"
        + &remarks
}

/// A crate's row, and its notes, a line each.
fn of_crate(
    published: &Published,
    checked: &Result<Checked, String>,
    date: &str,
) -> (String, String) {
    let title = published.title();
    let row = match checked {
        Ok(Checked { broken: Some(broken), .. }) | Err(broken) => {
            format!("| {title} | {} |\n", broken.lines().next().unwrap_or_default())
        }
        Ok(Checked { records, seconds, .. }) => {
            let c = counts(records);
            let Counts { verified, assuming, bounded, failed, unsupported, crashed } = c;
            format!(
                "| {title} | {} | {verified} | {assuming} | {bounded} | {failed} | {unsupported} | {crashed} | {seconds:.0} | {} | {date} |\n",
                records.len(),
                assumptions(records),
            )
        }
    };
    let note = published.note.iter().map(|note| format!(": {note}"));
    let notes = checked.iter().flat_map(|checked| notes(published, checked));
    let notes = note.chain(notes.map(|note| format!(" {note}")));
    (row, notes.map(|note| format!("- **{title}**{note}\n")).collect())
}

/// A crate's row and notes in a section that was written before.
fn kept(before: &str, title: &str) -> (String, String) {
    let beginning = |with: &str| -> String {
        let lines = before.lines().filter(|line| line.starts_with(with));
        lines.map(|line| format!("{line}\n")).collect()
    };
    (beginning(&format!("| {title} |")), beginning(&format!("- **{title}**")))
}

/// How many tests rest on which assumption.
fn assumptions(records: &[Record]) -> String {
    let mut tests = BTreeMap::<&str, usize>::new();
    for assumption in records.iter().flat_map(|record| &record.assumptions) {
        *tests.entry(&assumption.code).or_default() += 1;
    }
    let each = tests.iter().map(|(code, tests)| format!("`{code}` {tests}"));
    each.collect::<Vec<String>>().join(", ")
}

/// A line for each test that did not pass; for those of one entry together.
fn notes(published: &Published, checked: &Checked) -> Vec<String> {
    let mut notes = Vec::<(String, Vec<&str>)>::new();
    for account in accounts(&checked.records, &published.expected) {
        let record = account.record;
        let why = match account.expected {
            Some(entry) => format!("{} ({}): {}", record.verdict, entry.because.text(), entry.note),
            None => format!("{}, not accounted for: {}", record.verdict, record.reported()),
        };
        match notes.iter_mut().find(|(reported, _)| *reported == why) {
            Some((_, tests)) => tests.push(&record.name),
            None => notes.push((why, vec![&record.name])),
        }
    }
    let line = |(why, tests): (String, Vec<&str>)| format!("{} {why}", named(&tests));
    notes.into_iter().map(line).collect()
}

/// The first of these tests, and how many more there are.
fn named(tests: &[&str]) -> String {
    let first = &tests[..tests.len().min(NAMED)];
    let more = match tests.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`{}`{more}", first.join("`, `"))
}

/// The bugs.
pub fn of_bugs(rows: &[Row]) -> String {
    let mut text = "\
        | bug | with it | found as | executions | seconds | schedule | without it | verdict | seconds |\n\
        |---|---|---|--:|--:|---|---|---|--:|\n"
        .to_owned();
    for Row { bug, buggy, fixed } in rows {
        let without = bug.fixed.as_ref().map_or("used rightly".into(), versions);
        let _ = writeln!(
            text,
            "| `{}`: {} | {} | {} | {without} | {} |",
            bug.name,
            bug.what,
            versions(&bug.buggy),
            found(buggy),
            clean(fixed)
        );
    }
    text += "\nSeconds are those of the search, to the bug or to the end. `cargo xtask crates --set bugs NAME` does one of them again.\n";
    for row in rows {
        if let Some(missed) = &row.bug.missed {
            let _ = writeln!(text, "- `{}` is missed: {missed}", row.bug.name);
        }
    }
    text
}

/// The versions, as in `spin 0.5.1`.
fn versions(dependencies: &toml::Table) -> String {
    let of = |(name, needs): (&String, &toml::Value)| {
        let version = needs.as_str().or_else(|| needs.get("version")?.as_str());
        format!("{name} {}", version.unwrap_or_default())
    };
    match dependencies.is_empty() {
        true => "std".into(),
        false => dependencies.iter().map(of).collect::<Vec<_>>().join(", "),
    }
}

/// Found as, executions, seconds, schedule.
fn found(outcome: &Outcome) -> String {
    let record = match outcome {
        Ok(record) => record,
        Err(reason) => return format!("{} | | |", reason.lines().next().unwrap_or_default()),
    };
    let Record { executions, seconds, .. } = record;
    let (what, schedule) = match record.bugs.first() {
        None => (format!("*{}*", record.verdict), String::new()),
        Some(bug) => {
            let schedule = bug.schedule.as_ref().map(|schedule| {
                let (steps, switches) = (schedule.steps, schedule.preemptions);
                format!("{steps} steps, {} threads, {switches} preemptions", schedule.threads)
            });
            (format!("{} {}", bug.code, bug.kind), schedule.unwrap_or_default())
        }
    };
    format!("{what} | {executions} | {seconds:.2} | {schedule}")
}

/// Verdict, seconds.
fn clean(outcome: &Outcome) -> String {
    match outcome {
        Ok(record) if record.shows().is_none() && record.is_bounded() => {
            format!("{}, bounded | {:.2}", record.verdict, record.seconds)
        }
        Ok(record) => format!("{} | {:.2}", record.verdict, record.seconds),
        Err(reason) => format!("{} |", reason.lines().next().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crates::list::{Because, Bug, Expected, Set};
    use crate::crates::record::{Assumption, Found, Schedule};

    fn record(name: &str, verdict: &str, ended: &str) -> Record {
        let (name, verdict, ended) = (name.into(), verdict.into(), ended.into());
        Record { name, verdict, ended, executions: 7, seconds: 0.5, ..Record::default() }
    }

    #[test]
    fn each_test_is_in_one_column() {
        let crash = Record { error: true, ..record("f", "unsupported", "error") };
        let records = [
            record("a", "verified", "complete"),
            record("b", "passed", "complete"),
            record("c", "passed", "seconds"),
            record("d", "failed", "bug"),
            record("e", "unsupported", "unsupported"),
            crash,
        ];
        let expected =
            Counts { verified: 1, assuming: 1, bounded: 1, failed: 1, unsupported: 1, crashed: 1 };
        assert_eq!(counts(&records), expected);
    }

    #[test]
    fn tests_of_one_entry_share_a_line_and_others_are_reported_as_they_are() {
        let entry = Expected {
            test: "t*".into(),
            shows: "panic".into(),
            because: Because::RealBug,
            note: "it loses an update".into(),
            perhaps: false,
        };
        let published = Published {
            name: "spin".into(),
            version: "1.0.0".into(),
            set: Set::First,
            options: Vec::new(),
            without: Vec::new(),
            seconds: None,
            driver: None,
            note: Some("small tests of ours".into()),
            expected: vec![entry],
        };
        let failed = |name: &str| {
            let bug =
                Found { kind: "panic".into(), message: "it panics".into(), ..Found::default() };
            let assumptions =
                vec![Assumption { code: "bounded-spin".into() }; usize::from(name != "u")];
            Record { bugs: vec![bug], assumptions, ..record(name, "failed", "bug") }
        };
        let records =
            vec![failed("t1"), failed("u"), failed("t2"), record("v", "verified", "complete")];
        let checked = Checked { records, seconds: 12.4, broken: None };
        let text = of_crates(&[&published], &[(&published, Ok(checked))], "today", "");
        let row = "| spin 1.0.0 | 4 | 1 | 0 | 0 | 3 | 0 | 0 | 12 | `bounded-spin` 2 | today |\n";
        assert!(text.contains(row), "{text}");
        let lines = "- **spin 1.0.0**: small tests of ours\n\
                     - **spin 1.0.0** `t1`, `t2` failed (real bug): it loses an update\n\
                     - **spin 1.0.0** `u` failed, not accounted for: it panics\n";
        assert!(text.ends_with(lines), "{text}");
        let again = of_crates(&[&published], &[], "tomorrow", &text);
        assert_eq!(again, text, "what is not checked again stays");
        let newer = Published { version: "1.0.1".into(), ..published };
        let newer = of_crates(&[&newer], &[], "tomorrow", &text);
        assert!(!newer.contains("spin"), "{newer}");
    }

    #[test]
    fn of_many_tests_the_first_are_named() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(named(&names[..2]), "`a`, `b`");
        assert_eq!(named(&names), "`a`, `b`, `c`, `d`, `e` and 2 more");
    }

    #[test]
    fn a_bug_is_a_line_with_both_versions() {
        let bug = Bug {
            name: "twice".into(),
            what: "frees twice".into(),
            shows: vec!["double-free".into()],
            buggy: "a = '1.0.0'".parse().expect("that is TOML"),
            fixed: Some("a = { version = '1.0.1' }".parse().expect("that is TOML")),
            yanked: BTreeMap::new(),
            options: Vec::new(),
            missed: None,
        };
        let schedule = Some(Schedule { preemptions: 2, threads: 3, steps: 40 });
        let found = Found {
            code: "LR0005".into(),
            kind: "double-free".into(),
            schedule,
            ..Found::default()
        };
        let buggy = Ok(Record { bugs: vec![found], ..record("driver", "failed", "bug") });
        let row = Row { bug: &bug, buggy, fixed: Ok(record("driver", "passed", "seconds")) };
        let line = "| `twice`: frees twice | a 1.0.0 | LR0005 double-free | 7 | 0.50 | 40 steps, 3 threads, 2 preemptions \
                    | a 1.0.1 | passed, bounded | 0.50 |\n";
        let text = of_bugs(&[row]);
        assert!(text.contains(line), "{text}");
    }
}
