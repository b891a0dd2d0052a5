//! How many states and transitions the unified search needs for known programs: one line a program
//! in `unified_counts.txt`, which `BLESS=1` writes. Fewer would be unsound pruning, more lost
//! reduction.
//!
//! Columns: states, transitions, transactions that were rolled back, how often all threads were
//! wanted; states and transitions with the thread first that ran last, and with all threads
//! explored. A `-` is more than can be counted here. What is small enough is compared with brute
//! force.

use crate::check;

use check::brute::every_state;
use check::texts::{philosophers, same};
use check::{by_unified, parse};
use lockred_model::{Failure, ModelMachine};
use lockred_search::Stop;
use lockred_search::unified::{First, Settings};
use std::fmt::Write as _;
use std::path::Path;

/// Transactions after which a program is given up.
const MOST: u64 = 500_000;
/// Programs with more states than this are not compared with brute force.
const STATES: usize = 3_000;

/// The counts of a program, and whether brute force agrees.
fn counts(text: &str, settings: Settings) -> (Option<[u64; 4]>, bool) {
    let program = parse(text);
    let (seen, outcome, visited) = by_unified(&program, settings, MOST);
    if outcome.stop != Stop::Complete {
        return (None, true);
    }
    let machine = &mut ModelMachine::new(&program).reporting_ends();
    let race = |failure: &Failure| matches!(failure, Failure::Race { .. });
    let seen = seen.failures.into_iter().filter(|failure| !race(failure)).collect();
    let agrees = every_state(machine, STATES).is_none_or(|all| all == seen);
    let counts = [visited.states, visited.transitions, visited.rolled_back, visited.floods];
    (Some(counts), agrees)
}

#[test]
fn states_and_transitions_are_as_many_as_the_table_says() {
    let last = Settings { first: First::Last, ..Settings::default() };
    let everybody = Settings { everybody: true, ..Settings::default() };
    let mut table = String::new();
    for (name, text) in families() {
        let _ = write!(table, "{name:<30}");
        for (settings, shown) in [(Settings::default(), 4), (last, 2), (everybody, 2)] {
            let (counts, agrees) = counts(&text, settings);
            assert!(agrees, "brute force finds something else: {settings:?}: {text}");
            let cells = counts.map(|counts| counts[..shown].iter().map(u64::to_string).collect());
            let cells: Vec<String> = cells.unwrap_or_else(|| vec!["-".to_owned()]);
            let _ = write!(table, " | {}", cells.join("/"));
        }
        table.push('\n');
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/search/unified_counts.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, table).unwrap();
    } else {
        let old = std::fs::read_to_string(path).unwrap_or_default();
        let new: Vec<_> = table.lines().filter(|line| !old.lines().any(|l| l == *line)).collect();
        assert_eq!((new.join("\n"), table.lines().count()), (String::new(), old.lines().count()));
    }
}

fn families() -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: String, text: String| rows.push((name, text));
    for (n, k) in [(2, 10), (2, 100), (3, 10), (4, 5)] {
        let body = format!("repeat {k} {{ lock a; r = x; x = r + 1; r = 0; unlock a }}");
        row(format!("one lock {n}x{k}"), same("plain x; mutex a;", n, &body));
    }
    for (n, k) in [(2, 50), (3, 5)] {
        let body = format!(
            "repeat {k} {{ lock a; r = x; x = r + 1; r = 0; unlock a; lock b; r = y; y = r + 1; r = 0; unlock b }}"
        );
        row(format!("two locks {n}x{k}"), same("plain x y; mutex a b;", n, &body));
    }
    for (readers, k) in [(1, 20), (2, 8)] {
        let body = format!("repeat {k} {{ read a; r = x; r = 0; unread a }}");
        let writer = format!("repeat {k} {{ lock a; r = x; x = r + 1; r = 0; unlock a }}");
        let first = format!("plain x; mutex a; thread W {{ {writer} }}");
        row(format!("rwlock 1+{readers} x{k}"), same(&first, readers, &body));
    }
    for (n, k) in [(2, 30), (2, 300), (3, 30)] {
        let body = format!("repeat {k} {{ r = f += 1; r = 0 }}");
        row(format!("fetch_add {n}x{k}"), same("atomic f;", n, &body));
    }
    row("fetch_add unused 4x20".into(), same("atomic f;", 4, "repeat 20 { f += 1 }"));
    for (n, k) in [(2, 10), (3, 5)] {
        let body = format!(
            "i = 0; while i < {k} {{ r = 0; while r == 0 {{ r = cas f 0 1 }} r = x; x = r + 1; r = 0; f = 0; i = i + 1 }} i = 0"
        );
        row(format!("spin lock {n}x{k}"), same("plain x; atomic f;", n, &body));
    }
    for (producers, consumers, items) in [(1, 1, 100), (2, 1, 4), (2, 2, 3)] {
        let mut text = "plain n; mutex a; condvar full empty;\n".to_owned();
        for i in 0..producers {
            text.push_str(&format!(
                "thread P{i} {{ repeat {items} {{ lock a; r = n; while r == 1 {{ wait full a; r = n }}
                n = 1; r = 0; notify_one empty; unlock a }} }}\n"
            ));
        }
        let taken = producers * items / consumers;
        for i in 0..consumers {
            text.push_str(&format!(
                "thread C{i} {{ repeat {taken} {{ lock a; r = n; while r == 0 {{ wait empty a; r = n }}
                n = 0; r = 0; notify_one full; unlock a }} }}\n"
            ));
        }
        row(format!("bounded buffer {producers}+{consumers} x{items}"), text);
    }
    for (senders, k) in [(1, 100), (2, 10), (3, 5)] {
        let first = format!(
            "channel q = 255; thread R {{ repeat {} {{ r = recv q; r = 0 }} }}",
            senders * k
        );
        row(
            format!("mpsc {senders} x{k}"),
            same(&first, senders, &format!("repeat {k} {{ send q # }}")),
        );
    }
    for (n, k) in [(3, 10), (4, 5)] {
        let body = format!("repeat {k} {{ arrive b; arrive b }}");
        row(format!("barrier rounds {n}x{k}"), same(&format!("barrier b = {n};"), n, &body));
    }
    for (n, items) in [(3, 8), (4, 6)] {
        let body = format!(
            "while d == 0 {{ lock a; r = n; if r < {items} {{ n = r + 1 }} unlock a; if r == {items} {{ d = 1 }} r = 0 }} d = 0"
        );
        row(format!("work queue {n} workers {items} items"), same("plain n; mutex a;", n, &body));
    }
    for (n, k) in [(2, 100), (6, 20)] {
        let body = format!("repeat {k} {{ lock a#; r = x#; x# = r + 1; r = 0; unlock a# }}");
        let declared = "plain x0 x1 x2 x3 x4 x5; mutex a0 a1 a2 a3 a4 a5;";
        row(format!("own locks {n}x{k}"), same(declared, n, &body));
    }
    for (kind, declared) in [
        ("channels", "channel q0 = 255 q1 = 255 q2 = 255 q3 = 255;"),
        ("flags", "plain x0 x1 x2 x3; atomic f0 f1 f2 f3;"),
    ] {
        let mut text = declared.to_owned();
        for i in 0..4 {
            let body = if kind == "channels" {
                let receive =
                    if i > 0 { format!("r = recv q{}; r = 0;", i - 1) } else { String::new() };
                let send = if i < 3 { format!("send q{i} 1") } else { String::new() };
                format!("repeat 20 {{ {receive} {send} }}")
            } else {
                let take = if i > 0 {
                    let f = i - 1;
                    format!("await f{f} == 1; r = x{f}; r = 0; f{f} = 0;")
                } else {
                    String::new()
                };
                let give = if i < 3 {
                    format!("await f{i} == 0; x{i} = 1; f{i} = 1")
                } else {
                    String::new()
                };
                format!("repeat 20 {{ {take} {give} }}")
            };
            text.push_str(&format!("thread T{i} {{ {body} }}\n"));
        }
        row(format!("pipeline of {kind} 4 x20"), text);
    }
    row(
        "readers 5x10".into(),
        same("plain x; mutex a;", 5, "repeat 10 { lock a; r = x; r = 0; unlock a }"),
    );
    let first = "plain x; mutex a; thread W { lock a; x = 1; unlock a }";
    row(
        "1 writer, 4 readers x2".into(),
        same(first, 4, "repeat 2 { lock a; r = x; r = 0; unlock a }"),
    );
    row("push 5".into(), same("plain x; mutex a;", 5, "lock a; r = x; x = r + 1; unlock a"));
    row("lastzero 5".into(), crate::counts::families::last_zero(5, false));
    row("philosophers 5".into(), philosophers(5, false, ""));
    let hand = |i: u32| format!("r = x{i}; x{i} = r + 1;");
    let body = format!(
        "lock a0; {} lock a1; unlock a0; {} lock a2; unlock a1; {} unlock a2",
        hand(0),
        hand(1),
        hand(2)
    );
    row("hand over hand 4".into(), same("plain x0 x1 x2; mutex a0 a1 a2;", 4, &body));
    let body = "repeat 5 { r = x#; x# = r + 1; r = 0; lock a; r = y; y = r + 1; r = 0; unlock a }";
    let main = "thread M { spawn T0; spawn T1; spawn T2; spawn T3;
        join T0; join T1; join T2; join T3; r = y; r = 0 }";
    let first = format!("plain x0 x1 x2 x3 y; mutex a; {main}");
    row("scope of 4 x5".into(), same(&first, 4, body));
    rows
}
