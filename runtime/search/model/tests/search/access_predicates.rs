//! The search by access predicates on the examples of Flanagan and Qadeer's paper, section by
//! section, with the paper's numbers.

use crate::access;
use crate::access_programs as programs;
use crate::check;

use std::collections::BTreeSet;

use access::{is_of_thread, objections};
use check::texts::{philosophers, same};
use check::{Seen, all_states, by_access_predicates, by_transactions, leads_to, parse};
use lockred_model::{Failure, Program};
use lockred_papers::flanagan_qadeer::follow::Moved;
use lockred_papers::flanagan_qadeer::phase::Part;
use lockred_papers::flanagan_qadeer::predicates::Guard;
use lockred_papers::flanagan_qadeer::{Movers, Predicates, Violation};
use lockred_search::footprint::ObjectId;
use lockred_search::machine::ThreadId;
use lockred_search::{Covered, Limits, Outcome, Stop};
use programs::{GIVEN, alone, any_methods, counter, in_turn};

const ALL: [Movers; 3] = [Movers::Both, Movers::Left, Movers::None];

const fn variable(number: u64) -> ObjectId {
    ObjectId(number)
}

const fn mutex(number: u64) -> ObjectId {
    ObjectId((1 << 32) + number)
}

const fn queue(number: u64) -> ObjectId {
    ObjectId((2 << 32) + number)
}

fn of_threads(seen: &Seen) -> BTreeSet<Failure> {
    seen.failures.iter().filter(|failure| is_of_thread(failure)).cloned().collect()
}

fn violations(seen: &Seen) -> Vec<Violation> {
    let violation = |failure: &Failure| match failure {
        Failure::Violation(violation) => Some(*violation),
        _ => None,
    };
    seen.failures.iter().filter_map(violation).collect()
}

/// Compares the failures of threads with all states, with all movers, left ones and none; gives
/// back what was seen with all.
fn agrees(text: &str) -> (Seen, Outcome, Predicates) {
    let program = parse(text);
    let (states, _) = all_states(&program);
    for movers in ALL {
        let (seen, outcome, _) = by_access_predicates(&program, movers, Limits::default());
        assert_eq!((outcome.stop, outcome.covered), (Stop::Complete, Covered::Everything));
        assert_eq!(of_threads(&seen), of_threads(&states), "{movers:?}: {text}");
        for (failure, schedule) in &seen.schedules {
            let shows =
                matches!(failure, Failure::Violation(_)) || leads_to(&program, schedule, failure);
            assert!(shows, "{schedule:?} does not show {failure:?} of {text}");
        }
    }
    by_access_predicates(&program, Movers::Both, Limits::default())
}

fn inferred(program: &Program) -> Predicates {
    by_access_predicates(program, Movers::Both, Limits::default()).2
}

fn begun(moves: &[Moved]) -> usize {
    moves.iter().filter(|moved| moved.before == Part::None).count()
}

fn phases(moves: &[Moved]) -> Vec<bool> {
    moves.iter().map(|moved| moved.phase).collect()
}

fn movers(moves: &[Moved]) -> Vec<&'static str> {
    let name = |moved: &Moved| match (moved.left_mover, moved.right_mover) {
        (true, true) => "both",
        (true, false) => "left",
        (false, true) => "right",
        (false, false) => "neither",
    };
    moves.iter().map(name).collect()
}

// Section 2.

#[test]
fn each_method_of_the_counter_is_one_transaction() {
    let threads = "thread A { call incr(); call decr(); call read() } thread B { call incr() }";
    let lengths = [5, 5, 8];
    let begun = |predicates: &Predicates, program: &Program, movers| {
        let moves = alone(program, predicates, movers, lengths.iter().sum());
        let (incr, rest) = moves.split_at(lengths[0]);
        let (decr, read) = rest.split_at(lengths[1]);
        [begun(incr), begun(decr), begun(read)]
    };
    let given = parse(&counter(GIVEN, threads));
    let predicates = Predicates::given(&given.exclusive);
    assert_eq!(begun(&predicates, &given, Movers::Both), [1, 1, 1]);
    assert_eq!(begun(&predicates, &given, Movers::Left), [2, 2, 3]);
    assert_eq!(begun(&predicates, &given, Movers::None), lengths);
    // The same with predicates that were inferred.
    let program =
        parse(&counter("", &threads.replace("call incr() }", "call read(); call decr() }")));
    let predicates = inferred(&program);
    assert_eq!(begun(&predicates, &program, Movers::Both), [1, 1, 1]);
    assert_eq!(begun(&predicates, &program, Movers::Left), [2, 2, 3]);
}

#[test]
fn the_counters_actions_are_the_movers_that_section_2_says() {
    let program = parse(&counter(GIVEN, "thread A { call incr() }"));
    let moves = alone(&program, &Predicates::given(&program.exclusive), Movers::Both, 5);
    assert_eq!(movers(&moves), ["right", "both", "neither", "both", "left"]);
}

#[test]
fn the_counters_predicates_are_inferred() {
    let methods = any_methods(2);
    let text = counter("", &format!("thread A {methods} thread B {methods}"));
    let (seen, outcome, predicates) = agrees(&text);
    assert_eq!(of_threads(&seen), BTreeSet::new());
    let guards = |object| predicates.guards(object).cloned().unwrap_or_default();
    assert_eq!(guards(variable(0)), [Guard::Lock(mutex(0))].into());
    assert_eq!(guards(variable(1)), [Guard::Lock(mutex(1))].into());
    assert_eq!(guards(variable(2)), [].into());
    assert!(outcome.counts.refinements > 0);
    // What was inferred is valid, and needs no refinement when it is given.
    let (seen, outcome, _) =
        agrees(&counter(GIVEN, &format!("thread A {methods} thread B {methods}")));
    assert_eq!((violations(&seen), outcome.counts.refinements), (vec![], 0));
}

#[test]
fn a_counter_that_forgets_a_lock_is_found_out() {
    let text = counter("", "thread A { call incr() } thread B { call read() }");
    let without = text.replace("proc incr() { lock mx; ", "proc incr() { ");
    let without = without.replace("x = tx + 1; unlock mx }", "x = tx + 1 }");
    let (seen, _, predicates) = agrees(&without);
    assert!(seen.failures.iter().any(|failure| matches!(failure, Failure::Assertion { .. })));
    assert_eq!(predicates.guards(variable(0)), Some(&[].into()));
    // To the given predicate it is a violation of what section 4.2 asserts.
    let given = without.replace("proc incr", "exclusive x when held mx; proc incr");
    let (seen, ..) = agrees(&given);
    let of = violations(&seen);
    assert!(
        matches!(of[..], [Violation::Unguarded { object, .. }] if object == variable(0)),
        "{of:?}"
    );
}

// Section 4.3.

#[test]
fn read_phase_by_phase() {
    let program = parse(&counter(GIVEN, "thread A { call read() } thread B { call read() }"));
    let predicates = Predicates::given(&program.exclusive);
    let moves = alone(&program, &predicates, Movers::Both, 8);
    // Lines 1 to 8: acquire(mx), tx = x, acquire(my), ty = y, assert count == tx-ty, release(my),
    // release(mx), return.
    let (t, f) = (true, false);
    assert_eq!(phases(&moves), [t, t, t, t, f, f, f, f]);
    let asserted: Vec<_> = moves.iter().map(|moved| moved.asserted.clone()).collect();
    let (x, y) = (vec![variable(0)], vec![variable(1)]);
    assert_eq!(asserted, [vec![], x, vec![], y, vec![], vec![], vec![], vec![]]);
    let parts: Vec<_> = moves.iter().map(|moved| moved.before).collect();
    let (n, r, l) = (Part::None, Part::Right, Part::Left);
    assert_eq!(parts, [n, r, r, r, r, l, l, l]);
    // p := p on line 8, also if p is true: when `count` is not accessed, nothing commits before the
    // locks are released.
    let text =
        counter(GIVEN, "thread A { lock mx; tx = x; r = any 1; x = tx; unlock mx; r = any 1 }");
    let moves = alone(&parse(&text), &predicates, Movers::Both, 6);
    assert_eq!(phases(&moves), [t, t, t, t, f, f]);
}

// Section 5.1.

#[test]
fn thread_local_variables_need_no_lock() {
    let text = "plain x y z; mutex a; {}
        thread A { x = 1; lock a; z = 1; unlock a; r = x } thread B { y = 1; lock a; r = z; unlock a; r = y }";
    let program = parse(&text.replace("{}", ""));
    let predicates = inferred(&program);
    let thread = |number| Some(BTreeSet::from([Guard::Thread(ThreadId(number))]));
    assert_eq!(predicates.guards(variable(0)).cloned(), thread(0));
    assert_eq!(predicates.guards(variable(1)).cloned(), thread(1));
    let moves = alone(&program, &predicates, Movers::Both, 5);
    assert_eq!(movers(&moves), ["both", "right", "both", "left", "both"]);
    assert_eq!(begun(&moves), 1);
    // The user says so.
    let given = text
        .replace("{}", "exclusive x when by A; exclusive y when by B; exclusive z when held a;");
    let (seen, outcome, _) = agrees(&given);
    assert_eq!((violations(&seen), outcome.counts.refinements), (vec![], 0));
    // Of another thread.
    let wrong = text.replace("{}", "exclusive y when by A;");
    let (seen, ..) = agrees(&wrong);
    assert!(matches!(violations(&seen)[..], [Violation::Unguarded { thread: ThreadId(1), .. }]));
}

// Section 5.2.

#[test]
fn a_reentrant_lock_is_acquired_and_released_by_its_outermost_operations() {
    let text = "plain x; reentrant a;
        thread A { lock a; lock a; r = x; unlock a; x = r + 1; unlock a }
        thread B { lock a; r = x; lock a; x = r + 1; unlock a; unlock a }
        thread C { lock a; r = x; unlock a; assert r != 2 }";
    let (seen, ..) = agrees(text);
    assert_eq!(of_threads(&seen).len(), 1);
    let program = parse(text);
    let moves = alone(&program, &inferred(&program), Movers::Both, 6);
    assert_eq!(movers(&moves), ["right", "both", "both", "both", "both", "left"]);
    assert_eq!(begun(&moves), 1);
}

// Section 5.3.

#[test]
fn waiting_is_a_left_mover_and_then_a_right_mover() {
    let text = "plain x; mutex a; condvar c;
        thread A { lock a; r = x; if r == 0 { wait c a; r = x } unlock a; assert r == 1 }
        thread B { lock a; x = 1; notify_one c; unlock a }";
    let (seen, _, predicates) = agrees(text);
    assert_eq!(of_threads(&seen), BTreeSet::new());
    assert_eq!(predicates.guards(queue(0)), Some(&[Guard::Lock(mutex(0))].into()));
    let program = parse(text);
    let moves = in_turn(&program, &predicates, Movers::Both, &[0, 0, 0, 1, 1, 1, 1, 0, 0, 0]);
    assert_eq!(
        movers(&moves),
        ["right", "both", "left", "right", "both", "both", "left", "right", "both", "left"]
    );
    // The wait is two transactions: one ends with its first action, one begins with its second.
    let of_a: Vec<_> = moves.iter().filter(|moved| moved.thread == ThreadId(0)).cloned().collect();
    assert_eq!(begun(&of_a), 2);
    // notify_all is the same.
    agrees(&text.replace("notify_one", "notify_all"));
    // A notification without the lock, which the paper's programs cannot make, is a transaction of
    // its own.
    let bare = "plain x; mutex a; condvar c;
        thread A { lock a; r = x; if r == 0 { wait c a; r = x } unlock a; assert r == 1 }
        thread B { lock a; x = 1; unlock a; notify_one c }";
    let (_, _, predicates) = agrees(bare);
    assert_eq!(predicates.guards(queue(0)), Some(&[].into()));
}

#[test]
fn a_bounded_buffer_with_two_conditions() {
    let text = "plain n in out; mutex a; condvar full empty;
        thread P { repeat 3 { lock a; r = n; while r == 1 { wait empty a; r = n }
            n = r + 1; q = in; in = q + 1; notify_all full; unlock a } }
        thread C { repeat 3 { lock a; r = n; while r == 0 { wait full a; r = n }
            n = r + -1; q = out; out = q + 1; p = in; assert p == q + 1; notify_all empty; unlock a } }";
    // Comparisons are with constants.
    let text = text
        .replace("assert p == q + 1;", "while q != 0 { q = q + -1; p = p + -1 } assert p == 1;");
    let (seen, ..) = agrees(&text);
    assert_eq!(of_threads(&seen), BTreeSet::new());
    let (seen, ..) = agrees(&text.replace("while r == 1 { wait empty a; r = n }", ""));
    assert_eq!(of_threads(&seen).len(), 2);
}

// Section 6.

#[test]
fn locks_that_are_not_always_held_protect_nothing() {
    let text = "plain x; mutex a b; thread A { lock a; lock b; x = 1; unlock b; unlock a }
        thread B { lock a; r = x; unlock a } thread C { lock b; BODY unlock b }";
    let (_, outcome, predicates) = agrees(&text.replace("BODY", ""));
    assert_eq!(predicates.guards(variable(0)), Some(&[Guard::Lock(mutex(0))].into()));
    // All locks, those that A holds, and a alone.
    assert_eq!(outcome.counts.refinements, 2);
    let (_, _, predicates) = agrees(&text.replace("BODY", "x = 2;"));
    assert_eq!(predicates.guards(variable(0)), Some(&[].into()));
}

#[test]
fn what_was_inferred_is_known_the_next_time() {
    let program = parse(&counter("", "thread A { call read() } thread B { call incr() }"));
    let (_, first, mut predicates) =
        by_access_predicates(&program, Movers::Both, Limits::default());
    let states = predicates.states();
    let mut machine = lockred_model::ModelMachine::new(&program);
    let mut seen = Seen::default();
    let again = lockred_papers::flanagan_qadeer::explore(
        &mut machine,
        &mut predicates,
        Movers::Both,
        Limits::default(),
        &mut seen,
    );
    assert!(first.counts.refinements > 0);
    assert_eq!((again.stop, again.counts.refinements), (Stop::Complete, 0));
    assert!(predicates.states() <= states);
}

#[test]
fn a_lock_that_is_tried_is_nobodys() {
    let text = "plain x; mutex a; thread A { lock a; x = 1; unlock a }
        thread B { q = try a; if q == 1 { r = x; unlock a } assert q == 1 }";
    let (seen, _, predicates) = agrees(text);
    assert_eq!(of_threads(&seen).len(), 1);
    assert_eq!(predicates.guards(mutex(0)), Some(&[].into()));
    assert_eq!(predicates.guards(variable(0)), Some(&[Guard::Lock(mutex(0))].into()));
}

// What the paper does not have (`action`).

#[test]
fn starting_a_thread_is_a_left_mover_and_waiting_for_its_end_a_right_mover() {
    let text =
        "plain x; thread M { x = 1; spawn A; join A; r = x; assert r == 1 } thread A { x = 2 }";
    let (seen, ..) = agrees(text);
    assert_eq!(of_threads(&seen).len(), 1);
    let program = parse(&text.replace("x = 2", "q = any 1"));
    let moves = in_turn(&program, &inferred(&program), Movers::Both, &[0, 0, 1, 0, 0]);
    assert_eq!(movers(&moves), ["both", "left", "left", "right", "both"]);
    // If two threads may start it, it is neither: who comes second makes a mistake, in whatever
    // order.
    let (seen, ..) = agrees(
        "atomic f; thread A { f = 1; spawn C } thread B { r = f; if r == 1 { spawn C } } thread C { }",
    );
    assert_eq!(of_threads(&seen).len(), 2);
}

#[test]
fn an_abort_is_in_nobodys_transaction() {
    let (seen, ..) =
        agrees("atomic f; thread A { f = 1; abort } thread B { r = f; assert r == 0 }");
    assert_eq!(of_threads(&seen).len(), 2);
}

// Where the paper's words are not enough (`predicates`, `condition_c`).

#[test]
fn a_thread_that_waits_for_a_value_accesses_it() {
    let (seen, ..) =
        agrees("atomic x; thread A { await x == 1; assert r == 1 } thread B { x = 1 }");
    assert_eq!(of_threads(&seen).len(), 1);
}

#[test]
fn a_transaction_that_cannot_end_is_ended_whatever_others_do() {
    let (seen, ..) = agrees(
        "atomic x y; mutex a; thread A { r = x; if r == 1 { lock a; unlock a; assert r == 0 } }
        thread B { x = 1; await y == 1 }",
    );
    assert_eq!(of_threads(&seen).len(), 1);
}

#[test]
fn cyclic_state_spaces_end() {
    agrees(
        "atomic f; thread A { r = f; while r == 0 { r = f } } thread B { f = 1; assert r == 1 }",
    );
    agrees(
        "plain x; atomic f; thread A { f = 1; while r == 0 { r = x } } thread B { q = f; assert q == 0 }",
    );
    agrees(
        "plain x; mutex a; thread A { lock a; unlock a; while r == 0 { r = x } }
        thread B { lock a; unlock a; assert r == 1 }",
    );
    agrees("plain x; thread A { while r == 0 { r = x } } thread B { q = any 2; assert q == 0 }");
}

// Conditions (i) and (ii) and the assertion of section 4.2.

#[test]
fn two_threads_may_not_have_exclusive_access_at_once() {
    let text = "plain x; atomic f; exclusive x when f == 0;
        thread A { r = x; x = r + 1 } thread B { r = x; x = r + 1; r = x; assert r == 2 }";
    let (seen, ..) = agrees(text);
    let (one, other) = (ThreadId(0), ThreadId(1));
    assert_eq!(violations(&seen), [Violation::Shared { object: variable(0), one, other }]);
    assert_eq!(of_threads(&seen).len(), 1);
}

#[test]
fn exclusive_access_may_not_be_given_to_others() {
    // A hand-over by a flag, which works, but is no exclusive access predicate.
    let text = "plain x; atomic f; exclusive x when by A and f == 0 or by B and f == 1;
        thread A { x = 1; f = 1 } thread B { await f == 1; r = x; assert r == 0 }";
    let (seen, ..) = agrees(text);
    let violation =
        Violation::Changed { object: variable(0), of: ThreadId(1), by: ThreadId(0), site: 1 };
    assert_eq!(violations(&seen), [violation]);
    assert_eq!(of_threads(&seen).len(), 1);
}

#[test]
fn access_may_not_change_in_the_middle_of_a_transaction_either() {
    // B gives x to A while f is 1, which is in the middle of A's transaction only, where B is never
    // scheduled. B does not know f.
    let text = "plain x f g; mutex a; exclusive x when by A and f == 1 and g == 1;
        thread A { FIRST f = 1; f = 0 } thread B { g = 1 }";
    let given =
        |v: &Violation| matches!(v, Violation::Changed { of: ThreadId(0), by: ThreadId(1), .. });
    for first in ["", "lock a;"] {
        let text = text.replace("FIRST", first);
        let (seen, ..) = agrees(&text);
        assert!(matches!(&violations(&seen)[..], [violation] if given(violation)), "{text}");
        assert_eq!(objections(&parse(&text)), [variable(0)].into());
    }
    // If A's lock keeps f as it is while B holds it, B knows.
    let locked = "plain x f g; mutex a; exclusive x when by A and f == 1 and g == 1;
        thread A { lock a; f = 1; f = 0; unlock a } thread B { lock a; r = f; g = 1; unlock a }";
    assert_eq!((violations(&agrees(locked).0), objections(&parse(locked))), (vec![], [].into()));
}

#[test]
fn a_variable_may_be_a_lock() {
    // A lock that knows its owner, as section 2 has it. Its value says who has exclusive access to
    // x; who tries looks at it whoever has it, so nobody has exclusive access to the lock itself.
    let turn = "r = cas l 0 ME; while r == 0 { r = cas l 0 ME } q = x; x = q + 1; q = x; l = 0;";
    let text = format!(
        "plain x; atomic l; GIVEN
        thread A {{ {} }} thread B {{ {} lock; }}",
        turn.replace("ME", "1"),
        turn.replace("ME", "2")
    )
    .replace("lock;", "assert q != 1");
    let given = "exclusive x when by A and l == 1 or by B and l == 2;";
    let (seen, outcome, with) = agrees(&text.replace("GIVEN", given));
    assert_eq!((violations(&seen), of_threads(&seen).len()), (vec![], 1));
    // Of l alone, which first belongs to one thread and then to nobody.
    assert_eq!(outcome.counts.refinements, 2);
    let (_, _, without) = agrees(&text.replace("GIVEN", ""));
    assert_eq!((with.states(), without.states()), (25, 31));
}

#[test]
fn what_protects_a_variable_may_change() {
    // While f is 0 lock a protects x, then lock b; who changes f holds both. No lock is always
    // held.
    let text = "plain x f; mutex a b; GIVEN
        thread A { lock a; r = f; if r == 0 { x = 1; r = x; assert r == 1 } unlock a }
        thread B { lock b; r = f; if r == 1 { x = 2; r = x; assert r == 2 } unlock b }
        thread C { lock a; lock b; f = 1; unlock b; unlock a }";
    let given = "exclusive x when held a and f == 0 or held b and f == 1;";
    let (seen, _, with) = agrees(&text.replace("GIVEN", given));
    assert_eq!((violations(&seen), of_threads(&seen).len()), (vec![], 0));
    let (_, _, without) = agrees(&text.replace("GIVEN", ""));
    assert_eq!(without.guards(variable(0)), Some(&[].into()));
    assert!(with.states() < without.states(), "{} {}", with.states(), without.states());
    // Without b, C takes access away from nobody, and gives it to B if B holds b.
    let (seen, ..) = agrees(
        &text.replace("GIVEN", given).replace("lock a; lock b; f = 1; unlock b;", "lock a; f = 1;"),
    );
    let found = violations(&seen);
    let given_away = |v: &Violation| matches!(v, Violation::Changed { by: ThreadId(2), .. });
    assert!(!found.is_empty() && found.iter().all(given_away), "{found:?}");
}

#[test]
fn a_gate_lock_makes_an_inner_lock_a_both_mover() {
    let text = "plain x; mutex g a; exclusive a when held g; thread A { lock g; lock a; x = 1; unlock a; unlock g }
        thread B { lock g; lock a; r = x; unlock a; unlock g }";
    let (seen, ..) = agrees(text);
    assert_eq!(violations(&seen), []);
    let program = parse(text);
    let predicates = by_access_predicates(&program, Movers::Both, Limits::default()).2;
    let moves = alone(&program, &predicates, Movers::Both, 5);
    assert_eq!(movers(&moves), ["right", "both", "both", "both", "left"]);
    let (seen, ..) =
        agrees(&text.replace("B { lock g; ", "B { ").replace("; unlock g }\n", " }\n"));
    let wrong =
        text.replace("lock g; lock a; r = x; unlock a; unlock g", "lock a; r = x; unlock a");
    let (other, ..) = agrees(&wrong);
    assert_eq!(violations(&seen).len(), 1);
    assert!(matches!(violations(&other)[..], [Violation::Unguarded { thread: ThreadId(1), .. }]));
}

// What it does not see (section 7).

fn deadlocks(seen: &Seen) -> usize {
    seen.failures.iter().filter(|failure| matches!(failure, Failure::Deadlock { .. })).count()
}

#[test]
fn deadlocks_are_missed_and_the_default_search_finds_them() {
    let mut texts = vec![
        "plain x; mutex a b; thread A { lock a; lock b; x = 1; unlock b; unlock a }
        thread B { lock b; lock a; x = 2; unlock a; unlock b }"
            .to_owned(),
    ];
    texts.extend([3, 4].map(|number| philosophers(number, false, "")));
    for text in texts {
        let (seen, ..) = agrees(&text);
        assert_eq!(deadlocks(&seen), 0, "{text}");
        let (seen, outcome) = by_transactions(&parse(&text), Limits::default());
        assert_eq!((outcome.stop, deadlocks(&seen)), (Stop::Complete, 1), "{text}");
    }
    // After an access that commits, the lock is wanted outside of a transaction, and the deadlock
    // is seen.
    let (seen, ..) = agrees(
        "atomic f; mutex a b; thread A { lock a; f += 1; lock b; unlock b; unlock a }
        thread B { lock b; f += 1; lock a; unlock a; unlock b }",
    );
    assert_eq!(deadlocks(&seen), 1);
}

#[test]
fn a_violated_lock_order_can_be_asserted() {
    // Section 7: before every acquire, the locks held are asserted to be lower ones.
    let (seen, ..) = agrees(
        "mutex a b; thread A { lock a; held = 1; assert held < 2; lock b; unlock b; unlock a }
        thread B { lock b; held = 2; assert held < 1; lock a; unlock a; unlock b }",
    );
    assert!(of_threads(&seen).iter().any(|f| matches!(f, Failure::Assertion { .. })));
}

#[test]
fn end_states_are_missed() {
    // A ends before its commit, holding the lock: nobody runs after it.
    let text = "mutex a; plain x; thread A { lock a } thread B { x = 1 }";
    let ends = |seen: &Seen| {
        seen.failures.iter().filter(|failure| matches!(failure, Failure::End(_))).count()
    };
    let (seen, ..) = agrees(text);
    assert_eq!((ends(&seen), ends(&all_states(&parse(text)).0)), (0, 1));
    // Who goes wrong there is in no transaction any more (A1).
    let (seen, ..) = agrees(&text.replace("lock a }", "lock a; r = any 1; assert r == 1 }"));
    assert_eq!(ends(&seen), 1);
}

// How much is saved.

/// States, and those of them between transactions, with both movers, left ones and none.
fn sizes(text: &str) -> [(u64, u64); 3] {
    ALL.map(|movers| {
        let (_, outcome, predicates) =
            by_access_predicates(&parse(text), movers, Limits::default());
        assert_eq!(outcome.stop, Stop::Complete);
        (predicates.states(), predicates.boundaries())
    })
}

#[test]
fn states_are_as_many_as_ever() {
    let push = "lock a; r = x; x = r + 1; unlock a";
    let disjoint = "lock a#; x# = 1; unlock a#";
    let methods = any_methods(2);
    let rows = [
        (same("plain x; mutex a;", 2, push), [(17, 5), (17, 5), (17, 17)]),
        (same("plain x; mutex a;", 4, push), [(257, 65), (257, 65), (257, 257)]),
        (same("atomic f;", 3, "f += 1; f += 1"), [(27, 27), (27, 27), (27, 27)]),
        (same("plain x0 x1 x2; mutex a0 a1 a2;", 3, disjoint), [(32, 8), (32, 8), (64, 64)]),
        (philosophers(3, true, "x< = 1; x> = 1;"), [(68, 8), (96, 24), (120, 120)]),
        (philosophers(4, true, "x< = 1; x> = 1;"), [(176, 16), (352, 72), (624, 624)]),
        (
            counter("", &format!("thread A {methods} thread B {methods}")),
            [(2227, 253), (2944, 988), (4082, 4082)],
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(sizes(&text), expected, "{text}");
    }
}
