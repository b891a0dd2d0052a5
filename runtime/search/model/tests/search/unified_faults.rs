//! Each rule of the unified search, switched off: the oracle catches it, on the program that stands
//! for it (docs/algorithm.md#counter-examples) and on random programs.
//!
//! How many random programs it takes (`--nocapture` prints it): with rounds SummariesForgotten 42,
//! ConflictsOrder 3, NoRestart 3, WaitersLeftOut 83, ProtectedDropped 29, TryUnobserved 37,
//! NeverPark 70, NobodyActsFirst 2536; where states differ in knowledge TraceOrderForgotten 69,
//! NoLockEdges 69, KnowledgeForgotten 116, SharedLate 481 (with rounds); with loops
//! CyclesUnexpanded 11; with programs built from parts of counter-examples StoresPassOn 8,
//! HoldersForgotten 56, JudgedAtEnds 5.

use crate::check;
use crate::generate;
use crate::unified_oracle::{is_right, settings};

use check::{by_unified, parse};
use generate::parts::{self, Kit};
use generate::rounds;
use lockred_model::{ModelMachine, Program};
use lockred_search::Stop;
use lockred_search::fault::{self, Fault};
use lockred_search::machine::Machine;
use lockred_search::unified::{First, Keep, Pairs, Settings};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Programs until a fault counts as not caught.
const PROGRAMS: u32 = 30_000;

const ALL: Settings =
    Settings { pairs: Pairs::All, keep: Keep::All, first: First::LeastWanting, everybody: false };

/// Tells how many programs it takes to catch the fault. (Whether the search is right without it is
/// what the oracle tests: it is asked of the program that catches it.)
fn catch(fault: Fault, programs: impl Strategy<Value = Program>) {
    let mut runner = TestRunner::deterministic();
    let caught = (1..=PROGRAMS).find(|&number| {
        let tree = programs.new_tree(&mut runner).expect("every choice makes a program");
        let (program, settings) = (tree.current(), settings((number % 2) as u8 * 2 + 3));
        fault::with(fault, || is_right(&program, settings)) == Some(false)
            && is_right(&program, settings) == Some(true)
    });
    assert!(caught.is_some(), "{fault:?} is not caught by {PROGRAMS} programs");
    println!("{fault:?}: {} programs", caught.unwrap_or_default());
}

macro_rules! caught {
    ($($name:ident: $fault:ident, $programs:expr;)*) => {
        $(#[test]
        fn $name() {
            catch(Fault::$fault, $programs);
        })*
    };
}

fn close_to(
    (threads, length): (usize, usize),
    declared: &'static str,
    parts: &'static [&'static str],
) -> impl Strategy<Value = Program> {
    parts::program(Kit { declared, parts, threads, length, spawns: false })
}

caught! {
    summaries_forgotten: SummariesForgotten, rounds::program();
    conflicts_order: ConflictsOrder, rounds::program();
    no_restart: NoRestart, rounds::program();
    waiters_left_out: WaitersLeftOut, rounds::program();
    protected_dropped: ProtectedDropped, rounds::program();
    trace_order_forgotten: TraceOrderForgotten, rounds::knowing();
    no_lock_edges: NoLockEdges, rounds::knowing();
    knowledge_forgotten: KnowledgeForgotten, rounds::knowing();
    try_unobserved: TryUnobserved, rounds::program();
    never_park: NeverPark, rounds::program();
    cycles_unexpanded: CyclesUnexpanded, generate::looping(generate::any_program());
    nobody_acts_first: NobodyActsFirst, rounds::program();
    shared_late: SharedLate, rounds::program();
    stores_pass_on: StoresPassOn, close_to((3, 2), "plain x; atomic f g;",
        &["x = 1; release f = 1", "relaxed f = 2", "acquire r = f; if r == 2 { q = x }", "x = 3",
          "r = f", "release f = 1"]);
    holders_forgotten: HoldersForgotten, close_to((3, 2), "atomic x h; plain y; mutex m;",
        &["h = 1; x += 1", "lock m; y = 1; await h == 1; unlock m", "lock m; q = y; unlock m",
          "lock m; q = y; r = x; unlock m", "x += 1", "h = 1", "r = x"]);
    judged_at_ends: JudgedAtEnds, close_to((2, 3), "plain x y; atomic f g; mutex a b d;",
        &["read a; r = x; while r == 0 { f = 1; r = x } unread a", "x = 1", "g = 1", "g += 1",
          "lock a; unlock a", "x = 1; g = 1; lock a; unlock a", "y = 1", "q = y"]);
}

/// Whether the search is right about the program with its threads in every order.
fn right(text: &str, settings: Settings) -> bool {
    crate::faults::orders(text).iter().all(|text| {
        is_right(&parse(text), settings).unwrap_or_else(|| panic!("too many states: {text}"))
    })
}

macro_rules! named {
    ($($name:ident: $fault:ident, $text:literal;)*) => {
        $(#[test]
        fn $name() {
            let text = $text;
            for settings in (0..8).map(settings).chain([ALL]) {
                assert!(right(text, settings), "wrong without any fault, {settings:?}: {text}");
            }
            let right = fault::with(Fault::$fault, || right(text, ALL));
            assert!(!right, "the fault is not caught");
        })*
    };
}

named! {
    known_merged: KnowledgeForgotten, "plain x; atomic f g;
        thread W { x = 1; release f = 1; relaxed g = 1 }
        thread R { acquire r = f; r = 0; relaxed r = g; if r == 1 { r = x } r = 0 }";
    spin_after_rollback: JudgedAtEnds, "plain x; atomic f g; mutex a;
        thread A { read a; while r == 0 { f = 1; r = x } g += 1; unread a }
        thread B { x = 1; g = 1; lock a }";
    await_swallows_race: WaitersUnreported, "atomic f; thread A { f += 1; free f }
        thread B { await f == 0 }";
    late_watch: LateWatch, "atomic f; thread A { spawn B; f += 1; free f }
        thread B { await f == 0 }";
    after_too_much: ConflictsOrder, "plain y; atomic f;
        thread A { r = swap f 1; if r == 0 { y = 1; f = 0 } }
        thread B { f += 1 } thread C { f += 1 }";
    holders: HoldersForgotten, "atomic x h; plain y; mutex a; thread A { h = 1; x += 1 }
        thread B { lock a; y = 1; await h == 1; unlock a }
        thread C { lock a; q = y; r = x; unlock a }";
    decrements: DecrementsCommute, "plain x; atomic c;
        thread A { inc c; inc c; spawn B; r = dec c; if r == 1 { x = 1 } }
        thread B { r = dec c; if r == 1 { x = 2 } }";
    waiting_left_out: WaitersLeftOut, "atomic f; thread A { f = 1; f = 0 } thread B { await f == 1 }";
    handover: NoLockEdges, "mutex a; plain x y; thread A { x = 1; lock a; y = 1; unlock a }
        thread B { lock a; r = y; unlock a; if r == 1 { q = x } }";
}

/// Two threads that are rolled back in every state of a cycle race with each other. (Brute force
/// does not end here, as the detector counts rounds.)
#[test]
fn beside_in_a_cycle() {
    let program = parse(
        "plain x; atomic f g; mutex a;
        thread A { read a; spawn B; spawn C; while r == 0 { f = 1; r = g } }
        thread B { x = 1; lock a } thread C { x = 2; lock a }",
    );
    let races = || {
        let (seen, outcome, _) = by_unified(&program, ALL, 10_000);
        assert_eq!(outcome.stop, Stop::Complete);
        seen.failures.iter().filter(|failure| ModelMachine::is_race(failure)).count()
    };
    assert_eq!(races(), 1);
    assert_eq!(fault::with(Fault::JudgedAlone, races), 0);
}
