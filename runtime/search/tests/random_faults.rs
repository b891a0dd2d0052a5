//! Random programs catch every fault too, not only the program that stands for it. Tells how many each took.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;
mod generate;

use check::{all_watched_states, by_transactions, leads_to};
use lockred_search::fault::{self, Fault};
use lockred_search::model::Program;
use lockred_search::{Limits, Outcome, Stop};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Programs until a fault counts as not caught.
const PROGRAMS: u32 = if cfg!(feature = "deep") { 1_000_000 } else { 200 };

fn executions(number: u64) -> Limits {
    Limits { executions: Some(number), ..Limits::default() }
}

/// Whether the search sees something else of the program with the fault than without, and the oracle says that it is wrong; or,
/// for faults that only cost, whether it needs more.
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
fn catch(fault: Fault) {
    let mut runner = TestRunner::deterministic();
    let program = generate::any_program();
    let caught = (1..=PROGRAMS).find(|_| {
        let tree = program.new_tree(&mut runner).expect("every choice makes a program");
        is_caught(&tree.current(), fault)
    });
    assert!(caught.is_some(), "{fault:?} is not caught by {PROGRAMS} programs");
    println!("{fault:?}: {} programs", caught.unwrap_or_default());
}

macro_rules! caught {
    ($($name:ident: $fault:ident;)*) => {
        $(#[test]
        fn $name() {
            catch(Fault::$fault);
        })*
    };
}

caught! {
    no_lock_edges: NoLockEdges;
    never_park: NeverPark;
    blocked_left_out: BlockedLeftOut;
    blocked_behind_sleep: BlockedBehindSleep;
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

// Only rare programs show these.
#[cfg(feature = "deep")]
caught! {
    no_ghosts: NoGhosts;
    ghosts_enable: GhostsEnable;
    all_lock_edges: AllLockEdges;
    cycles_ignored: CyclesIgnored;
    no_guards: NoGuards;
    no_closure: NoClosure;
    notify_both: NotifyBoth;
    rolled_back_passed_over: RolledBackPassedOver;
    end_unchecked: EndUnchecked;
    join_never_reversed: JoinNeverReversed;
}
