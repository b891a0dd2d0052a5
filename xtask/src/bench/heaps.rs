//! `cargo xtask bench heaps`: what an execution takes over the size of the heap that was filled
//! before the first thread.
//!
//! The programs of `xtask/heaps` write a few words of their heaps in each execution. What grows
//! with the heap is going back to the root.

use crate::command::{self, root};
use crate::setup;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A search that takes longer is ended.
const SECONDS: &str = "5";
/// The searches that are measured: with checkpoints, by single steps, and over states.
const SEARCHES: [&str; 3] = ["exhaustive=alone", "sample", "states"];

/// Sets up, measures, and prints a table.
pub fn run() -> command::Outcome {
    let tool = setup::run()?;
    println!(
        "| heap, bytes | search           | executions or transitions | µs for each | of them to go back |"
    );
    println!(
        "|------------:|------------------|--------------------------:|------------:|-------------------:|"
    );
    for search in SEARCHES {
        for Measured { bytes, count, seconds, restoring } in check(&tool, search)? {
            let [each, back] = [seconds, restoring].map(|s| s * 1e6 / count as f64);
            println!("| {bytes:>11} | {search:16} | {count:>25} | {each:>11.1} | {back:>18.1} |");
        }
    }
    Ok(())
}

/// What was measured of one program.
#[derive(Clone, PartialEq, Debug)]
struct Measured {
    bytes: String,
    /// Executions or transitions.
    count: u64,
    seconds: f64,
    /// Seconds of these that going back took, to the root or a checkpoint.
    restoring: f64,
}

/// Checks the programs.
fn check(tool: &Path, search: &str) -> Result<Vec<Measured>, String> {
    let mut check = Command::new(tool);
    check.args(["lockred", "check", "--release", "--message-format", "json", "--quiet"]);
    check.arg("--time-restores");
    check.args(["--max-seconds", SECONDS, "--search", search]);
    check.current_dir(root().join("xtask").join("heaps"));
    eprintln!("heaps: {search}");
    let output = check.output().map_err(|e| format!("cannot run the check: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = records.filter(|record| record["reason"] == "test-finished");
    let tests: Option<Vec<_>> = tests.map(|test| measured(&test)).collect();
    tests.filter(|tests| !tests.is_empty()).ok_or_else(|| {
        let reported = String::from_utf8_lossy(&output.stderr);
        format!("the check ended with {} and no records:\n{reported}", output.status)
    })
}

/// One record; `None` for a program that could not be checked.
fn measured(test: &Value) -> Option<Measured> {
    let size = test["name"].as_str()?.rsplit_once("::bytes_")?.1.replace('_', "");
    let over_states = test["search"] == "states";
    let count = test[if over_states { "transactions" } else { "executions" }].as_u64()?;
    let seconds = test["seconds"].as_f64()?;
    let restoring = test["restoring"].as_f64()?;
    let bytes = size.trim_start_matches('0').to_owned();
    (count > 0).then_some(Measured { bytes, count, seconds, restoring })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_names_the_size_and_gives_what_the_search_counts() {
        let record = |search: &str, executions: u32| {
            json!({
                "name": "heap::bytes_00010_000_000", "search": search, "seconds": 0.5,
                "restoring": 0.25, "executions": executions, "transactions": 70,
            })
        };
        let of = |count| {
            let bytes = "10000000".to_owned();
            Some(Measured { bytes, count, seconds: 0.5, restoring: 0.25 })
        };
        assert_eq!(measured(&record("sample=uniform", 6)), of(6));
        assert_eq!(measured(&record("states", 1)), of(70));
        assert_eq!(measured(&record("sample=uniform", 0)), None);
    }
}
