//! What is said of a search in parts, and when nothing is.

use super::*;
use crate::cli::search::Sample;
use lockred_protocol::message::Counts;

fn part(search: Search, executions: u64) -> Part {
    Part {
        search,
        counts: Counts { executions, ..Counts::default() },
        seconds: 1.0,
        ended: Ended::Total,
        preemptions: None,
        share: None,
        bugs: 0,
        reason: None,
    }
}

fn outcome(parts: Vec<Part>) -> Outcome {
    Outcome { parts, verdict: Verdict::Passed, ended: Ended::Seconds, ..Outcome::sample() }
}

#[test]
fn what_was_covered_is_said_by_part() {
    let exhaustive = Part { share: Some(0.344), ..part(Search::Exhaustive, 5) };
    let bounded = Search::Bounded { preemptions: 2 };
    let bounded = Part { preemptions: Some(1), ..part(bounded, 7) };
    let walks = [Sample::Pct, Sample::Uniform].map(|sample| part(Search::Sample(sample), 6000));
    let parts = [vec![exhaustive, bounded], walks.to_vec()].concat();
    let mut outcome = outcome(parts);
    let said = "covered: all interleavings with at most 1 preemption; 12000 random walks; about 34 % of the whole";
    assert_eq!(sentence(&outcome).as_deref(), Some(said));
    outcome.ended = Ended::Complete;
    assert_eq!(sentence(&outcome), None, "everything was");
    (outcome.ended, outcome.parts) = (Ended::Seconds, Vec::new());
    assert_eq!(sentence(&outcome), None, "there was one search");
}

#[test]
fn a_bug_names_the_part_that_found_it_and_a_proof_the_part_that_is_complete() {
    let found_by = |search| {
        let mut outcome = outcome(vec![part(Search::Exhaustive, 1), part(search, 1)]);
        outcome.ended = Ended::Bug;
        outcome.parts[1].bugs = 1;
        found(&outcome)
    };
    assert_eq!(found_by(Search::Sample(Sample::Pos)), Some("found by random walks"));
    assert_eq!(found_by(Search::Unified), Some("found by states"));
    let proved_by = |search| {
        let mut outcome = outcome(vec![part(Search::Exhaustive, 1), part(search, 1)]);
        outcome.parts[1].ended = Ended::Complete;
        proof(&outcome).map(|part| part.search)
    };
    assert_eq!(proved_by(Search::Unified), Some(Search::Unified));
    assert_eq!(proved_by(Search::Sample(Sample::Uniform)), None, "walks cover nothing in full");
}

#[test]
fn what_was_left_out_is_said_with_its_reason() {
    let reason = Some("no x".to_owned());
    let outcome = outcome(vec![Part { reason, ..part(Search::Unified, 0) }]);
    let lines: Vec<String> = lines(&outcome).collect();
    assert_eq!(lines, ["unified: 0 transactions, 1.00 s, left out: no x"]);
}
