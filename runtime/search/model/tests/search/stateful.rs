//! The stateful search on programs whose states converge or recur.

use crate::check;

use check::{all_states, by_states, parse};
use lockred_model::ModelMachine;
use lockred_search::discipline::Discipline;
use lockred_search::footprint::ObjectId;
use lockred_search::{Covered, Findings, Limits, Stop, stateful};

/// Compares with all states, and gives back how many executions ended and how many transactions
/// were run.
fn counts(text: &str) -> (u64, u64) {
    let program = parse(text);
    let (seen, outcome) = by_states(&program, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    assert_eq!(seen.failures, all_states(&program).0.failures, "{text}");
    (outcome.counts.executions, outcome.counts.transactions)
}

#[test]
fn cyclic_state_spaces_end() {
    counts("atomic f; thread A { r = f; while r == 0 { r = f } } thread B { f = 1 }");
    counts("atomic f; thread A { r = f; while r == 0 { r = f } } thread B { r = f }");
    counts(
        "plain x; mutex a; thread A { while r == 0 { lock a; r = x; unlock a } }
        thread B { lock a; x = 1; unlock a }",
    );
    counts(
        "plain x; mutex a; thread A { lock a; unlock a; while r == 0 { r = x } } thread B { x = 1 }",
    );
    counts("plain x; thread A { while r == 0 { r = x } } thread B { q = x }");
    counts(
        "atomic f g; thread A { while r == 0 { f = 1; r = g } } thread B { while r == 0 { r = f } g = 1 }",
    );
}

#[test]
fn alone_again() {
    counts("plain x; thread A { spawn B; r = x } thread B { x = 1 }");
}

#[test]
fn states_converge() {
    // 2^N data orders of pushes have one end state each, and are visited in N * 2^(N-1)
    // transactions.
    let push = "lock a; r = x; x = r + 1; r = 0; unlock a";
    for (number, most) in [(2, 4), (3, 12), (4, 32), (5, 80)] {
        let threads = (0..number).map(|i| format!("thread T{i} {{ {push} }}\n"));
        let text = format!("plain x; mutex a;\n{}", threads.collect::<String>());
        let (ends, transactions) = counts(&text);
        assert_eq!(ends, 1);
        assert!(transactions <= most, "{transactions} transactions of {number} threads");
    }
}

#[test]
fn what_is_done_before_other_threads_start_needs_no_lock() {
    // Three states of A, one of each subset of the others, and those with A.
    let text = "plain x; mutex a; thread A { x = 1; spawn B; spawn C; lock a; x = 2; unlock a }
        thread B { lock a; r = x; unlock a } thread C { lock a; r = x; unlock a }";
    let program = parse(text);
    let (seen, outcome) = by_states(&program, Limits::default());
    assert_eq!((outcome.stop, outcome.counts.refinements), (Stop::Complete, 0));
    assert_eq!(seen.failures, all_states(&program).0.failures);
}

#[test]
fn the_discipline_that_was_given_holds_what_was_learned() {
    let text = "plain x y; mutex a; thread A { lock a; x = 1; unlock a; y = 1 }
        thread B { lock a; r = x; unlock a; y = 2 }";
    let mut machine = ModelMachine::new(&parse(text));
    let mut discipline = Discipline::by_locks();
    let mut found = Findings::default();
    let outcome = stateful::explore(&mut machine, &mut discipline, Limits::default(), &mut found);
    assert_eq!((outcome.stop, outcome.covered), (Stop::Complete, Covered::Everything));
    let (x, y, a) = (ObjectId(0), ObjectId(1), ObjectId(1 << 32));
    assert!(!discipline.is_unprotected(x) && discipline.is_unprotected(y));
    assert_eq!(discipline.locksets().protecting(x), [a]);
    // What is known needs no refinement.
    let outcome = stateful::explore(&mut machine, &mut discipline, Limits::default(), &mut found);
    assert_eq!((outcome.stop, outcome.counts.refinements), (Stop::Complete, 0));
}
