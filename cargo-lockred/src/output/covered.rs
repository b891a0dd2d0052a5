//! What was covered of a test by which part of its search, in words.

use crate::cli::search::Search;
use crate::outcome::{Ended, Outcome, Part};
use crate::printing::words::{at_most, count};
use lockred_protocol::codes::Verdict;

/// What was covered of a test that was searched in several ways, and not in full.
pub fn sentence(outcome: &Outcome) -> Option<String> {
    let stopped = matches!(outcome.verdict, Verdict::Passed | Verdict::Interrupted);
    if !stopped || outcome.ended == Ended::Complete || outcome.parts.is_empty() {
        return None;
    }
    let parts = || outcome.parts.iter();
    let bound = parts().filter_map(|part| part.preemptions).max();
    let walks: u64 = walks(outcome).map(|part| part.counts.executions).sum();
    let share = parts().find(|part| part.search == Search::Exhaustive).and_then(|part| part.share);
    let covered = [
        bound.map(|most| format!("all interleavings with {}", at_most(most.into()))),
        (walks > 0).then(|| count(walks, "random walk")),
        share.map(|share| format!("{} of the whole", percent(share))),
    ];
    let covered: Vec<String> = covered.into_iter().flatten().collect();
    (!covered.is_empty()).then(|| format!("covered: {}", covered.join("; ")))
}

/// About which part of the whole a share is.
pub fn percent(share: f64) -> String {
    match share {
        share if share < 0.01 => "less than 1 %".into(),
        share => format!("about {:.0} %", (share * 100.0).min(99.0)),
    }
}

/// The parts that draw interleavings at random.
fn walks(outcome: &Outcome) -> impl Iterator<Item = &Part> {
    outcome.parts.iter().filter(|part| part.search.samples())
}

/// Where a bug was found, unless that was the exhaustive search.
pub fn found(outcome: &Outcome) -> Option<&'static str> {
    let mut with_bugs = outcome.parts.iter().filter(|part| part.bugs > 0);
    let first = with_bugs.next().filter(|_| outcome.ended == Ended::Bug)?;
    Some(match first.search {
        Search::Sample(_) => "found by random walks",
        Search::Bounded { .. } => "found with few preemptions",
        Search::Unified => "found by states",
        _ => return None,
    })
}

/// The part other than the exhaustive search that has covered everything.
pub fn proof(outcome: &Outcome) -> Option<&Part> {
    let others = outcome.parts.iter().filter(|part| part.search != Search::Exhaustive);
    others.filter(|part| !part.search.samples()).find(|part| part.ended == Ended::Complete)
}

/// A line on each part, for those who want to know.
pub fn lines(outcome: &Outcome) -> impl Iterator<Item = String> {
    outcome.parts.iter().map(|part| {
        let what = match part.search.strategy(0).needs().states {
            true => count(part.counts.transactions, "transaction"),
            false => count(part.counts.executions, "execution"),
        };
        let reason = part.reason.as_ref().map(|why| format!(", left out: {why}"));
        let reason = reason.unwrap_or_default();
        format!("{}: {what}, {:.2} s{reason}", part.search, part.seconds)
    })
}

#[cfg(test)]
#[path = "covered_tests.rs"]
mod tests;
