//! Walks towards cycles of locks: what they find is there, and they find it soon.

use crate::check;
use crate::generate;

use std::fmt::Write as _;

use check::brute::every_state;
use check::cases::cases;
use check::{Seen, leads_to, parse};
use lockred_model::program::{Mutex, Program};
use lockred_model::targets::Nesting;
use lockred_model::{Failure, ModelMachine, Watched};
use lockred_search::targeted::{Aim, PATIENCE, UNMET};
use lockred_search::{Choice, Limits, Observer, Outcome, Stop, random, targeted};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// So many walks towards each target, from this seed.
fn aim(targets: usize, walks: u64, seed: u64) -> Aim {
    Aim { targets: targets as u32, walks, operations: u64::MAX, seed }
}

/// Each mutex is locked under the one before, and the first one under the last.
fn cycle(mutexes: u8) -> Vec<Nesting> {
    (0..mutexes).map(|a| (Mutex(a), Mutex((a + 1) % mutexes))).collect()
}

fn is_deadlock(failure: &Failure) -> bool {
    matches!(failure, Failure::Deadlock { .. })
}

/// Stops at the first deadlock.
struct First;

impl Observer<Failure> for First {
    fn on_failure(&mut self, failure: Failure, _schedule: &[Choice]) -> bool {
        !is_deadlock(&failure)
    }
}

/// Executions until a deadlock shows, if one does in so many.
fn until_deadlock(
    program: &Program,
    targets: &[Vec<Nesting>],
    most: u64,
    walk: &dyn Fn(&mut ModelMachine, Limits, &mut First) -> Outcome,
) -> Option<u64> {
    let mut machine = ModelMachine::new(program).with_targets(targets.to_vec());
    let limits = Limits { executions: Some(most), ..Limits::default() };
    let outcome = walk(&mut machine, limits, &mut First);
    (outcome.stop == Stop::Failure).then_some(outcome.counts.executions)
}

/// A search that walks towards targets, for [`until_deadlock`].
fn towards(aim: Aim) -> impl Fn(&mut ModelMachine, Limits, &mut First) -> Outcome {
    move |machine, limits, first| targeted::explore(machine, aim, limits, first)
}

/// Walks towards targets, and reports all that was seen.
fn walks(program: &Program, targets: Vec<Vec<Nesting>>, aim: Aim) -> (Seen, Outcome) {
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(program).with_targets(targets).reporting_ends();
    // Some of the programs are endless.
    let limits = Limits { executions: None, operations: 2_000 };
    let outcome = targeted::explore(&mut machine, aim, limits, &mut seen);
    (seen, outcome)
}

/// Threads that lock mutexes under each other, with work in between.
fn nested() -> impl Strategy<Value = Program> {
    let part = (0..3u8, 0..3u8, 0..3u8, 0..3usize, any::<bool>());
    let body = proptest::collection::vec(part, 1..3);
    proptest::collection::vec(body, 2..4).prop_map(|bodies| {
        let mut text = String::from("atomic f; mutex a b c;\n");
        for (number, body) in bodies.iter().enumerate() {
            let _ = write!(text, "thread {} {{ ", char::from(b'A' + number as u8));
            for &(outer, inner, apart, work, reads) in body {
                let name = |a: u8| char::from(b'a' + a);
                let (outer, inner) = (name(outer), name((outer + 1 + inner % 2) % 3));
                let lock = |a: char| if reads { format!("read {a}") } else { format!("lock {a}") };
                let unlock =
                    |a: char| if reads { format!("unread {a}") } else { format!("unlock {a}") };
                if apart == 0 {
                    let _ = write!(text, "lock {inner}; unlock {inner}; ");
                }
                let _ = write!(text, "{}", "f += 1; ".repeat(work));
                let _ = write!(text, "lock {outer}; {}; ", lock(inner));
                let _ = write!(text, "{}; unlock {outer}; ", unlock(inner));
            }
            text.push_str("}\n");
        }
        parse(&text)
    })
}

/// All that walks see is there, and their schedules lead to it. Gives whether there is a deadlock,
/// and whether they see one.
fn compare(program: &Program, seed: u64) -> Result<[bool; 2], TestCaseError> {
    let machine = ModelMachine::new(program).reporting_ends();
    let all = every_state(&mut Watched::new(machine), usize::MAX).unwrap_or_default();
    let mutexes = || (0..program.mutexes).map(Mutex);
    let pairs = mutexes().flat_map(|a| mutexes().map(move |b| (a, b))).filter(|(a, b)| a != b);
    let targets = vec![pairs.collect(), cycle(program.mutexes), cycle(2)];
    let (seen, _) = walks(program, targets, aim(3, 20, seed));
    for (failure, schedule) in &seen.schedules {
        prop_assert!(all.contains(failure), "{failure:?} of {program}");
        prop_assert!(leads_to(program, schedule, failure), "{failure:?} of {program}");
    }
    Ok([all.iter().any(is_deadlock), seen.failures.iter().any(is_deadlock)])
}

proptest! {
    #![proptest_config(cases(61, 150, 20_000))]

    #[test]
    fn what_is_found_is_there(program in generate::any_program(), seed: u64) {
        compare(&program, seed)?;
    }

    #[test]
    fn equal_seeds_walk_equally(program in nested(), seed: u64) {
        let once = || walks(&program, vec![cycle(3)], aim(1, 5, seed));
        prop_assert_eq!(once(), once());
    }
}

#[test]
fn deadlocks_of_nested_locks_are_found() {
    let mut runner = TestRunner::new(cases(62, 300, 300));
    let (mut there, mut found) = (0, 0);
    for seed in 0..300 {
        let program = nested().new_tree(&mut runner).unwrap().current();
        let [is_there, is_found] = compare(&program, seed).unwrap();
        there += u32::from(is_there);
        found += u32::from(is_found);
    }
    assert!(there > 50 && found * 100 >= there * 95, "{found} of {there}");
}

/// Philosophers who think before they take their forks, the one of their own first.
fn philosophers(number: u8, thoughts: usize) -> Program {
    let fork = |place: u8| char::from(b'a' + place % number);
    let mut text = format!(
        "atomic t; mutex {};\n",
        (0..number).map(|place| format!("{} ", fork(place))).collect::<String>()
    );
    for place in 0..number {
        let (name, one, other) = (char::from(b'A' + place), fork(place), fork(place + 1));
        let thoughts = thoughts * (1 + usize::from(place));
        let _ = writeln!(
            text,
            "thread {name} {{ repeat {thoughts} {{ t += 1 }} lock {one}; lock {other}; \
             unlock {other}; unlock {one} }}"
        );
    }
    parse(&text)
}

#[test]
fn philosophers_starve_in_the_first_walks() {
    for number in [2, 3, 5, 7] {
        for seed in 0..10 {
            let program = philosophers(number, 10);
            let targets = [cycle(number)];
            let most = 2_000;
            let first = until_deadlock(&program, &targets, most, &towards(aim(1, most, seed)));
            assert_eq!(first, Some(1), "{number} philosophers, seed {seed}");
            if number > 2 {
                let at_random = until_deadlock(&program, &[], most, &|machine, limits, first| {
                    random::explore(machine, seed, limits, first)
                });
                assert!(at_random.is_none_or(|walks| walks > 20), "{number}, {at_random:?}");
            }
        }
    }
}

#[test]
fn who_is_paused_too_early_is_paused_before() {
    // B needs a before it comes to its part.
    let program = parse(
        "atomic t; mutex a b; thread A { lock a; lock b; unlock b; unlock a }
        thread B { repeat 30 { t += 1 } lock a; unlock a; repeat 30 { t += 1 }
            lock b; lock a; unlock a; unlock b }",
    );
    for seed in 0..20 {
        // At its first place it is paused as A is, and one of them goes on.
        let found = until_deadlock(&program, &[cycle(2)], 50, &towards(aim(1, 50, seed)));
        assert!(found.is_some(), "seed {seed}");
    }
}

#[test]
fn who_is_paused_goes_on_where_others_never_end() {
    // B waits for what A does after its locks.
    let program = parse(
        "atomic f; mutex a b; thread A { lock a; lock b; unlock b; unlock a; f = 1 }
        thread B { while r == 0 { r = f } }",
    );
    let mut seen = Seen::default();
    let mut machine = ModelMachine::new(&program).with_targets(vec![cycle(2)]).reporting_ends();
    let limits = Limits { executions: None, operations: 2 * PATIENCE };
    let outcome = targeted::explore(&mut machine, aim(1, 1, 1), limits, &mut seen);
    assert!(outcome.counts.operations > PATIENCE, "{outcome:?}");
    assert!(seen.failures.iter().any(|end| matches!(end, Failure::End(_))), "it was cut");
}

#[test]
fn walks_are_bounded_by_number_and_by_operations() {
    let program = parse(
        "mutex a b; thread A { lock a; lock b; unlock b; unlock a }
        thread B { lock a; lock b; unlock b; unlock a }",
    );
    let executions = |targets: Vec<Vec<Nesting>>, walks_of_each, operations| {
        let number = targets.len() as u32;
        let aim = Aim { targets: number, walks: walks_of_each, operations, seed: 1 };
        walks(&program, targets, aim).1.counts.executions
    };
    let other = vec![(Mutex(1), Mutex(0))];
    assert_eq!(executions(vec![cycle(2), cycle(2)], 30, u64::MAX), 60);
    assert_eq!(executions(vec![cycle(2)], 30, 17), 3, "each has eight operations");
    assert_eq!(executions(vec![other.clone(), cycle(2)], 30, u64::MAX), UNMET + 30);
    assert_eq!(executions(vec![other], 3, u64::MAX), 3);
    assert_eq!(executions(vec![], 30, u64::MAX), 0);
}
