//! Random programs catch the faults of the search by access predicates too, not only the programs
//! that stand for them.
//!
//! How many programs it takes (`--nocapture` prints it): with any program AccessUnchecked 12,
//! AcquireIsLeft 37, BlockedUnseen 764, NoConditionC 126, ReleaseIsRight 20, UnprotectedIsMover 12,
//! VisitedStaysVisited 4 (CutAlone 2151, EndIsRight 2663, for which it is programs from parts of
//! their counter-examples here: N1 and N2); from parts ChangesUnchecked 1, InnerAcquireIsRight 159.

use crate::access;
use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use access::{is_of_thread, objections};
use check::brute::every_state;
use check::by_access_predicates;
use generate::parts::{self, Kit};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::flanagan_qadeer::Movers;
use lockred_search::fault::{self, Fault};
use lockred_search::footprint::ObjectId;
use lockred_search::{Limits, Stop};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Programs until a fault counts as not caught.
const PROGRAMS: u32 = 20_000;
/// Programs with more states are passed over.
const STATES: usize = 2_000;

/// Failures of threads, and objects whose predicates are objected to.
type Seen = (BTreeSet<Failure>, BTreeSet<ObjectId>);

fn seen(program: &Program) -> Option<Seen> {
    let limits = Limits { executions: Some(20_000), ..Limits::default() };
    let (seen, outcome, _) = by_access_predicates(program, Movers::Both, limits);
    let of_threads = seen.failures.iter().filter(|failure| is_of_thread(failure)).cloned();
    let violated = seen.failures.iter().filter_map(|failure| match failure {
        Failure::Violation(violation) => Some(violation.object()),
        _ => None,
    });
    (outcome.stop == Stop::Complete).then(|| (of_threads.collect(), violated.collect()))
}

/// Whether the search sees something else of the program with the fault than without, and the
/// oracle says that it is wrong.
fn is_caught(program: &Program, fault: Fault) -> bool {
    let right = seen(program);
    if right.is_none() || fault::with(fault, || seen(program)) == right {
        return false;
    }
    let Some(truth) = every_state(&mut ModelMachine::new(program), STATES) else { return false };
    let truth = truth.into_iter().filter(is_of_thread).collect();
    right == Some((truth, objections(program)))
}

fn catch(fault: Fault, programs: impl Strategy<Value = Program>) {
    let mut runner = TestRunner::deterministic();
    let caught = (1..=PROGRAMS).find(|_| {
        let tree = programs.new_tree(&mut runner).expect("every choice makes a program");
        is_caught(&tree.current(), fault)
    });
    println!("{fault:?}: {caught:?}");
    assert!(caught.is_some(), "{fault:?} is not caught by {PROGRAMS} programs");
}

macro_rules! caught {
    ($($name:ident: $fault:ident, $programs:expr;)*) => {
        $(#[test]
        fn $name() {
            catch(Fault::$fault, $programs);
        })*
    };
}

/// Programs with what the faults need, in plenty.
fn kit() -> impl Strategy<Value = Program> {
    parts::program(Kit {
        declared: "plain x y; atomic f g; mutex a; mutex b d; reentrant e;
            exclusive y when by T0 and f == 0 or by T1 and f == 1 or held b and f == 2;",
        parts: &[
            "lock a; x = 1; unlock a",
            "lock a; r = x; unlock a",
            "lock e; f = 1; lock e; g = 1; unlock e; unlock e",
            "lock e; r = f; lock e; q = g; unlock e; unlock e; if r == 0 { assert q == 0 }",
            "f = 1",
            "f = 2",
            "r = f",
            "q = f; if q == 0 { r = y; q = y; if r == 0 { assert q == 0 } }",
            "q = f; if q == 1 { y = 1 }",
            "y = 2",
            "x = 1",
            "assert r == 0",
            "await g == 1",
            "g += 1",
            "r = x; q = x; if r == 0 { assert q == 0 }",
            "while r == 0 { r = x }",
        ],
        threads: 2,
        length: 4,
        spawns: false,
    })
}

/// Programs of threads that wait for values and for ends.
fn waiting() -> impl Strategy<Value = Program> {
    parts::program(Kit {
        declared: "plain x; atomic f g; mutex a b d;",
        parts: &[
            "x = 1",
            "f = 1",
            "r = f",
            "lock a; unlock a",
            "if r == 1 { lock a; unlock a; assert r == 0 }",
            "await g == 1",
            "join T0",
            "assert r == 1",
        ],
        threads: 3,
        length: 3,
        spawns: false,
    })
}

caught! {
    release_is_right: ReleaseIsRight, generate::any_program();
    acquire_is_left: AcquireIsLeft, generate::any_program();
    inner_acquire_is_right: InnerAcquireIsRight, kit();
    unprotected_is_mover: UnprotectedIsMover, generate::any_program();
    no_condition_c: NoConditionC, generate::any_program();
    cut_alone: CutAlone, waiting();
    visited_stays_visited: VisitedStaysVisited, generate::any_program();
    access_unchecked: AccessUnchecked, generate::any_program();
    blocked_unseen: BlockedUnseen, generate::any_program();
    changes_unchecked: ChangesUnchecked, kit();
    end_is_right: EndIsRight, waiting();
}
