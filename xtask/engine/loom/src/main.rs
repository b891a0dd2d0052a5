//! One program under loom: `engine-loom <program> <threads> <seconds>` prints one line of JSON with
//! what the search took.

#[path = "../../src/programs.rs"]
mod programs;

/// loom's threads, locks and channels.
mod sync {
    pub use loom::sync::{Condvar, Mutex, atomic, mpsc};
    pub use loom::thread;
}

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Executions that were begun. std's own atomic: loom is not to see it.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// loom looks at the clock once in so many executions.
const EXECUTIONS_BETWEEN_CHECKS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, threads, seconds] = &arguments[..] else {
        panic!("Usage: engine-loom <program> <threads> <seconds>");
    };
    let program = program(name);
    let threads: usize = threads.parse().expect("a number of threads");
    let limit = Duration::from_secs(seconds.parse().expect("a number of seconds"));

    let mut model = loom::model::Builder::new();
    model.preemption_bound = None;
    model.max_permutations = None;
    model.max_duration = Some(limit);
    model.checkpoint_interval = EXECUTIONS_BETWEEN_CHECKS;
    let start = Instant::now();
    model.check(move || {
        EXECUTIONS.fetch_add(1, Relaxed);
        program(threads);
    });
    let elapsed = start.elapsed();
    println!(
        r#"{{"executions":{},"complete":{},"seconds":{}}}"#,
        EXECUTIONS.load(Relaxed),
        elapsed < limit,
        elapsed.as_secs_f64(),
    );
}

/// The program of that name.
fn program(name: &str) -> fn(usize) {
    macro_rules! by_name {
        ($($program:ident)*) => {
            match name {
                $(stringify!($program) => programs::$program,)*
                _ => panic!("no program is named {name}"),
            }
        };
    }
    programs::each_program!(by_name)
}
