//! Random programs catch every fault too, not only the program that stands for it.
//!
//! How many programs it takes (`--nocapture` prints it): with any program NoLockEdges 4, NeverPark
//! 3, BlockedLeftOut 3, BlockedBehindSleep 63, ReleaseShadows 4, ProtectedDropped 4, NoRestart 7,
//! SleepTooLong 1, TryUnobserved 70, ChangeAsSection 3, NoWitness 4, TwoNonMovers 4, EagerPark 98.
//! The others are too rare for that: with programs built from the parts of their counter-examples
//! NothingInherited 221, InheritedEnable 636, AllLockEdges 537, CyclesIgnored 1, NoGuards 3 (of
//! which it only costs), NoClosure 96, NotifyBoth 258, RolledBackPassedOver 2396, EndUnchecked 450,
//! JoinNeverReversed 4.

use crate::check;
use crate::generate;

use check::{all_watched_states, by_transactions, leads_to};
use generate::parts::{self, Kit};
use lockred_model::Program;
use lockred_search::fault::{self, Fault};
use lockred_search::{Limits, Outcome, Stop};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Programs until a fault counts as not caught.
const PROGRAMS: u32 = 5_000;

fn executions(number: u64) -> Limits {
    Limits { executions: Some(number), ..Limits::default() }
}

/// Whether the search sees something else of the program with the fault than without, and the
/// oracle says that it is wrong; or, for faults that only cost, whether it needs more.
fn is_caught(program: &Program, fault: Fault) -> bool {
    let (right, without) = by_transactions(program, executions(500));
    if without.stop != Stop::Complete {
        return false;
    }
    let (seen, with) = fault::with(fault, || by_transactions(program, executions(2_000)));
    if matches!(fault, Fault::EagerPark | Fault::NoGuards) {
        let cost = |outcome: Outcome| {
            outcome.counts.executions + outcome.counts.blocked + outcome.counts.refinements
        };
        return cost(with) > cost(without);
    }
    if with.stop != Stop::Complete {
        return false;
    }
    if fault == Fault::NoWitness {
        let shown = |(failure, schedule): &(_, Vec<_>)| leads_to(program, schedule, failure);
        return !seen.schedules.iter().all(shown);
    }
    if seen.failures == right.failures {
        return false;
    }
    let (watched, watching) = all_watched_states(program, executions(20_000));
    watching.stop == Stop::Complete && watched.failures == right.failures
}

/// Tells how many programs it takes to catch the fault.
fn catch(fault: Fault, programs: impl Strategy<Value = Program>) {
    let mut runner = TestRunner::deterministic();
    let caught = (1..=PROGRAMS).find(|_| {
        let tree = programs.new_tree(&mut runner).expect("every choice makes a program");
        is_caught(&tree.current(), fault)
    });
    assert!(caught.is_some(), "{fault:?} is not caught by {PROGRAMS} programs");
    println!("{fault:?}: {} programs", caught.unwrap_or_default());
}

macro_rules! caught {
    ($($name:ident: $fault:ident;)*) => {
        $(#[test]
        fn $name() {
            catch(Fault::$fault, generate::any_program());
        })*
    };
}

caught! {
    no_lock_edges: NoLockEdges;
    never_park: NeverPark;
    blocked_left_out: BlockedLeftOut;
    blocked_after_sleep: BlockedBehindSleep;
    release_shadows: ReleaseShadows;
    protected_dropped: ProtectedDropped;
    no_restart: NoRestart;
    sleep_too_long: SleepTooLong;
    try_unobserved: TryUnobserved;
    change_as_section: ChangeAsSection;
    no_witness: NoWitness;
    two_non_movers: TwoNonMovers;
    eager_park: EagerPark;
}

/// Parts of the programs in docs/algorithm.md#counter-examples that are rarer than what any program
/// shows.
macro_rules! caught_near {
    ($($name:ident: $fault:ident, $threads:literal x $length:literal, $spawns:literal, $declared:literal, $parts:expr;)*) => {
        $(#[test]
        fn $name() {
            let (declared, parts) = ($declared, &$parts);
            let (threads, length, spawns) = ($threads, $length, $spawns);
            catch(Fault::$fault, parts::program(Kit { declared, parts, threads, length, spawns }));
        })*
    };
}

const SECTION: &str = "lock a; unlock a";

caught_near! {
    nothing_inherited: NothingInherited, 4 x 2, true, "mutex a b d; plain x;",
        ["lock a", SECTION, "lock a; x = 1; unlock a", "r = x"];
    inherited_enable: InheritedEnable, 3 x 3, false, "mutex a b d; condvar c; atomic f;",
        ["r = f", "notify_all c", "lock a; notify_all c; unlock a", "r = try a", "lock a; wait c a", "r = f += 1"];
    all_lock_edges: AllLockEdges, 2 x 3, false, "mutex a b d; plain x;",
        ["x = 1", SECTION, "r = x; if r == 1 { x = 2 }"];
    cycles_ignored: CyclesIgnored, 2 x 2, false, "mutex a b d;",
        [SECTION, "lock a", "lock a; lock b; unlock b; unlock a"];
    no_guards: NoGuards, 2 x 2, false, "mutex a b d;",
        ["lock d; lock a; lock b; unlock b; unlock a; unlock d", SECTION];
    no_closure: NoClosure, 3 x 3, false, "mutex a b d;",
        ["lock a", SECTION, "lock a; lock b", "lock a; lock b; unlock b"];
    notify_both: NotifyBoth, 2 x 2, false, "mutex a b d; condvar c; plain x y;",
        ["lock a; r = y; unlock a", "lock a; x = 1; unlock a", "if r == 1 { lock d; notify_one c; lock b; q = x; unlock b; unlock d }",
         "lock a; y = 1; wait c a; unlock a"];
    rolled_back_passed_over: RolledBackPassedOver, 3 x 2, false, "mutex a b d;",
        ["lock a", SECTION, "r = try a; if r == 1 { unlock a }", "lock a; lock b; lock d; unlock d"];
    end_unchecked: EndUnchecked, 3 x 3, true, "mutex a b d; plain x;",
        ["lock a", "x = 1", "r = x; if r == 0 { lock a }", "join T0", "join T1"];
    join_never_reversed: JoinNeverReversed, 3 x 2, false, "mutex a b d;",
        [SECTION, "lock a; join T1; unlock a", "join T2"];
}
