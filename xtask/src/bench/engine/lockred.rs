//! The programs under `cargo lockred check`, whose records say what each took from the root to the answer.

use super::{
    Case, FEW_EXECUTIONS, MANY_EXECUTIONS, Measured, RANDOM_SECONDS, SEARCH_SECONDS, measured,
};
use crate::command::root;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The test that the rate is judged on.
const JUDGED_BY_RATE: &str = "lock_increment::threads_2";

/// A program, and what it took; or why it has no numbers.
type Checked = (Case, Result<Measured, String>);

/// Every program with the strategy that users get.
pub fn searches(tool: &Path) -> Result<Vec<Checked>, String> {
    check(tool, &["--max-seconds", SEARCH_SECONDS])
}

/// Every program with random walks, the one that is judged by its rate with many.
pub fn walks(tool: &Path) -> Result<Vec<Checked>, String> {
    let random = ["--strategy", "random", "--max-seconds", RANDOM_SECONDS, "--max-executions"];
    let few = [&random[..], &[FEW_EXECUTIONS, "--skip", JUDGED_BY_RATE]].concat();
    let many = [&random[..], &[MANY_EXECUTIONS, JUDGED_BY_RATE]].concat();
    let mut walks = check(tool, &few)?;
    walks.extend(check(tool, &many)?);
    Ok(walks)
}

/// Checks the programs and reads the records.
fn check(tool: &Path, options: &[&str]) -> Result<Vec<Checked>, String> {
    let mut check = Command::new(tool);
    check.args(["lockred", "check", "--release"]).args(options);
    check.args(["--message-format", "json", "--quiet"]);
    check.current_dir(root().join("xtask").join("engine"));
    eprintln!("lockred: {}", options.join(" "));
    let output = check.output().map_err(|e| format!("cannot run the check: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = records.filter(|record| record["reason"] == "test-finished");
    let tests: Option<Vec<_>> = tests.map(|test| checked(&test)).collect();
    let tests = tests.ok_or("a record of lockred's lacks a field that the bench reads")?;
    if tests.is_empty() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the check ended with {} and no record:\n{told}", output.status));
    }
    Ok(tests)
}

/// One record. A program that was found wrong, or could not be checked, has no numbers.
fn checked(test: &Value) -> Option<Checked> {
    let (program, threads) = test["name"].as_str()?.split_once("::threads_")?;
    let (_, program) = program.rsplit_once("::").unwrap_or(("", program));
    let case = Case { program: program.into(), threads: threads.into() };
    let verdict = test["verdict"].as_str()?;
    match verdict {
        "verified" | "passed" => Some((case, Ok(measured(test)?))),
        _ => {
            let why = test["unsupported"]["message"].as_str().unwrap_or(verdict);
            Some((case, Err(why.lines().next().unwrap_or(verdict).to_owned())))
        }
    }
}
