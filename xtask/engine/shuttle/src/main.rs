//! One program under shuttle: `engine-shuttle <program> <threads> <seconds> [<random executions>]`
//! prints one line of JSON with what the depth-first search, or that many random executions, took.

#[path = "../../src/programs.rs"]
mod programs;

/// shuttle's threads, locks and channels.
mod sync {
    pub use shuttle::sync::{Condvar, Mutex, atomic, mpsc};
    pub use shuttle::thread;
}

use shuttle::scheduler::{DfsScheduler, RandomScheduler};
use shuttle::{Config, Runner};
use std::time::{Duration, Instant};

/// The seed of all random runs, so that two benches walk the same ways.
const SEED: u64 = 0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, threads, seconds, random @ ..] = &arguments[..] else {
        panic!("Usage: engine-shuttle <program> <threads> <seconds> [<random executions>]");
    };
    let program = program(name);
    let threads: usize = threads.parse().expect("a number of threads");
    let limit = Duration::from_secs(seconds.parse().expect("a number of seconds"));

    let mut config = Config::new();
    config.max_time = Some(limit);
    config.silence_warnings = true;
    let start = Instant::now();
    let executions = match random {
        [] => Runner::new(DfsScheduler::new(None, false), config).run(move || program(threads)),
        [executions, ..] => {
            let executions = executions.parse().expect("a number of executions");
            let scheduler = RandomScheduler::new_from_seed(SEED, executions);
            Runner::new(scheduler, config).run(move || program(threads))
        }
    };
    let elapsed = start.elapsed();
    println!(
        r#"{{"executions":{executions},"complete":{},"seconds":{}}}"#,
        random.is_empty() && elapsed < limit,
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
