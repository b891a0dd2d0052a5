//! The oracle of the search by access predicates: on random programs it reports exactly the
//! failures of threads that brute force finds, whatever predicates are given; and it objects to a
//! given predicate exactly if brute force does.
//!
//! Failures of threads are what it is claimed for (`flanagan_qadeer`): deadlocks and end states are
//! only checked to exist.

use crate::access;
use crate::check;
use crate::generate;

use std::collections::BTreeSet;

use access::{is_of_thread, objections};
use check::brute::every_state;
use check::cases::cases;
use check::{by_access_predicates, leads_to};
use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::flanagan_qadeer::{Atom, Movers, Predicate};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::{Limits, Stop};
use proptest::collection::vec;
use proptest::prelude::*;

/// Programs with more states than this are passed over, and with given predicates, for which all
/// steps are gone through again and again.
const STATES: usize = 20_000;
const STATES_WITH_PREDICATES: usize = 2_000;
/// The search is cut after so many executions, and then only has to report nothing that does not
/// exist.
const EXECUTIONS: u64 = 20_000;
/// Failures of a program whose schedules are run again.
const REPLAYED: usize = 8;

fn compare(program: &Program, movers: Movers) -> Result<(), TestCaseError> {
    let mut machine = ModelMachine::new(program).reporting_ends();
    let most = if program.exclusive.is_empty() { STATES } else { STATES_WITH_PREDICATES };
    let Some(truth) = every_state(&mut machine, most) else { return Ok(()) };
    let limits = Limits { executions: Some(EXECUTIONS), ..Limits::default() };
    let (seen, outcome, _) = by_access_predicates(program, movers, limits);
    let violations: BTreeSet<ObjectId> = seen.failures.iter().filter_map(violated).collect();
    let real = |failure: &&Failure| violated(failure).is_none();
    prop_assert!(seen.failures.iter().filter(real).all(|f| truth.contains(f)), "{}", program);
    if outcome.stop == Stop::Complete {
        let of_threads = |failures: &BTreeSet<Failure>| {
            failures.iter().filter(|f| is_of_thread(f)).cloned().collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(of_threads(&seen.failures), of_threads(&truth), "{:?} {}", movers, program);
        if movers == Movers::None {
            let found = seen.failures.iter().filter(real).cloned().collect::<BTreeSet<_>>();
            prop_assert_eq!(found, truth, "{}", program);
        }
        prop_assert_eq!(violations, objections(program), "{:?} {}", movers, program);
    }
    for (failure, schedule) in seen.schedules.iter().filter(|(f, _)| real(&f)).take(REPLAYED) {
        prop_assert!(leads_to(program, schedule, failure), "{:?} of {}", schedule, program);
    }
    Ok(())
}

/// The object whose predicate the failure objects to.
fn violated(failure: &Failure) -> Option<ObjectId> {
    match failure {
        Failure::Violation(violation) => Some(violation.object()),
        _ => None,
    }
}

fn movers() -> impl Strategy<Value = Movers> {
    prop_oneof![6 => Just(Movers::Both), 2 => Just(Movers::Left), 1 => Just(Movers::None)]
}

/// Predicates of some variables and one mutex, over the two mutexes and the values of the atomics.
fn predicates() -> impl Strategy<Value = Vec<(ObjectId, Predicate)>> {
    let atom = prop_oneof![
        4 => (0..2u64).prop_map(|a| Atom::Held(mutex(a))),
        2 => (0..3u32).prop_map(|thread| Atom::By(ThreadId(thread))),
        3 => (0..4u64, 0..3).prop_map(|(x, value)| Atom::Value(ObjectId(x), value)),
    ];
    let predicate = vec(vec(atom, 1..3), 0..3).prop_map(Predicate);
    let by_value = (0..4u64).prop_map(|x| {
        let owner =
            |thread, value| vec![Atom::By(ThreadId(thread)), Atom::Value(ObjectId(x), value)];
        Predicate(vec![owner(0, 1), owner(1, 2)])
    });
    let by_phase = (0..4u64).prop_map(|x| {
        let phase = |lock, value| vec![Atom::Held(mutex(lock)), Atom::Value(ObjectId(x), value)];
        Predicate(vec![phase(0, 0), phase(1, 1)])
    });
    let object = prop_oneof![5 => (0..4u64).prop_map(ObjectId), 1 => (0..2u64).prop_map(mutex)];
    let predicate = prop_oneof![3 => predicate, 1 => by_value, 1 => by_phase];
    vec((object, predicate), 1..3).prop_map(|mut all| {
        all.sort_by_key(|(object, _)| *object);
        all.dedup_by_key(|(object, _)| *object);
        all
    })
}

fn mutex(number: u64) -> ObjectId {
    ObjectId((1 << 32) + number)
}

fn with_predicates(programs: impl Strategy<Value = Program>) -> impl Strategy<Value = Program> {
    (programs, predicates()).prop_map(|(mut program, predicates)| {
        program.exclusive = predicates;
        program
    })
}

macro_rules! oracle {
    ($($name:ident: $test:literal, $programs:expr;)*) => {
        $(proptest! {
            #![proptest_config(cases($test, 1_000, 50_000))]

            #[test]
            fn $name(program in $programs, movers in movers()) {
                compare(&program, movers)?;
            }
        })*
    };
}

oracle! {
    single_statements: 60, generate::single_statements(2, 12);
    patterns: 61, generate::patterns(3, 9);
    any_size: 62, generate::any_program();
    the_lock_family: 63, generate::locks::program();
    barriers: 64, generate::parts::meetings();
    loops: 65, generate::looping(generate::program(2, 8));
    given_predicates: 66, with_predicates(generate::program(2, 10));
    given_predicates_of_three_threads: 67, with_predicates(generate::program(3, 7));
}
