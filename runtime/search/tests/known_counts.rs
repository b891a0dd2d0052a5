//! Known counts of programs from the literature (GenMC's and Nidhugg's test suites), for both reductions: complete executions as
//! many as there are traces under sequential consistency.

#![expect(dead_code, reason = "not every test file uses all of `check`")]
mod check;

use check::{by_transactions, parse, search};
use lockred_search::{Limits, Stop, Strategy};

/// Complete executions by single operations and by transactions, which have to be as many.
fn count(text: &str) -> u64 {
    let program = parse(text);
    let (_, outcome) = search(&program, Strategy::Dpor, Limits::default());
    assert_eq!(outcome.stop, Stop::Complete);
    let (_, by_transactions) = by_transactions(&program, Limits::default());
    assert_eq!(by_transactions.stop, Stop::Complete);
    assert_eq!(by_transactions.counts.executions, outcome.counts.executions, "{text}");
    outcome.counts.executions
}

/// `declarations`, and `number` threads that all have `body`, in which `#` stands for the thread's number and `>` for the next.
fn same(declarations: &str, number: usize, body: &str) -> String {
    let thread = |i: usize| {
        let body = body.replace('#', &i.to_string()).replace('>', &(i + 1).to_string());
        format!("thread T{i} {{ {body} }}\n")
    };
    format!("{declarations}\n{}", (0..number).map(thread).collect::<String>())
}

#[test]
fn increments_of_several_counters() {
    let increments = |counters: usize, threads| {
        let body: String = (0..counters).map(|i| format!("r = f{i} += 1; ")).collect();
        count(&same("atomic f0 f1 f2;", threads, &body))
    };
    assert_eq!([2, 3, 4, 5].map(|n| increments(1, n)), [2, 6, 24, 120]);
    assert_eq!([2, 3, 4].map(|n| increments(2, n)), [4, 36, 576]);
    assert_eq!([2, 3, 4].map(|n| increments(3, n)), [8, 216, 13824]);
}

#[test]
fn casrot() {
    let counts = [2, 3, 4, 5, 6, 7].map(|n| count(&same("atomic f;", n, "r = cas f # >")));
    assert_eq!(counts, [2, 5, 14, 43, 144, 523]);
}

#[test]
fn casw() {
    let counts = [2, 3, 4].map(|n| count(&same("atomic f;", n, "r = cas f 0 1; f = 2")));
    assert_eq!(counts, [6, 66, 1200]);
}

#[test]
fn indexer() {
    // Each thread puts four messages into a hash table of 128 slots, into the next free one.
    let program = |threads: usize| {
        let mut text = "atomic".to_owned();
        (0..128).for_each(|slot| text.push_str(&format!(" s{slot}")));
        text.push_str(";\n");
        for thread in 0..threads {
            text.push_str(&format!("thread T{thread} {{ "));
            for message in 1..=4 {
                let word = message * 11 + thread;
                let slot = word * 7 % 128;
                for probe in 0..4 {
                    text.push_str(&format!(
                        "r = cas s{} 0 {word}; if r == 0 {{ ",
                        (slot + probe) % 128
                    ));
                }
                text.push_str("}}}} ");
            }
            text.push_str("}\n");
        }
        text
    };
    assert_eq!(count(&program(11)), 1);
    assert_eq!(count(&program(12)), 8);
    assert_eq!(count(&program(13)), 64);
}

#[test]
fn fib_bench() {
    // Two threads add each other's number to their own; a third looks at both. (Values do not matter for the count.)
    let program = |rounds: usize| {
        format!(
            "atomic i = 1 j = 1;
            thread A {{ repeat {rounds} {{ r = i; q = j; i = 7 }} }}
            thread B {{ repeat {rounds} {{ r = j; q = i; j = 7 }} }}
            thread C {{ r = i; q = j }}"
        )
    };
    assert_eq!(count(&program(5)), 218_243);
}
