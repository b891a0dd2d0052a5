//! Executions that the search by transactions needs for known programs (ALGORITHM.md 8.2): complete ones, and blocked ones.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;

use check::{all_states, by_transactions, parse};
use lockred_search::model::Failure;
use lockred_search::{Limits, Stop};

/// Complete and blocked executions of the final pass, and refinements; compares with all states.
fn counts(text: &str) -> (u64, u64, u64) {
    let program = parse(text);
    let (mut seen, outcome) = by_transactions(&program, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    seen.failures.retain(|failure| !matches!(failure, Failure::Race { .. }));
    assert_eq!(seen.failures, all_states(&program).0.failures, "{text}");
    (outcome.counts.executions, outcome.counts.blocked, outcome.counts.refinements)
}

/// `declarations`, and `number` threads that all have `body`, in which `#` stands for the thread's number.
fn same(declarations: &str, number: usize, body: &str) -> String {
    let threads =
        (0..number).map(|i| format!("thread T{i} {{ {} }}\n", body.replace('#', &i.to_string())));
    format!("{declarations}\n{}", threads.collect::<String>())
}

#[test]
fn pushes_under_a_lock_have_all_orders() {
    let push = "lock a; r = x; x = r + 1; unlock a";
    for (number, traces) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        assert_eq!(counts(&same("plain x; mutex a;", number, push)), (traces, 0, 0));
    }
    for (number, traces) in [(2, 6), (3, 90), (4, 2520)] {
        let text = same("plain x; mutex a;", number, &format!("repeat 2 {{ {push} }}"));
        assert_eq!(counts(&text), (traces, 0, 0));
    }
}

#[test]
fn what_does_not_conflict_needs_one_execution() {
    for number in 2..=5 {
        let readers = same("plain x; mutex a;", number, "lock a; r = x; unlock a");
        assert_eq!(counts(&readers), (1, 0, 0));
    }
    let variables = "plain x0 x1 x2 x3; mutex a0 a1 a2 a3;";
    for number in 2..=4 {
        let locks = same(variables, number, "repeat 3 { lock a#; r = x#; x# = r + 1; unlock a# }");
        assert_eq!(counts(&locks), (1, 0, 0));
        let data = same(variables, number, "repeat 2 { lock a0; r = x#; x# = r + 1; unlock a0 }");
        assert_eq!(counts(&data), (1, 0, 0));
    }
}

#[test]
fn writers_and_readers_under_a_lock() {
    let text = |writers: usize, readers: usize| {
        let mut text = "plain x; mutex a;".to_owned();
        for i in 0..writers {
            text.push_str(&format!("thread W{i} {{ lock a; x = {i}; unlock a }}"));
        }
        for i in 0..readers {
            text.push_str(&format!("thread R{i} {{ lock a; r = x; unlock a }}"));
        }
        text
    };
    assert_eq!(counts(&text(1, 2)), (4, 0, 0));
    assert_eq!(counts(&text(1, 4)), (16, 0, 0));
    assert_eq!(counts(&text(2, 2)), (18, 0, 0));
    assert_eq!(counts(&text(2, 3)), (54, 0, 0));
}

#[test]
fn last_zero() {
    let program = |number: usize, locked: bool| {
        let mut text = "mutex a;".to_owned();
        text.push_str(if locked { "plain" } else { "atomic" });
        text.push_str(" x0 x1 x2 x3 x4 x5;\nthread R { ");
        let (before, after) = if locked { ("lock a;", "unlock a;") } else { ("", "") };
        for i in (0..=number).rev() {
            text.push_str(&format!("{before} r = x{i}; {after} if r != 0 {{ "));
        }
        text.push_str(&"}".repeat(number + 1));
        text.push_str(" }\n");
        for i in 1..=number {
            let from = i - 1;
            text.push_str(&format!(
                "thread T{i} {{ {before} r = x{from}; {after} {before} x{i} = r + 1; {after} }}\n"
            ));
        }
        text
    };
    for locked in [false, true] {
        assert_eq!(counts(&program(3, locked)), (12, 0, 0));
        assert_eq!(counts(&program(4, locked)), (28, 2, 0));
        assert_eq!(counts(&program(5, locked)), (64, 15, 0));
    }
}

#[test]
fn crossed_locks() {
    let text = "mutex a b; thread A { lock a; lock b; unlock b; unlock a }
        thread B { lock b; lock a; unlock a; unlock b }";
    assert_eq!(counts(text), (3, 0, 1));
    let gated = "mutex g a b; plain x;
        thread A { lock g; lock a; lock b; x = 1; unlock b; unlock a; unlock g }
        thread B { lock g; lock b; lock a; x = 2; unlock a; unlock b; unlock g }";
    assert_eq!(counts(gated), (2, 0, 0));
}

#[test]
fn philosophers() {
    let table = |number: usize, ordered: bool, body: &str| {
        let mut text = "plain x0 x1 x2 x3 x4; mutex a0 a1 a2 a3 a4;\n".to_owned();
        for i in 0..number {
            let (mut left, mut right) = (i, (i + 1) % number);
            if ordered && left > right {
                (left, right) = (right, left);
            }
            let eat = body.replace('<', &left.to_string()).replace('>', &right.to_string());
            text.push_str(&format!(
                "thread T{i} {{ lock a{left}; lock a{right}; {eat} unlock a{right}; unlock a{left} }}\n"
            ));
        }
        text
    };
    for number in [3, 4, 5] {
        let traces = (1 << number) - 1;
        assert_eq!(counts(&table(number, false, "")).0, traces);
        assert_eq!(counts(&table(number, true, "")), (1, 0, 0));
        assert_eq!(counts(&table(number, true, "x< = 1; x> = 1;")), (traces - 1, 0, 0));
    }
}

#[test]
fn bounded_buffer() {
    let program = |producers: usize, consumers: usize, items: usize| {
        let mut text = "plain n; mutex a; condvar full empty;\n".to_owned();
        for i in 0..producers {
            text.push_str(&format!(
                "thread P{i} {{ repeat {items} {{ lock a; r = n; while r == 1 {{ wait full a; r = n }}
                n = 1; notify_one empty; unlock a }} }}\n"
            ));
        }
        let taken = producers * items / consumers;
        for i in 0..consumers {
            text.push_str(&format!(
                "thread C{i} {{ repeat {taken} {{ lock a; r = n; while r == 0 {{ wait empty a; r = n }}
                n = 0; notify_one full; unlock a }} }}\n"
            ));
        }
        text
    };
    for (items, traces) in [(1, 2), (2, 8), (3, 32)] {
        assert_eq!(counts(&program(1, 1, items)), (traces, 0, 0));
    }
    assert_eq!(counts(&program(2, 1, 1)).0, 16);
    assert_eq!(counts(&program(2, 2, 1)).0, 56);
}

#[test]
fn payload_through_a_locked_counter() {
    for (producers, traces) in [(1, 2), (2, 6), (3, 24)] {
        let mut text = "plain n x0 x1 x2; mutex a;\n".to_owned();
        for i in 0..producers {
            text.push_str(&format!(
                "thread P{i} {{ x{i} = 7; lock a; r = n; n = r + 1; unlock a }}\n"
            ));
        }
        text.push_str("thread C { lock a; r = n; unlock a; if r == 9 { q = x0 } }");
        assert_eq!(counts(&text), (traces, 0, 0), "{text}");
    }
}

#[test]
fn publication_by_an_atomic_flag() {
    for readers in [1, 2, 3] {
        let writer = "plain x; atomic f; thread W { x = 1; f = 1 }";
        let text = same(writer, readers, "r = f; if r == 1 { q = x }");
        assert_eq!(counts(&text), (1 << readers, 0, 0));
    }
}

#[test]
fn hand_over_hand() {
    let body = "lock a0; x0 = #; lock a1; unlock a0; x1 = #; lock a2; unlock a1; x2 = #; unlock a2";
    for (number, traces) in [(2, 2), (3, 6), (4, 24)] {
        let text = same("plain x0 x1 x2; mutex a0 a1 a2;", number, body);
        assert_eq!(counts(&text), (traces, 0, 0));
    }
}

#[test]
fn try_lock_or_skip() {
    for (number, traces) in [(2, 4), (3, 21), (4, 148)] {
        let text = same("plain x; mutex a;", number, "r = try a; if r == 1 { x = #; unlock a }");
        let (complete, _, refinements) = counts(&text);
        assert_eq!((complete, refinements), (traces, 1));
    }
}

#[test]
fn spawned_threads_that_are_joined() {
    for (number, traces) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let spawn: String = (0..number).map(|i| format!("spawn T{i}; ")).collect();
        let join: String = (0..number).map(|i| format!("join T{i}; ")).collect();
        let text = format!(
            "{}thread M {{ {spawn} {join} r = x; assert r == {number} }}",
            same("plain x; mutex a;", number, "lock a; r = x; x = r + 1; unlock a")
        );
        assert_eq!(counts(&text), (traces, 0, 0));
    }
}

#[test]
fn hand_over_under_a_lock() {
    let text = "plain x y z u v; mutex a b; thread A { x = 1; z = 1; lock a; y = 1; unlock a }
        thread B { lock a; r = y; unlock a; if r == 1 { lock b; r = x; r = z; unlock b } }
        thread C { lock b; u = 1; unlock b } thread D { lock b; v = 1; unlock b }";
    assert_eq!(counts(text), (2, 0, 0));
}
