//! One program under loom: `peers-loom <program> <seconds> [<preemptions>]` prints one line of JSON with what the search took.

#[path = "../../src/answer.rs"]
mod answer;
#[path = "../../src/by_name.rs"]
mod by_name;
#[path = "../../src/list.rs"]
mod list;
#[path = "../../src/programs/mod.rs"]
mod programs;

/// loom's threads, locks, channels and cells. `Arc` is std's, but where a program is about it: loom would explore its counts.
mod sync {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::Arc as CountedArc;
    pub use loom::sync::{Condvar, Mutex, RwLock, atomic, mpsc};
    pub use loom::{hint, thread};
    pub use std::sync::Arc;
}

use std::time::Duration;

/// loom looks at the clock once in so many executions.
const EXECUTIONS_BETWEEN_CHECKS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, bound @ ..] = &arguments[..] else {
        panic!("Usage: peers-loom <program> <seconds> [<preemptions>]");
    };
    let program = by_name::program(name);
    let limit: u64 = seconds.parse().expect("a number of seconds");

    let mut model = loom::model::Builder::new();
    model.preemption_bound =
        bound.first().map(|bound| bound.parse().expect("a number of preemptions"));
    model.max_duration = Some(Duration::from_secs(limit));
    model.checkpoint_interval = EXECUTIONS_BETWEEN_CHECKS;
    answer::begin();
    model.check(move || {
        answer::execution();
        program();
    });
    answer::tell(None, answer::seconds() < limit as f64);
}
