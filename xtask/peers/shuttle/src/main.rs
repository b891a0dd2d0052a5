//! One program under shuttle: `peers-shuttle <program> <seconds> random|pct|dfs` prints one line of JSON with what the search took.

#[path = "../../src/answer.rs"]
mod answer;
#[path = "../../src/by_name.rs"]
mod by_name;
#[path = "../../src/list.rs"]
mod list;
#[path = "../../src/programs/mod.rs"]
mod programs;

/// shuttle's threads, locks and channels. It has no cells that it looks at.
mod sync {
    pub use shuttle::sync::Arc as CountedArc;
    pub use shuttle::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, atomic, mpsc};
    pub use shuttle::{hint, thread};

    /// Plain memory, in the form that loom asks for.
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner};
use std::time::Duration;

/// The seed of all random runs, so that two benches walk the same ways.
const SEED: u64 = 0;
/// Bugs of so many ordering constraints are looked for by PCT.
const DEPTH: usize = 3;
/// An execution that waits in a loop for ever is cut, and the next one begun.
const STEPS: usize = 10_000;
/// The time is what ends a run.
const EXECUTIONS: usize = usize::MAX;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, scheduler] = &arguments[..] else {
        panic!("Usage: peers-shuttle <program> <seconds> random|pct|dfs");
    };
    let program = by_name::program(name);
    let limit: u64 = seconds.parse().expect("a number of seconds");

    let mut config = Config::new();
    config.max_time = Some(Duration::from_secs(limit));
    config.max_steps = MaxSteps::ContinueAfter(STEPS);
    config.silence_warnings = true;
    answer::begin();
    let execution = move || {
        answer::execution();
        program();
    };
    match scheduler.as_str() {
        "random" => {
            Runner::new(RandomScheduler::new_from_seed(SEED, EXECUTIONS), config).run(execution)
        }
        "pct" => {
            Runner::new(PctScheduler::new_from_seed(SEED, DEPTH, EXECUTIONS), config).run(execution)
        }
        "dfs" => Runner::new(DfsScheduler::new(None, false), config).run(execution),
        _ => panic!("no scheduler is named {scheduler}"),
    };
    answer::tell(None, scheduler == "dfs" && answer::seconds() < limit as f64);
}
