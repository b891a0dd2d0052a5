//! What reports of races advise: the memory orders that they name are made stronger, in the source,
//! and the tests are clean then.

use crate::fixtures::own;
use lockred_protocol::codes::Verdict;
use lockred_tests::outcome::{Site, TestFinished};
use lockred_tests::tool::run;
use std::collections::BTreeSet;
use std::path::Path;

/// How often a test may need advice: what one execution shows need not be all.
const ROUNDS: usize = 3;

const ORDERS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

fn checked(fixture: &Path) -> Vec<TestFinished> {
    let output = run(fixture, &["check", "--message-format", "json"]);
    assert!(matches!(output.status, Some(0 | 1)), "{output}");
    output.tests()
}

/// One change of an order, at a line and column.
fn changes(test: &TestFinished) -> impl Iterator<Item = (usize, usize, String, String, bool)> + '_ {
    test.bugs.iter().flat_map(|bug| &bug.sites).filter_map(|site: &Site| {
        let order = site.order.as_ref()?;
        let (has, needs) = (order.has.clone(), order.needs.clone());
        Some((site.line as usize, site.column as usize, has, needs, order.fails))
    })
}

/// Makes the change in a text.
fn change(
    text: &str,
    (line, column, has, needs, fails): &(usize, usize, String, String, bool),
) -> String {
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    let line = &mut lines[line - 1];
    let mut at: Vec<usize> = ORDERS
        .iter()
        .flat_map(|order| line[column - 1..].match_indices(order).map(|(at, _)| column - 1 + at))
        .collect();
    at.sort_unstable();
    // A compare-exchange names the order of success first.
    let at = at[usize::from(*fails)];
    assert!(line[at..].starts_with(has), "{line}: {has} at {at}");
    line.replace_range(at..at + has.len(), needs);
    lines.join("\n") + "\n"
}

#[test]
fn what_is_advised_mends_the_races() {
    let fixture = own("advice", "advice");
    let source = fixture.join("src/lib.rs");
    let mut tests = checked(&fixture);
    assert_eq!(tests.len(), 12);
    for test in &tests {
        assert!(changes(test).next().is_some(), "no advice for {}: {:?}", test.name, test.bugs);
    }
    for _ in 0..ROUNDS {
        let all: BTreeSet<_> = tests.iter().flat_map(changes).collect();
        if all.is_empty() {
            break;
        }
        let text = std::fs::read_to_string(&source).unwrap();
        // Columns before a change stay: from the right to the left.
        std::fs::write(&source, all.iter().rev().fold(text, |text, one| change(&text, one)))
            .unwrap();
        tests = checked(&fixture);
    }
    for test in &tests {
        let clean = matches!(test.verdict, Verdict::Verified | Verdict::Passed);
        assert!(clean, "{}: {:?}", test.name, test.bugs);
    }
}
