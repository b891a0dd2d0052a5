//! How many transactions the stateful search runs for known programs, from all threads and from
//! persistent sets only.

use crate::check;

use check::texts::{philosophers, same};
use check::{all_states, by_persistent_sets, by_states, parse};
use lockred_search::{Limits, Stop};

/// Transactions that are run without and with persistent sets, in the passes over the program
/// together (those that are thrown away when two accesses to an atomic variable turn out to
/// conflict, too); compares with all states.
fn counts(text: &str) -> (u64, u64) {
    let program = parse(text);
    let (states, _) = all_states(&program);
    let (seen, all) = by_states(&program, Limits::default());
    assert_eq!((all.stop, &seen.failures), (Stop::Complete, &states.failures), "{text}");
    let (seen, some) = by_persistent_sets(&program, Limits::default());
    assert_eq!((some.stop, &seen.failures), (Stop::Complete, &states.failures), "{text}");
    (all.counts.transactions, some.counts.transactions)
}

const VARIABLES: &str = "plain x0 x1 x2 x3; mutex a0 a1 a2 a3;";

#[test]
fn what_does_not_conflict_needs_one_execution() {
    let rounds = "repeat 3 { lock a#; r = x#; x# = r + 1; unlock a# }";
    let locks = [2, 3, 4].map(|number| counts(&same(VARIABLES, number, rounds)));
    assert_eq!(locks, [(15, 6), (63, 9), (255, 12)]);
    let rounds = "repeat 2 { lock a0; r = x#; x# = r + 1; unlock a0 }";
    let data = [2, 3, 4].map(|number| counts(&same(VARIABLES, number, rounds)));
    assert_eq!(data, [(8, 4), (26, 6), (80, 8)]);
    let readers = [2, 3, 4].map(|n| counts(&same(VARIABLES, n, "lock a0; r = x0; unlock a0")));
    assert_eq!(readers, [(3, 2), (7, 3), (15, 4)]);
    let additions = [2, 3, 4].map(|number| counts(&same("atomic f;", number, "f += 1; f += 1")));
    // Additions commute: nothing refutes that a thread may make both of its own at once.
    assert_eq!(additions, [(3, 2), (7, 3), (15, 4)]);
}

#[test]
fn pushes_conflict() {
    let push = "lock a; r = x; x = r + 1; unlock a";
    let once = [2, 3, 4].map(|number| counts(&same("plain x; mutex a;", number, push)));
    assert_eq!(once, [(4, 4), (15, 15), (64, 64)]);
    let twice = format!("repeat 2 {{ {push} }}");
    let twice = [2, 3].map(|number| counts(&same("plain x; mutex a;", number, &twice)));
    assert_eq!(twice, [(18, 18), (234, 234)]);
}

#[test]
fn pairs_that_do_not_meet() {
    // Two threads push to one list, two to another.
    let push = |i: usize| format!("lock a{i}; r = x{i}; x{i} = r + 1; unlock a{i}");
    let threads = (0..4).map(|i| format!("thread T{i} {{ repeat 2 {{ {} }} }}\n", push(i / 2)));
    let text = format!("{VARIABLES}\n{}", threads.collect::<String>());
    assert_eq!(counts(&text), (324, 90));
}

#[test]
fn spawned_and_joined() {
    let own = same(VARIABLES, 3, "lock a#; x# = 1; unlock a#; lock a#; x# = 2; unlock a#");
    let main = "thread M { spawn T0; spawn T1; spawn T2; join T0; join T1; join T2;
        q = x0; assert q == 2 }";
    assert_eq!(counts(&format!("{own}{main}")), (44, 16));
}

#[test]
fn philosophers_eat() {
    assert_eq!([3, 4].map(|n| counts(&philosophers(n, false, ""))), [(36, 37), (112, 92)]);
    assert_eq!([3, 4].map(|n| counts(&philosophers(n, true, ""))), [(7, 3), (15, 4)]);
    assert_eq!(
        [3, 4].map(|n| counts(&philosophers(n, true, "x< = 1; x> = 1;"))),
        [(12, 12), (30, 28)]
    );
}

#[test]
fn publication_by_an_atomic_flag() {
    let readers = [1, 2, 3].map(|readers| {
        let writer = "plain x; atomic f; thread W { x = 1; f = 1 }";
        counts(&same(writer, readers, "r = f; if r == 1 { q = x }"))
    });
    assert_eq!(readers, [(10, 10), (26, 22), (82, 50)]);
}

#[test]
fn who_notifies_once() {
    // What the body of a `once` may do counts.
    let text = "mutex a; condvar c; once o; thread A { lock a; wait c a; unlock a }
        thread B { lock a; unlock a; lock a; unlock a; once o { notify_one c } }";
    assert_eq!(counts(text), (15, 15));
}

#[test]
fn who_waits_for_a_flag_in_a_loop() {
    let text = "atomic f; plain x y; mutex a; thread A { while r == 0 { r = f } }
        thread B { repeat 3 { lock a; x = 1; unlock a } f = 1 } thread C { repeat 3 { y = 1 } }";
    assert_eq!(counts(text), (40, 17));
}
