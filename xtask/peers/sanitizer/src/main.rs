//! One program again and again, on threads of the system: `peers-sanitizer <program> <seconds>` prints one line of JSON with what that
//! took. It is built with ThreadSanitizer, which ends the process at the first race.

#[path = "../../src/answer.rs"]
mod answer;
#[path = "../../src/by_name.rs"]
mod by_name;
#[path = "../../src/list.rs"]
mod list;
#[path = "../../src/programs/mod.rs"]
mod programs;
#[path = "../../src/sync.rs"]
mod sync;

use std::thread::{sleep, spawn};
use std::time::Duration;

unsafe extern "C" {
    /// Called by the sanitizer before it ends the process.
    safe fn __sanitizer_set_death_callback(callback: extern "C" fn());
}

/// An execution that takes longer hangs.
const HANGS_FROM: Duration = Duration::from_secs(1);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds] = &arguments[..] else {
        panic!("Usage: peers-sanitizer <program> <seconds>");
    };
    let program = by_name::program(name);
    let limit: f64 = seconds.parse().expect("a number of seconds");

    __sanitizer_set_death_callback(reported);
    answer::begin();
    spawn(watch);
    while answer::seconds() < limit {
        answer::execution();
        program();
    }
    answer::tell(None, false);
    std::process::exit(0);
}

/// What is reported stands on standard error.
extern "C" fn reported() {
    answer::tell(Some("reported"), false);
}

/// Ends the process when an execution hangs.
fn watch() {
    let mut before = 0;
    loop {
        sleep(HANGS_FROM);
        let now = answer::executions();
        if now == before {
            answer::tell(Some("hangs"), false);
            std::process::exit(0);
        }
        before = now;
    }
}
