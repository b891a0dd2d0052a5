//! The programs under `cargo lockred check`, whose records say what each took from the root to the
//! answer.

use super::{Case, FEW_EXECUTIONS, MANY_EXECUTIONS, Measured, RANDOM_SECONDS, measured};
use crate::command::root;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The test that the rate is judged on.
const JUDGED_BY_RATE: &str = "lock_increment::threads_2";

/// A program, and what it took; or why it has no numbers.
type Checked = (Case, Result<Measured, String>);

/// Every program with the search that users get, ended after so many seconds.
pub fn searches(tool: &Path, seconds: &str) -> Result<Vec<Checked>, String> {
    check(tool, &["--max-seconds", seconds])
}

/// Every program with random walks, the one that is judged by its rate with many.
pub fn walks(tool: &Path) -> Result<Vec<Checked>, String> {
    let random = ["--search", "sample", "--max-seconds", RANDOM_SECONDS, "--max-executions"];
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
        let reported = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the check ended with {} and no record:\n{reported}", output.status));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(verdict: &str) -> Value {
        json!({
            "name": "tests::fetch_add::threads_3", "verdict": verdict, "complete": true,
            "executions": 6, "operations": 30, "seconds": 0.5,
        })
    }

    #[test]
    fn a_record_names_the_case_and_gives_its_numbers() {
        let (case, numbers) = checked(&record("verified")).expect("every field is there");
        assert_eq!(case, Case { program: "fetch_add".into(), threads: "3".into() });
        let numbers = numbers.expect("it was checked");
        assert_eq!((numbers.executions, numbers.operations), (6, Some(30)));
        assert!(numbers.complete);
    }

    #[test]
    fn a_program_that_was_not_checked_says_why() {
        let mut unsupported = record("unsupported");
        unsupported["unsupported"] = json!({ "message": "a call\nand more" });
        let why = |record| checked(record).expect("it has a name").1.expect_err("no numbers");
        assert_eq!(why(&unsupported), "a call");
        assert_eq!(why(&record("failed")), "failed");
    }

    #[test]
    fn a_record_without_a_field_is_not_taken_for_a_result() {
        let mut broken = record("verified");
        broken["seconds"] = Value::Null;
        assert!(checked(&broken).is_none());
    }
}
