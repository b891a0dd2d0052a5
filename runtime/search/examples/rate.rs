//! Measures searches on growing model programs: executions, transactions, operations and seconds per strategy, as a table.
//!
//! `cargo run --release -p lockred-search --example rate [most executions per row]`

use std::time::Instant;

use lockred_search::discipline::Discipline;
use lockred_search::model::{Failure, ModelMachine, Program};
use lockred_search::{
    Choice, Limits, Observer, Outcome, Stop, Strategy, explore, stateful, transactions,
};

struct GoOn;

impl Observer<Failure> for GoOn {
    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

/// Names and texts of programs.
fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for threads in 2..=4 {
        for rounds in 1..=3 {
            let same = |declarations: &str, body: &str| {
                let thread = |i: usize| {
                    let body = body.replace('#', &i.to_string());
                    format!("thread T{i} {{ repeat {rounds} {{ {body} }} }}\n")
                };
                format!("{declarations}\n{}", (0..threads).map(thread).collect::<String>())
            };
            let push = same("plain x; mutex a;", "lock a; r = x; x = r + 1; unlock a");
            programs.push((format!("push {threads}x{rounds}"), push));
            let atomic = same("atomic f;", "r = f += 1");
            programs.push((format!("fetch_add {threads}x{rounds}"), atomic));
        }
    }
    programs
}

fn main() {
    let most = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let limits = Limits { executions: Some(most), ..Limits::default() };
    println!(
        "{:<16} {:<13} {:>11} {:>12} {:>12} {:>8} {:>11} complete",
        "program",
        "strategy",
        "executions",
        "transactions",
        "operations",
        "seconds",
        "operations/s"
    );
    for (name, text) in programs() {
        let program: Program = match text.parse() {
            Ok(program) => program,
            Err(error) => {
                eprintln!("{name}: {error}");
                continue;
            }
        };
        let row = |strategy: &str, search: &dyn Fn(&mut ModelMachine) -> Outcome| {
            let mut machine = ModelMachine::new(&program);
            let start = Instant::now();
            let Outcome { stop, counts } = search(&mut machine);
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name:<16} {strategy:<13} {:>11} {:>12} {:>12} {seconds:>8.3} {:>11.0} {}",
                counts.executions,
                counts.transactions,
                counts.operations,
                counts.operations as f64 / seconds,
                stop == Stop::Complete
            );
        };
        row("dpor", &|machine| explore(machine, Strategy::Dpor, limits, &mut GoOn));
        row("transactions", &|machine| {
            transactions::explore(machine, &mut Discipline::default(), limits, &mut GoOn)
        });
        row("stateful", &|machine| {
            stateful::explore(machine, &mut Discipline::by_locks(), limits, &mut GoOn)
        });
        row("random", &|machine| {
            let limits = Limits { executions: Some(most.min(10_000)), ..limits };
            explore(machine, Strategy::Random { seed: 1 }, limits, &mut GoOn)
        });
    }
}
