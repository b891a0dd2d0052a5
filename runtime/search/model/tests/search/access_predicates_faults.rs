//! Each rule of the search by access predicates, switched off: the oracle catches it on the
//! counter-example that stands for it.

use crate::access;
use crate::check;

use std::collections::BTreeSet;

use access::{is_of_thread, objections};
use check::{all_states, by_access_predicates, parse};
use lockred_model::Failure;
use lockred_papers::flanagan_qadeer::Movers;
use lockred_search::fault::{self, Fault};
use lockred_search::{Limits, Stop};

/// Whether the oracle objects to what the search sees of the program.
fn objects(text: &str) -> bool {
    let program = parse(text);
    let (seen, outcome, _) = by_access_predicates(&program, Movers::Both, Limits::default());
    let of_threads = |failures: &BTreeSet<Failure>| {
        failures.iter().filter(|failure| is_of_thread(failure)).cloned().collect::<BTreeSet<_>>()
    };
    let violated = seen.failures.iter().filter_map(|failure| match failure {
        Failure::Violation(violation) => Some(violation.object()),
        _ => None,
    });
    outcome.stop != Stop::Complete
        || of_threads(&seen.failures) != of_threads(&all_states(&program).0.failures)
        || violated.collect::<BTreeSet<_>>() != objections(&program)
}

macro_rules! caught {
    ($($name:ident: $fault:ident, $text:literal;)*) => {
        $(#[test]
        fn $name() {
            assert!(!objects($text), "wrong without any fault");
            assert!(fault::with(Fault::$fault, || objects($text)), "the fault is not caught");
        })*
    };
}

caught! {
    a_release_is_no_right_mover: ReleaseIsRight, "plain x; atomic f; mutex a;
        thread A { lock a; x = 1; unlock a; r = f; assert r == 0 }
        thread B { lock a; r = x; unlock a; if r == 1 { f = 1 } }";
    an_acquire_is_no_left_mover: AcquireIsLeft, "plain x; atomic f; mutex a;
        thread A { f += 1; lock a; r = x; unlock a; assert r == 0 }
        thread B { lock a; q = f; if q == 1 { x = 1 } unlock a }";
    an_inner_acquire_begins_nothing: InnerAcquireIsRight, "atomic f g; reentrant a;
        thread A { lock a; r = f; lock a; q = g; unlock a; unlock a; if r == 0 { assert q == 0 } }
        thread B { f = 1; g = 1 }";
    unprotected_data_is_no_mover: UnprotectedIsMover, "plain x;
        thread A { x = 1; r = x; assert r == 1 } thread B { x = 2 }";
    transactions_end: NoConditionC, "plain x; atomic f;
        thread A { f = 1; while r == 0 { r = x } } thread B { q = f; assert q == 0 }";
    transactions_that_wait_end: NoConditionC, "atomic f g;
        thread A { f = 1; await g == 1 } thread B { q = f; assert q == 0 }";
    whether_they_end_is_the_threads_own_affair: CutAlone, "atomic x y; mutex a;
        thread A { r = x; if r == 1 { lock a; unlock a; assert r == 0 } }
        thread B { x = 1; await y == 1 }";
    visited_states_are_looked_at_again: VisitedStaysVisited, "plain x; mutex a;
        thread A { lock a; x = 1; unlock a } thread B { r = x; q = x; if r == 0 { assert q == 0 } }";
    accesses_refute_predicates: AccessUnchecked, "plain x; mutex a; exclusive x when held a;
        thread A { lock a; x = 1; r = x; unlock a; assert r == 1 } thread B { x = 2 }";
    accesses_remove_locks: AccessUnchecked, "plain x; atomic f;
        thread A { f = 1; x = 1; r = x; assert r == 1 } thread B { q = f; if q == 1 { x = 2 } }";
    who_waits_accesses: BlockedUnseen, "atomic x;
        thread A { await x == 1; assert r == 1 } thread B { x = 1 }";
    condition_i: SharingUnchecked, "plain x; atomic f; exclusive x when f == 0;
        thread A { x = 1; r = x; assert r == 1 } thread B { x = 2 }";
    condition_ii: ChangesUnchecked, "plain x; atomic f; exclusive x when by A and f == 0 or by B and f == 1;
        thread A { q = f; if q == 0 { r = x; r = x; assert r == 0 } } thread B { f = 1; x = 5 }";
    an_end_is_no_right_mover: EndIsRight, "plain x;
        thread M { spawn A; join A; assert r == 1 } thread A { x = 1 }";
}

/// With condition (ii) unchecked it is the program's own failure that is missed, not only the
/// violation.
#[test]
fn an_invalid_predicate_hides_failures() {
    let program = parse(
        "plain x; atomic f; exclusive x when by A and f == 0 or by B and f == 1;
        thread A { q = f; if q == 0 { r = x; r = x; assert r == 0 } } thread B { f = 1; x = 5 }",
    );
    let found = || {
        let (seen, ..) = by_access_predicates(&program, Movers::Both, Limits::default());
        seen.failures.iter().any(|failure| matches!(failure, Failure::Assertion { .. }))
    };
    assert!(found());
    assert!(!fault::with(Fault::ChangesUnchecked, found));
}
