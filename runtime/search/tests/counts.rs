//! Executions that the search needs for known programs: complete ones as many as there are traces, blocked ones apart.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;

use check::{all_states, parse, search};
use lockred_search::{Limits, Stop, Strategy};

/// Explores by DPOR, compares with all states, and gives back the complete and the blocked executions.
fn counts(text: &str) -> (u64, u64) {
    let program = parse(text);
    let (seen, outcome) = search(&program, Strategy::Dpor, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    assert_eq!(seen.failures, all_states(&program).0.failures, "{text}");
    (outcome.counts.executions, outcome.counts.blocked)
}

/// `declarations`, and `number` threads that all have `body`, in which `#` stands for the thread's number.
fn same(declarations: &str, number: usize, body: &str) -> String {
    let threads =
        (0..number).map(|i| format!("thread T{i} {{ {} }}\n", body.replace('#', &i.to_string())));
    format!("{declarations}\n{}", threads.collect::<String>())
}

#[test]
fn increments_whose_results_are_used_have_all_orders() {
    for (number, traces) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        assert_eq!(counts(&same("atomic f;", number, "r = f += 1")), (traces, 0));
    }
}

#[test]
fn increments_whose_results_are_not_used_commute() {
    for number in 2..=5 {
        assert_eq!(counts(&same("atomic f;", number, "f += 1")), (1, 0));
    }
}

#[test]
fn pairs_of_stores_have_all_interleavings() {
    assert_eq!(counts("atomic f; thread A { f = 1; f = 2 } thread B { f = 3; f = 4 }"), (6, 0));
}

#[test]
fn litmus_tests() {
    let store_buffering = "atomic f g; thread A { f = 1; r = g } thread B { g = 1; r = f }";
    assert_eq!(counts(store_buffering), (3, 0));
    let load_buffering = "atomic f g; thread A { r = g; f = 1 } thread B { r = f; g = 1 }";
    assert_eq!(counts(load_buffering), (3, 0));
    let message_passing = "atomic f g; thread A { f = 1; g = 1 } thread B { r = g; q = f }";
    assert_eq!(counts(message_passing), (3, 0));
    let two_plus_two = "atomic f g; thread A { f = 1; g = 2 } thread B { g = 1; f = 2 }";
    assert_eq!(counts(two_plus_two), (3, 0));
    let coherence = "atomic f; thread A { f = 1; f = 2 } thread B { r = f; q = f }";
    assert_eq!(counts(coherence), (6, 0));
    let iriw = "atomic f g; thread A { f = 1 } thread B { g = 1 }
        thread C { r = f; q = g } thread D { r = g; q = f }";
    assert_eq!(counts(iriw), (15, 0));
}

#[test]
fn readers_see_the_write_or_not() {
    for number in [2, 4, 8] {
        let text = same("atomic f; thread W { f = 1 }", number, "r = f");
        assert_eq!(counts(&text), (1 << number, 0));
    }
}

#[test]
fn last_zero() {
    let threads = |number: usize| {
        let mut text = String::new();
        text.push_str("atomic x0 x1 x2 x3 x4 x5;\nthread R { ");
        let mut tail = String::new();
        for i in (0..=number).rev() {
            text.push_str(&format!("r = x{i}; if r != 0 {{ "));
            tail.push('}');
        }
        text.push_str(&tail);
        text.push_str(" }\n");
        for i in 1..=number {
            text.push_str(&format!("thread T{i} {{ r = x{}; x{i} = r + 1 }}\n", i - 1));
        }
        text
    };
    let complete = |number| counts(&threads(number)).0;
    assert_eq!([1, 2, 3, 4, 5].map(complete), [2, 5, 12, 28, 64]);
}

#[test]
fn mutual_exclusion_has_all_orders() {
    for (number, traces) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let text = same("plain x; mutex a;", number, "lock a; r = x; x = r + 1; unlock a");
        assert_eq!(counts(&text), (traces, 0));
    }
    let text = same("plain x; mutex a;", 3, "repeat 2 { lock a; r = x; x = r + 1; unlock a }");
    assert_eq!(counts(&text), (90, 0));
}

#[test]
fn disjoint_locks_do_not_matter() {
    let text =
        same("mutex a0 a1 a2; plain x0 x1 x2;", 3, "repeat 3 { lock a#; x# = 1; unlock a# }");
    assert_eq!(counts(&text), (1, 0));
}

#[test]
fn crossed_locks() {
    let text = "mutex a b; thread A { lock a; lock b; unlock b; unlock a }
        thread B { lock b; lock a; unlock a; unlock b }";
    assert_eq!(counts(text), (3, 0));
}

#[test]
fn philosophers() {
    for number in [3, 4, 5] {
        let mut text = "mutex a0 a1 a2 a3 a4;\n".to_owned();
        for i in 0..number {
            let (left, right) = (i, (i + 1) % number);
            text.push_str(&format!(
                "thread T{i} {{ lock a{left}; lock a{right}; unlock a{right}; unlock a{left} }}\n"
            ));
        }
        assert_eq!(counts(&text).0, (1 << number) - 1);
    }
}

#[test]
fn spawned_threads_that_are_joined() {
    for (number, traces) in [(2, 2), (3, 6), (4, 24)] {
        let spawn: String = (0..number).map(|i| format!("spawn T{i}; ")).collect();
        let join: String = (0..number).map(|i| format!("join T{i}; ")).collect();
        let body = "lock a; r = x; x = r + 1; unlock a";
        let declarations = "plain x; mutex a;";
        let text = format!(
            "{}thread M {{ {spawn} {join} r = x; assert r == {number} }}",
            same(declarations, number, body)
        );
        assert_eq!(counts(&text), (traces, 0));
    }
}

#[test]
fn what_comes_before_a_spawn_or_after_a_join_is_no_race() {
    let text =
        "plain x; thread M { x = 1; spawn A; join A; r = x; x = 3 } thread A { r = x; x = 2 }";
    assert_eq!(counts(text), (1, 0));
}

#[test]
fn try_lock_or_skip() {
    for (number, traces) in [(2, 4), (3, 21), (4, 148)] {
        let body = "r = try a; if r == 1 { x = #; unlock a }";
        assert_eq!(counts(&same("plain x; mutex a;", number, body)).0, traces);
    }
}

#[test]
fn compare_exchange_of_one_value() {
    for number in [2, 3, 4, 5] {
        let traces = counts(&same("atomic f;", number, "r = cas f 0 7"));
        assert_eq!(traces.0, number as u64);
    }
}

#[test]
fn publication_by_an_atomic_flag() {
    for readers in [1, 2, 3] {
        let text = same(
            "plain x; atomic f; thread W { x = 1; f = 1 }",
            readers,
            "r = f; if r == 1 { q = x }",
        );
        assert_eq!(counts(&text), (1 << readers, 0));
    }
}

#[test]
fn waiting_for_a_value() {
    let text = "atomic f; plain x; thread A { x = 1; f = 1 } thread B { await f == 1; r = x }";
    assert_eq!(counts(text), (1, 0));
}
