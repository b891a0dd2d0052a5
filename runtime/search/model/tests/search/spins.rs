//! Loops that wait: every search ends on them, sees what brute force sees, and reports livelocks.

use crate::check;

use std::collections::BTreeSet;

use check::livelock::every_state_and_livelock;
use check::{Seen, parse};
use lockred_model::program::Body;
use lockred_model::{Failure, ModelMachine, Program};
use lockred_search::discipline::Discipline;
use lockred_search::{Limits, Outcome, Stop, Strategy, explore, stateful, transactions};

const LIMITS: Limits = Limits { executions: Some(100_000), operations: 1_000 };

fn machine(program: &Program) -> ModelMachine {
    ModelMachine::new(program).reporting_ends().noticing_spins()
}

fn by(program: &Program, strategy: Strategy, limits: Limits) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let outcome = explore(&mut machine(program), strategy, limits, &mut seen);
    (seen, outcome)
}

fn by_transactions(program: &Program) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut discipline = Discipline::default();
    let outcome = transactions::explore(&mut machine(program), &mut discipline, LIMITS, &mut seen);
    (seen, outcome)
}

fn by_states(program: &Program) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut discipline = Discipline::by_locks();
    let outcome = stateful::explore(&mut machine(program), &mut discipline, LIMITS, &mut seen);
    (seen, outcome)
}

fn without_races(seen: &Seen) -> BTreeSet<Failure> {
    let race = |failure: &&Failure| !matches!(failure, Failure::Race { .. });
    seen.failures.iter().filter(race).cloned().collect()
}

/// What the program shows besides end states, the same by every search and by brute force; and how
/// many executions took dpor and transactions.
fn check(text: &str) -> (Vec<Failure>, u64, u64) {
    let program = parse(text);
    let truth = every_state_and_livelock(&program, 100_000).expect("few states");
    let mut executions = Vec::new();
    let results = [
        ("dpor", by(&program, Strategy::Dpor, LIMITS)),
        ("transactions", by_transactions(&program)),
        ("stateful", by_states(&program)),
        ("naive", by(&program, Strategy::Naive, LIMITS)),
    ];
    for (name, (seen, outcome)) in results {
        assert_eq!(outcome.stop, Stop::Complete, "{name}: {text}");
        assert_eq!(without_races(&seen), truth, "{name}: {text}");
        executions.push(outcome.counts.executions);
    }
    let walks = Limits { executions: Some(200), operations: 1_000 };
    let (seen, outcome) = by(&program, Strategy::Random { seed: 1 }, walks);
    assert_eq!(outcome.stop, Stop::Executions, "random: {text}");
    assert!(seen.failures.is_subset(&truth), "random: {text}");
    let failures = truth.into_iter().filter(|failure| !matches!(failure, Failure::End(_)));
    (failures.collect(), executions[0], executions[1])
}

fn livelock(spinning: &[u8], waiting: &[u8]) -> Failure {
    let bodies = |numbers: &[u8]| numbers.iter().copied().map(Body).collect();
    Failure::Livelock { spinning: bodies(spinning), waiting: bodies(waiting) }
}

fn contenders(number: usize, take: &str, give: &str) -> String {
    let body = format!("{take} r = x; x = r + 1; {give}");
    let threads = (0..number).map(|i| format!("thread T{i} {{ {body} }} "));
    format!("atomic l; plain x; {}", threads.collect::<String>())
}

#[test]
fn a_spin_lock_takes_as_many_executions_as_a_mutex() {
    for (number, executions) in [(2, 2), (3, 6)] {
        let strong = contenders(number, "while q == 0 { q = cas l 0 1 }", "l = 0;");
        assert_eq!(check(&strong), (vec![], executions, executions));
        let weak = contenders(number, "while q == 0 { q = casweak l 0 1 }", "l = 0;");
        assert_eq!(check(&weak), (vec![], executions, executions));
    }
}

#[test]
fn a_ticket_lock_ends() {
    let ticket = |number| {
        let wait = |i: usize| format!("if t == {i} {{ while s != {i} {{ s = now }} }} ");
        let waits = (1..number).map(wait).collect::<String>();
        let body = format!("t = next += 1; {waits} r = x; x = r + 1; now += 1;");
        let threads = (0..number).map(|i| format!("thread T{i} {{ {body} }} "));
        format!("atomic next now; plain x; {}", threads.collect::<String>())
    };
    assert_eq!(check(&ticket(2)), (vec![], 2, 2));
    // The last in line may see the one before it being served, or not.
    assert_eq!(check(&ticket(3)), (vec![], 12, 12));
}

#[test]
fn a_flag_hands_over() {
    let text = "atomic f; plain x; thread A { x = 1; f = 1 }
        thread B { while r == 0 { r = f } q = x; assert q == 1 }";
    assert_eq!(check(text), (vec![], 1, 1));
}

#[test]
fn two_threads_that_spin_on_each_other_are_a_livelock() {
    let text = "atomic f g; thread A { while r == 0 { r = f } g = 1 }
        thread B { while r == 0 { r = g } f = 1 }";
    assert_eq!(check(text), (vec![livelock(&[0, 1], &[])], 1, 1));
}

#[test]
fn spinning_under_a_lock_whose_owner_is_needed_is_a_livelock() {
    let text = "atomic f; mutex a; thread A { lock a; while r == 0 { r = f } unlock a }
        thread B { lock a; f = 1; unlock a }";
    let (failures, ..) = check(text);
    assert_eq!(failures, [livelock(&[0], &[1])]);
}

#[test]
fn increments_by_compare_exchange_loops() {
    // Every value that may be there has a branch of its own: the model compares with constants.
    let body =
        "while q == 0 { r = f; if r == 0 { q = cas f 0 1 } else { if r == 1 { q = cas f 1 2 } } }";
    let text =
        format!("atomic f; thread A {{ {body} }} thread B {{ {body} }} thread C {{ r = f }}");
    assert_eq!(check(&text).0, []);
}

#[test]
fn a_round_that_was_seen_is_not_left_out() {
    // B's tries both fail if A holds the lock in two rounds, between which B has taken it.
    let text = "plain x; mutex a; atomic go; thread A { while r == 0 { lock a; r = x; unlock a } }
        thread B { q = try a; if q == 0 { lock a; x = 0; unlock a; p = try a; assert p == 1; unlock a }
            else { unlock a } }";
    assert!(check(text).0.contains(&Failure::Assertion { thread: Body(1), place: 6 }));
}

#[test]
fn a_round_in_parts_sees_old_and_new_values() {
    let text = "atomic f g; thread A { while q == 0 { r = f; q = g } assert r == 1 }
        thread B { f = 1; g = 1 }";
    assert_eq!(check(text).0, [Failure::Assertion { thread: Body(0), place: 4 }]);
}

#[test]
fn who_would_wait_for_a_lock_is_in_no_livelock() {
    let text = "plain x; mutex a; thread A { while r == 0 { lock a; r = x; unlock a } }
        thread B { lock a }";
    assert_eq!(check(text).0, [Failure::Deadlock { waiting: vec![Body(0)] }]);
}

#[test]
fn who_lets_go_of_a_lock_in_every_round_waits_without_it() {
    let text = "plain x; mutex a; thread A { lock a; r = x; while r == 0 { unlock a; lock a; r = x } unlock a }
        thread B { lock a; x = 1; unlock a }";
    assert_eq!(check(text).0, []);
}

#[test]
fn a_store_of_what_is_there_is_no_effect() {
    let text = "atomic f g; thread A { while r == 0 { f = 1; r = g } } thread B { while r == 0 { r = f } }";
    assert_eq!(check(text).0, [livelock(&[0], &[])]);
}

#[test]
fn who_cannot_end_with_those_that_spin_waits() {
    let text = "atomic f; thread A { while r == 0 { r = f } } thread B { join A; f = 1 }";
    assert_eq!(check(text).0, [livelock(&[0], &[1])]);
}

#[test]
fn a_loop_that_counts_gives_up_by_itself() {
    // What a thread counts tells one round from the next, so that none is the same as before.
    let text = "atomic f; thread A { while r == 0 { r = f; n = n + 1; if n == 3 { r = 5 } } }
        thread B { q = f }";
    assert_eq!(check(text).0, []);
}

#[test]
fn two_that_wait_do_not_keep_each_other_going() {
    // B sees a round of A once. If every try were an effect for A, and every round of A for B, both
    // would go on for ever.
    let text = "plain x; mutex a; thread A { while r == 0 { lock a; r = x; unlock a } }
        thread B { while q == 0 { q = try a } unlock a }";
    assert_eq!(check(text).0, [livelock(&[0], &[])]);
}

#[test]
fn a_value_may_go_away_before_it_is_seen() {
    let text =
        "atomic f; thread A { f = 0 } thread B { f = 1 } thread C { while r == 0 { r = f } }";
    assert_eq!(check(text).0, [livelock(&[2], &[])]);
}

#[test]
fn who_comes_too_late_goes_round_for_ever() {
    // The flag is set once, by any of the three.
    let body = "while r == 0 { p = f; r = cas g 0 1 }";
    let text = format!(
        "atomic f g; thread A {{ {body} }} thread B {{ {body} }} thread C {{ g = 1; f = 0 }}"
    );
    let all = [livelock(&[0], &[]), livelock(&[0, 1], &[]), livelock(&[1], &[])];
    let failures = check(&text).0;
    assert_eq!(failures.len(), all.len(), "{failures:?}");
    assert!(all.iter().all(|failure| failures.contains(failure)), "{failures:?}");
}

#[test]
fn a_store_of_another_value_is_an_effect() {
    let text = "atomic f g; thread A { while r == 0 { r = f; q = g } }
        thread B { while r == 0 { f = 1; r = g } } thread C { f = 0 }";
    assert_eq!(check(text).0, [livelock(&[1], &[])]);
}

#[test]
fn a_round_is_read_again_where_it_goes_on() {
    // A reads after both stores, between them, or before them. Then it goes on between them, and
    // reads there or after them, or goes on after them.
    let text = "plain x; mutex a; thread A { while r == 0 { lock a; r = x; unlock a } }
        thread B { x = 1; x = 1 }";
    assert_eq!(check(text), (vec![], 5, 5));
}

#[test]
fn all_that_a_round_has_read_is_read_where_it_goes_on() {
    // What B reads (f g): 1 and any; 0 1, then as often 0 1 as it takes to stand still (none or
    // one), then 1 1; or 0 0. Then it goes on seeing 1 0 (and reads 1 and any), 1 1, or 0 1: it
    // reads 1 1, or first 0 1 once or, standing still, twice.
    let text = "atomic f g; thread A { f = 1 } thread B { while r == 0 { r = f; p = g } }
        thread C { g = 1 }";
    assert_eq!(check(text), (vec![], 10, 10));
}

#[test]
fn a_race_in_a_round_that_fails_is_seen() {
    // The round that succeeds is ordered after the write.
    let text =
        "atomic f; plain x; thread A { while r == 0 { q = x; r = f } } thread B { x = 1; f = 1 }";
    let (seen, _) = by_transactions(&parse(text));
    let race = |failure: &Failure| matches!(failure, Failure::Race { .. });
    assert!(seen.failures.iter().any(race), "{:?}", seen.failures);
}
