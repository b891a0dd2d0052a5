//! `cargo xtask bench engine`: the programs of `xtask/engine` under lockred, loom and shuttle, in
//! one run and one table.
//!
//! lockred checks them as they are, over std, with the searches `exhaustive` and `sample`. loom
//! and shuttle run the same file over their own types, in a runner each (`xtask/engine/loom`,
//! `xtask/engine/shuttle`), a process for every row. All are built with optimisation. What is
//! measured is the search alone: no build, and no start of a process. lockred's executions are
//! those that its search needed, without the ones that sleep sets cut and passes that were thrown
//! away; its time and operations include both.

mod lockred;
mod rivals;
mod table;

use crate::{command, setup};
use rivals::Rival;
use serde_json::Value;
use table::{Measured, Row, Tool};

/// A search that takes longer is ended and reported as not finished, unless another limit is asked
/// for.
pub const SEARCH_SECONDS: &str = "5";

/// Random executions of the program that the rate is judged on, and of the others.
const MANY_EXECUTIONS: &str = "1000000";
const FEW_EXECUTIONS: &str = "20000";

/// Random executions that take longer are ended.
const RANDOM_SECONDS: &str = "120";

/// One program with a number of threads.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Case {
    program: String,
    threads: String,
}

impl Case {
    /// Whether the rate is judged on it: two threads, each with one increment under the lock.
    fn is_judged_by_rate(&self) -> bool {
        self.program == "lock_increment" && self.threads == "2"
    }
}

/// Sets up, measures, and prints the table and what misses a bar. A search is ended after so many
/// whole seconds.
pub fn run(seconds: &str) -> command::Outcome {
    if !seconds.parse().is_ok_and(|seconds: u64| seconds > 0) {
        return Err(format!("`{seconds}` is not a number of seconds"));
    }
    let tool = setup::run()?;
    let loom = Rival::build("loom")?;
    let shuttle = Rival::build("shuttle")?;

    let complete = lockred::searches(&tool, seconds)?;
    let random = lockred::walks(&tool)?;
    let mut rows = Vec::new();
    for (case, search) in complete {
        eprintln!("loom and shuttle: {}, {} threads", case.program, case.threads);
        let walk = random.iter().find(|(other, _)| *other == case);
        let walk = walk.ok_or_else(|| format!("{case:?} has no random run"))?.1.clone();
        let executions = if case.is_judged_by_rate() { MANY_EXECUTIONS } else { FEW_EXECUTIONS };
        let measured = [
            (Tool::Lockred, search),
            (Tool::Loom, loom.measure(&case, &[seconds])?),
            (Tool::Shuttle, shuttle.measure(&case, &[seconds])?),
            (Tool::LockredRandom, walk),
            (Tool::ShuttleRandom, shuttle.measure(&case, &[RANDOM_SECONDS, executions])?),
        ];
        rows.extend(measured.map(|(tool, measured)| Row { case: case.clone(), tool, measured }));
    }
    print!("{}", table::render(&rows));
    Ok(())
}

/// Reads what lockred's records and the runners' lines have in common.
fn measured(record: &Value) -> Option<Measured> {
    Some(Measured {
        executions: record["executions"].as_u64()?,
        complete: record["complete"].as_bool()?,
        seconds: record["seconds"].as_f64()?,
        operations: record["operations"].as_u64(),
    })
}
