//! How searches grow on model programs, as a table: executions, transactions, operations, seconds,
//! rates and memory by threads, rounds and strategy. `cargo xtask bench search` runs it. It lives
//! here because examples of the search's own crate are built with the switch of its deliberate
//! faults, which costs time.
//!
//! `cargo run --release -p xtask --example searches [most transactions per row [program
//! [strategy]]]`

#[path = "../../runtime/search/model/tests/search/check/memory.rs"]
mod memory;

use std::time::Instant;

use lockred_model::{Failure, ModelMachine, Program};
use lockred_papers::flanagan_qadeer::{self, Movers, Predicates};
use lockred_papers::persistent;
use lockred_papers::stoller::{self, Stoller};
use lockred_search::discipline::Discipline;
use lockred_search::unified::{self, Settings};
use lockred_search::{
    Choice, Counts, Limits, Observer, Outcome, Stop, Strategy, explore, stateful, transactions,
};
use memory::Counting;

#[global_allocator]
static MEMORY: Counting = Counting::new();

/// Transactions after which a search is stopped, unless the command line says otherwise.
const MOST: u64 = 1_000_000;

/// Goes on after failures, up to a number of transactions.
struct UpTo(u64);

impl Observer<Failure> for UpTo {
    fn on_step(&mut self, counts: &Counts) -> bool {
        counts.transactions < self.0
    }

    fn on_failure(&mut self, _: Failure, _: &[Choice]) -> bool {
        true
    }
}

/// Names and texts of programs.
fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    let families = [
        ("push", "plain x; mutex a;", "lock a; r = x; x = r + 1; unlock a"),
        ("fetch_add", "atomic f;", "r = f += 1"),
    ];
    for (name, declarations, body) in families {
        for threads in 2..=4 {
            for rounds in 1..=3 {
                let thread = |i: usize| format!("thread T{i} {{ repeat {rounds} {{ {body} }} }}\n");
                let text = (0..threads).map(thread).collect::<String>();
                programs.push((
                    format!("{name} {threads}x{rounds}"),
                    format!("{declarations}\n{text}"),
                ));
            }
        }
    }
    // States converge: no register keeps what was read.
    for (name, threads, rounds) in [("rounds", 2, 300), ("rounds", 3, 40)] {
        let body = "lock a; r = x; x = r + 1; r = 0; unlock a";
        let thread = |i: usize| format!("thread T{i} {{ repeat {rounds} {{ {body} }} }}\n");
        let text = (0..threads).map(thread).collect::<String>();
        programs.push((format!("{name} {threads}x{rounds}"), format!("plain x; mutex a;\n{text}")));
    }
    // Weak happens-before is a part of the states.
    let body = "i = 0; while i < 8 { r = 0; while r == 0 { r = cas f 0 1 } r = x; x = r + 1; r = 0;
        f = 0; i = i + 1 } i = 0";
    let text = (0..3).map(|i| format!("thread T{i} {{ {body} }}\n")).collect::<String>();
    programs.push(("spin lock 3x8".to_owned(), format!("plain x; atomic f;\n{text}")));
    programs
}

/// Seconds on the processor so far, if the system tells them.
fn processor() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(told.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

/// Seconds that `work` takes: on the processor, so that other processes do not count, unless that
/// is too short for the system's count, which goes on by milliseconds.
fn seconds(work: impl FnOnce()) -> f64 {
    let (clock, before) = (Instant::now(), processor());
    work();
    let elapsed = clock.elapsed().as_secs_f64();
    match (before, processor()) {
        (Some(before), Some(after)) if elapsed > 0.05 => after - before,
        _ => elapsed,
    }
}

type Search = dyn Fn(&mut ModelMachine, &mut UpTo) -> Outcome;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let most = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(MOST);
    let (only_program, only_strategy) = (arguments.next(), arguments.next());
    let is_wanted =
        |only: &Option<String>, name: &str| only.as_ref().is_none_or(|only| only == name);
    let strategies: [(&str, &Search); 9] = [
        ("dpor", &|machine, up_to| explore(machine, Strategy::Dpor, Limits::default(), up_to)),
        ("transactions", &|machine, up_to| {
            transactions::explore(machine, &mut Discipline::default(), Limits::default(), up_to)
        }),
        ("stateful", &|machine, up_to| {
            stateful::explore(machine, &mut Discipline::by_locks(), Limits::default(), up_to)
        }),
        ("unified", &|machine, up_to| {
            let (discipline, settings) = (&mut Discipline::hybrid(), Settings::default());
            unified::explore(machine, discipline, settings, Limits::default(), up_to).0
        }),
        ("persistent", &|machine, up_to| {
            let discipline = &mut Discipline::by_locks();
            persistent::explore(machine, discipline, Limits::default(), up_to)
        }),
        ("if-sss", &|machine, up_to| {
            let mut search = Stoller::new(machine.classes(), stoller::Settings::IF_SSS);
            search.explore(machine, Limits::default(), up_to)
        }),
        ("composed", &|machine, up_to| {
            let mut search = Stoller::new(machine.classes(), stoller::Settings::COMPOSED);
            search.explore(machine, Limits::default(), up_to)
        }),
        ("access predicates", &|machine, up_to| {
            let predicates = &mut Predicates::default();
            flanagan_qadeer::explore(machine, predicates, Movers::Both, Limits::default(), up_to)
        }),
        ("random", &|machine, up_to| {
            up_to.0 = up_to.0.min(100_000);
            explore(machine, Strategy::Random { seed: 1 }, Limits::default(), up_to)
        }),
    ];
    println!(
        "| program       | strategy          | executions | complete | transactions | operations | seconds | transactions/s | operations/s | peak bytes |"
    );
    println!(
        "|---------------|-------------------|-----------:|----------|-------------:|-----------:|--------:|---------------:|-------------:|-----------:|"
    );
    for (name, text) in programs() {
        if !is_wanted(&only_program, &name) {
            continue;
        }
        let program: Program = match text.parse() {
            Ok(program) => program,
            Err(error) => {
                eprintln!("{name}: {error}");
                continue;
            }
        };
        for (strategy, search) in strategies {
            if !is_wanted(&only_strategy, strategy) {
                continue;
            }
            let before = MEMORY.live();
            MEMORY.take_peak();
            let mut machine = ModelMachine::new(&program);
            let mut outcome = None;
            let seconds = seconds(|| outcome = Some(search(&mut machine, &mut UpTo(most))));
            let Some(Outcome { stop, counts, .. }) = outcome else { continue };
            println!(
                "| {name:<13} | {strategy:<17} | {:>10} | {:<8} | {:>12} | {:>10} | {seconds:>7.3} | {:>14.0} | {:>12.0} | {:>10} |",
                counts.executions,
                if stop == Stop::Complete { "yes" } else { "no" },
                counts.transactions,
                counts.operations,
                counts.transactions as f64 / seconds,
                counts.operations as f64 / seconds,
                MEMORY.take_peak() - before,
            );
        }
    }
}
