//! The table in Markdown, and what one has to know to read it.

use super::native::{Checked, SECONDS};
use super::rows::Row;
use std::fmt::Write as _;

/// The table of these rows.
pub fn table(checked: &[(Row, Checked)]) -> String {
    let mut text = format!(
        "\n## The papers' programs in Rust\n\n\
         Searches are ended after {SECONDS} s (`>`). Without reduction (`naive`), with single operations (`dpor`), with transactions \
         (the default), and over states (`stateful`). Memory is the most that the explored process had resident, of which about 5 MB \
         are the tool's own; `-` where it was too fast to be looked at.\n\n\
         A context is a run of one thread. k contexts have k - 1 switches, of which those away from a thread that ended or waits are no \
         preemptions. So a bug within k contexts needs at most k - 1 preemptions, and mostly fewer. Ours is the least number of \
         preemptions, and beside it the contexts that the same schedule takes up to the bug.\n\n\
         | program | search | paper | ours | executions | transactions | seconds | MB | preemptions | contexts | remark |\n\
         |---|---|---|---|--:|--:|--:|--:|--:|--:|---|\n"
    );
    for (row, checked) in checked {
        let _ = writeln!(text, "{}", line(row, checked));
    }
    text
}

/// One line.
fn line(row: &Row, checked: &Checked) -> String {
    let Checked { verdict, complete, executions, transactions, seconds, .. } = checked;
    let found = !["verified", "passed"].contains(&verdict.as_str());
    let more = if *complete || found { "" } else { "> " };
    let kilobytes = match checked.kilobytes {
        0 => "-".to_owned(),
        kilobytes => format!("{:.0}", kilobytes as f64 / 1024.0),
    };
    let preemptions = match checked.preemptions {
        None => String::new(),
        Some((number, true)) => number.to_string(),
        Some((number, false)) => format!("<= {number}"),
    };
    let contexts = checked.contexts.map_or_else(String::new, |contexts| contexts.to_string());
    let search = if row.options.is_empty() { "default" } else { &row.options.join(" ") };
    let verdict = if more.is_empty() { verdict } else { "not ended" };
    format!(
        "| {} | {search} | {} | {verdict} | {more}{executions} | {more}{transactions} | {more}{seconds:.3} | {kilobytes} | \
         {preemptions} | {contexts} | {} |",
        row.program, row.claim, row.remark
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            program: "P".into(),
            test: "m::f".into(),
            options: &["--search=naive"],
            claim: "7 states".into(),
            remark: "why",
        }
    }

    fn checked(verdict: &str, complete: bool, preemptions: Option<(u64, bool)>) -> Checked {
        Checked {
            verdict: verdict.into(),
            complete,
            executions: 5,
            transactions: 60,
            seconds: 0.25,
            kilobytes: 2048,
            preemptions,
            contexts: preemptions.map(|_| 3),
        }
    }

    #[test]
    fn a_line_says_what_was_found_and_what_was_not_ended() {
        let bug = line(&row(), &checked("panic", false, Some((1, true))));
        assert_eq!(
            bug,
            "| P | --search=naive | 7 states | panic | 5 | 60 | 0.250 | 2 | 1 | 3 | why |"
        );
        let ended = line(&row(), &checked("passed", false, None));
        assert_eq!(
            ended,
            "| P | --search=naive | 7 states | not ended | > 5 | > 60 | > 0.250 | 2 |  |  | why |"
        );
        let some = line(&row(), &checked("deadlock", true, Some((6, false))));
        assert!(some.contains("| <= 6 | 3 |"), "{some}");
    }
}
