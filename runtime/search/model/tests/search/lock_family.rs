//! The rarer members of the lock family: named programs, under every strategy (random ones: the
//! oracle).

use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use check::brute::every_state;
use check::cases::cases;
use check::texts::same;
use check::{by_states, by_transactions, leads_to, parse, search};
use lockred_model::program::Body;
use lockred_model::{Failure, ModelMachine, Watched};
use lockred_search::{Limits, Stop, Strategy};
use proptest::prelude::*;

fn is_race(failure: &Failure) -> bool {
    matches!(failure, Failure::Race { .. })
}

/// What there is to see of the program, races included, when all complete strategies have seen it.
fn agrees(text: &str) -> BTreeSet<Failure> {
    let program = parse(text);
    let machine = ModelMachine::new(&program).reporting_ends();
    let all = every_state(&mut Watched::new(machine), usize::MAX).unwrap_or_default();
    let reported: BTreeSet<_> = all.iter().filter(|failure| !is_race(failure)).cloned().collect();
    for (name, truth, (seen, outcome)) in [
        ("naive", &reported, search(&program, Strategy::Naive, Limits::default())),
        ("dpor", &reported, search(&program, Strategy::Dpor, Limits::default())),
        ("transactions", &all, by_transactions(&program, Limits::default())),
        ("stateful", &reported, by_states(&program, Limits::default())),
    ] {
        assert_eq!(outcome.stop, Stop::Complete, "{name}: {text}");
        assert_eq!(&seen.failures, truth, "{name}: {text}");
        for (failure, schedule) in &seen.schedules {
            assert!(leads_to(&program, schedule, failure), "{name}: {failure:?} of {text}");
        }
    }
    all
}

fn deadlocks(seen: &BTreeSet<Failure>) -> usize {
    seen.iter().filter(|failure| matches!(failure, Failure::Deadlock { .. })).count()
}

fn ends(seen: &BTreeSet<Failure>) -> usize {
    seen.iter().filter(|failure| matches!(failure, Failure::End(_))).count()
}

/// Complete executions by DPOR and by transactions, and refinements of the latter.
fn executions(text: &str) -> (u64, u64, u64) {
    let program = parse(text);
    let (_, dpor) = search(&program, Strategy::Dpor, Limits::default());
    let (_, transactions) = by_transactions(&program, Limits::default());
    (dpor.counts.executions, transactions.counts.executions, transactions.counts.refinements)
}

proptest! {
    #![proptest_config(cases(6, 300, 3_000))]

    #[test]
    fn programs_survive_their_text(program in generate::locks::program()) {
        prop_assert_eq!(program.to_string().parse(), Ok(program));
    }
}

#[test]
fn an_owner_locks_a_reentrant_mutex_again() {
    let again = "lock a; lock a; x = 1; unlock a; unlock a";
    let text = format!("reentrant a; plain x; thread A {{ {again} }} thread B {{ {again} }}");
    let seen = agrees(&text);
    assert_eq!((deadlocks(&seen), ends(&seen), seen.len()), (0, 1, 1));
    // The inner sections are no operations on the lock: one order for each order of the outer ones.
    assert_eq!(executions(&text), (2, 2, 0));
    let inner = "lock a; lock a; unlock a; unlock a";
    let text = format!("reentrant a; thread A {{ {inner} }} thread B {{ {inner} }}");
    agrees(&text);
    assert_eq!(executions(&text), (2, 1, 0));
}

#[test]
fn only_the_outermost_release_frees_a_reentrant_mutex() {
    let seen =
        agrees("reentrant a; thread A { lock a; lock a; unlock a } thread B { lock a; unlock a }");
    assert_eq!(deadlocks(&seen), 1);
    assert_eq!(ends(&seen), 2);
}

#[test]
fn a_try_by_the_owner_of_a_reentrant_mutex_succeeds_unseen() {
    let text = "reentrant a; plain x; thread A { lock a; r = try a; assert r == 1; x = 1; unlock a; unlock a }
        thread B { lock a; x = 2; unlock a }";
    let seen = agrees(text);
    assert_eq!((seen.len(), ends(&seen)), (2, 2));
    assert_eq!(executions(text), (2, 2, 0));
}

#[test]
fn a_wait_gives_a_reentrant_mutex_back_wholly() {
    let seen = agrees(
        "reentrant a; condvar c; plain x;
        thread A { lock a; lock a; r = x; if r == 0 { wait c a } x = 2; unlock a; unlock a }
        thread B { lock a; x = 1; notify_all c; unlock a }",
    );
    assert_eq!((deadlocks(&seen), ends(&seen), seen.len()), (0, 2, 2));
}

#[test]
fn the_order_of_reentrant_locks_may_be_cyclic() {
    let seen = agrees(
        "reentrant a b; thread A { lock a; lock b; lock a; unlock a; unlock b; unlock a }
        thread B { lock b; lock a; unlock a; unlock b }",
    );
    assert_eq!((deadlocks(&seen), ends(&seen)), (1, 2));
}

fn has_race(seen: &BTreeSet<Failure>) -> bool {
    seen.iter().any(is_race)
}

#[test]
fn the_first_that_comes_runs_the_body_of_a_once() {
    for (number, traces) in [(2, 2), (3, 3), (4, 4)] {
        let text = same("once o; plain x;", number, "once o { x = 1 } r = x; assert r == 1");
        let seen = agrees(&text);
        assert_eq!((ends(&seen), seen.len()), (1, 1));
        // Only who comes first makes a difference; those that pass commute.
        assert_eq!(executions(&text), (traces, traces, 0));
    }
    let twice =
        agrees("once o; plain x; thread A { repeat 2 { once o { x += 1 } } r = x; assert r == 1 }");
    assert_eq!(twice.len(), 1);
}

#[test]
fn what_a_once_does_happens_before_all_that_pass_and_nothing_else() {
    let seen = agrees(
        "once o; plain x; thread A { once o { x = 1 } } thread B { once o { x = 2 } r = x }",
    );
    assert!(!has_race(&seen));
    // Passing tells nobody anything.
    let seen = agrees(
        "once o; plain x; thread A { once o { } x = 1; once o { } } thread B { once o { } r = x }",
    );
    assert!(has_race(&seen));
    let seen =
        agrees("once o; plain x; thread A { x = 1; once o { } } thread B { once o { } r = x }");
    assert!(has_race(&seen));
}

#[test]
fn a_once_whose_body_fails_is_never_done() {
    let seen = agrees(
        "once o; thread A { once o { assert r == 1 } } thread B { once o { assert r == 1 } }",
    );
    assert_eq!((deadlocks(&seen), seen.len()), (2, 6));
}

#[test]
fn a_once_within_itself_deadlocks() {
    assert_eq!(deadlocks(&agrees("once o; thread A { once o { once o { } } }")), 1);
    let crossed = "once o p; thread A { once o { once p { } } } thread B { once p { once o { } } }";
    assert_eq!(deadlocks(&agrees(crossed)), 1);
}

#[test]
fn a_once_may_wait_for_a_lock_that_its_waiters_hold() {
    let seen = agrees(
        "once o; mutex a; thread A { once o { lock a; unlock a } } thread B { lock a; once o { } unlock a }",
    );
    assert_eq!(deadlocks(&seen), 1);
}

#[test]
fn a_fifo_condvar_wakes_the_longest_waiter() {
    let waiters = |kind: &str| {
        agrees(&format!(
            "mutex a; {kind} c; atomic n; thread A {{ lock a; n = 1; wait c a; unlock a }}
            thread B {{ await n == 1; lock a; n = 2; wait c a; unlock a }}
            thread C {{ await n == 2; lock a; notify_one c; unlock a }}"
        ))
    };
    // Only the second waiter is left behind, and never the first one.
    assert_eq!((deadlocks(&waiters("fifo")), deadlocks(&waiters("condvar"))), (1, 2));
}

#[test]
fn the_order_in_a_fifo_queue_is_explored() {
    let waiters = |kind: &str| {
        let wait = "lock a; wait c a; unlock a";
        format!(
            "mutex a; {kind} c; thread A {{ {wait} }} thread B {{ {wait} }}
            thread C {{ lock a; notify_one c; unlock a }}"
        )
    };
    // Either waiter may be woken, or none (the notification comes first).
    assert_eq!(deadlocks(&agrees(&waiters("fifo"))), 3);
    // C before, between, and after two waiters, in both orders. (DPOR also orders the one that was
    // woken and the other's coming.) Without an order of the queue there are two less, and two more
    // for the choice.
    assert_eq!(executions(&waiters("fifo")), (8, 6, 0));
    assert_eq!(executions(&waiters("condvar")).1, 5);
    // The queue keeps its order when another one leaves it.
    let seen = agrees(
        "mutex a; fifo c; atomic n m; thread A { lock a; n = 1; r = waitfor c a; unlock a; m = 1 }
        thread B { await n == 1; lock a; n = 2; wait c a; unlock a }
        thread C { await m == 1; await n == 2; lock a; notify_one c; unlock a }",
    );
    assert_eq!(deadlocks(&seen), 0);
}

#[test]
fn a_wait_with_a_timeout_ends_by_itself_and_says_so() {
    let alone =
        agrees("mutex a; condvar c; thread A { lock a; r = waitfor c a; assert r == 1; unlock a }");
    assert_eq!((deadlocks(&alone), alone.len()), (0, 2));
    // Notified, timed out before the notification, or after it (which was lost).
    let text = "mutex a; condvar c; atomic f; thread A { lock a; r = waitfor c a; unlock a }
        thread B { lock a; notify_one c; unlock a }";
    let seen = agrees(text);
    assert_eq!((deadlocks(&seen), ends(&seen)), (0, 2));
    // The mutex is taken again in either case.
    let seen = agrees(
        "mutex a; condvar c; plain x; thread A { lock a; r = waitfor c a; x = 1; unlock a }
        thread B { lock a; x = 2; notify_one c; unlock a }",
    );
    assert!(!has_race(&seen));
    let seen = agrees(
        "mutex a b; condvar c; thread A { lock b; lock a; r = waitfor c a; unlock a; unlock b }
        thread B { lock a; lock b; notify_one c; unlock b; unlock a }",
    );
    // Both wait for the other's lock when the time is up.
    assert_eq!(deadlocks(&seen), 1);
}

#[test]
fn a_notification_does_not_take_a_timeout_away() {
    // The search first lets the notification come; that the waiter may have left before has to be
    // seen all the same.
    let seen = agrees(
        "mutex a; condvar c; atomic f; thread A { lock a; r = waitfor c a; unlock a; if r == 0 { f = 1 } }
        thread B { notify_all c } thread C { q = f; assert q == 0 }",
    );
    assert!(seen.iter().any(|failure| matches!(failure, Failure::Assertion { .. })));
}

#[test]
fn who_times_out_first_may_have_been_notified() {
    // The search lets a time be up only if nothing else can happen: so first A's, and then B's,
    // whose notification is lost.
    let seen = agrees(
        "mutex a d; condvar c; thread A { lock a; r = waitfor c a; unlock a }
        thread B { lock d; q = waitfor c d; notify_one c; unlock d }",
    );
    assert_eq!((deadlocks(&seen), ends(&seen)), (0, 2));
}

#[test]
fn a_waiter_may_wake_up_for_no_reason_or_never() {
    let text = |spurious: u8| {
        format!(
            "mutex a; condvar c; spurious {spurious};
            thread A {{ lock a; wait c a; wait c a; unlock a }}"
        )
    };
    for (spurious, ends_seen) in [(0, 1), (1, 2), (2, 3)] {
        let seen = agrees(&text(spurious));
        assert_eq!((deadlocks(&seen), ends(&seen)), (1, ends_seen), "{spurious}");
    }
    // A wait that is not repeated while its condition does not hold is wrong.
    let body = "lock a; r = x; if r == 0 { wait c a } r = x; assert r == 1; unlock a";
    let other = "lock a; x = 1; notify_one c; unlock a";
    let fails = |spurious: u8| {
        let text = format!(
            "mutex a; condvar c; plain x; spurious {spurious}; thread A {{ {body} }} thread B {{ {other} }}"
        );
        agrees(&text).iter().any(|failure| matches!(failure, Failure::Assertion { .. }))
    };
    assert_eq!((fails(0), fails(1)), (false, true));
}

#[test]
fn threads_that_only_meet_at_a_barrier_need_one_execution() {
    for number in 2..=5 {
        let declarations = format!("barrier b = {number};");
        let once = same(&declarations, number, "arrive b");
        assert_eq!(executions(&once), (1, 1, 0));
        let twice = same(&declarations, number, "arrive b; arrive b");
        assert_eq!(executions(&twice), (1, 1, 0));
    }
    let seen = agrees(&same("barrier b = 3;", 3, "arrive b; arrive b"));
    assert_eq!((ends(&seen), seen.len()), (1, 1));
}

#[test]
fn what_comes_before_a_barrier_happens_before_what_comes_after() {
    let text = "barrier b = 3; plain x y; thread A { x = 1; arrive b; r = y } thread B { arrive b; r = x; q = y }
        thread C { y = 1; arrive b; r = x; arrive b } thread D { arrive b }";
    let program = text.replace("arrive b } thread D { arrive b }", "}");
    assert_eq!(agrees(&program).len(), 1);
    assert_eq!(executions(&program), (1, 1, 0));
    // Not even one that ends because all that is left was seen.
    let (_, dpor) = search(&parse(&program), Strategy::Dpor, Limits::default());
    assert_eq!(dpor.counts.blocked, 0);
    // With one thread more than are waited for, any of them may be left out.
    let seen = agrees(text);
    assert!(has_race(&seen));
    // The order in which they come tells nobody anything.
    let seen =
        agrees("barrier b = 2; plain x; thread A { arrive b; x = 1 } thread B { arrive b; r = x }");
    assert!(has_race(&seen));
}

#[test]
fn data_is_published_and_taken_back_by_rounds_of_a_barrier() {
    let text = "barrier b = 2; plain x;
        thread A { repeat 2 { x += 1; arrive b; arrive b } } thread B { repeat 2 { arrive b; r = x; arrive b } }";
    assert_eq!(agrees(text).len(), 1);
    assert_eq!(executions(text), (1, 1, 0));
}

#[test]
fn a_barrier_waits_for_all() {
    let seen = agrees("barrier b = 3; thread A { arrive b } thread B { arrive b }");
    assert_eq!((deadlocks(&seen), ends(&seen)), (1, 1));
    let seen = agrees("barrier b = 1; thread A { arrive b; arrive b } thread B { arrive b }");
    assert_eq!((deadlocks(&seen), ends(&seen)), (0, 1));
    let text = "barrier b = 2; mutex a; thread A { lock a; arrive b; unlock a } thread B { lock a; unlock a; arrive b }";
    // B waits for the lock for good, or was faster.
    let seen = agrees(text);
    assert_eq!((deadlocks(&seen), ends(&seen)), (1, 2));
}

#[test]
fn who_comes_too_late_is_in_the_next_round() {
    for (number, left) in [(3, 3), (4, 0), (5, 5)] {
        let seen = agrees(&same("barrier b = 2;", number, "arrive b"));
        assert_eq!((deadlocks(&seen), ends(&seen)), (left, left.max(1)), "{number}");
    }
}

#[test]
fn coming_too_late_is_seen_by_what_comes_before() {
    // A reads, B and C meet twice and write in between, and only then A comes.
    let seen = agrees(
        "barrier b = 2; atomic f; thread A { r = f; arrive b } thread B { arrive b; f = 1; arrive b }
        thread C { arrive b; arrive b }",
    );
    let left = |failure: &&Failure| **failure == Failure::Deadlock { waiting: vec![Body(0)] };
    assert_eq!((seen.iter().filter(left).count(), ends(&seen)), (1, 6));
}

#[test]
fn who_waits_at_a_barrier_keeps_its_locks() {
    // A waits with its lock for C, which waits for B's, which waits for A's.
    let seen = agrees(
        "barrier x = 2; mutex a b; thread A { lock b; arrive x; unlock b }
        thread B { lock a; lock b; unlock b; unlock a } thread C { lock a; unlock a; arrive x }",
    );
    assert_eq!(deadlocks(&seen), 1);
}

#[test]
fn the_last_at_a_barrier_is_the_leader() {
    let text = same("barrier b = 2; atomic n;", 2, "r = arrive b; if r == 1 { n += 1 }");
    let seen = agrees(&format!("{text} thread E {{ join T0; join T1; q = n; assert q == 1 }}"));
    assert_eq!((deadlocks(&seen), ends(&seen), seen.len()), (0, 2, 2));
    for (number, orders) in [(2, 2), (3, 6)] {
        let declarations = format!("barrier b = {number};");
        let text = same(&declarations, number, "r = arrive b");
        assert_eq!(ends(&agrees(&text)), number as usize);
        assert_eq!((executions(&text).0, executions(&text).1), (orders, orders));
    }
}

#[test]
fn rounds_of_a_barrier_may_go_on_for_ever() {
    let program = parse(&same("barrier b = 2;", 2, "while r == 0 { arrive b }"));
    let (seen, outcome) = by_states(&program, Limits::default());
    assert_eq!((outcome.stop, seen.failures.len()), (Stop::Complete, 0));
}
