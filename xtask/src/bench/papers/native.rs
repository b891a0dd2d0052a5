//! A row's program under `cargo lockred check`: what its record says, and how much memory its
//! process took.

use super::super::memory;
use super::rows::Row;
use super::schedule::contexts;
use crate::command::root;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A search that takes longer is ended.
pub const SECONDS: &str = "20";

/// What was measured of a row.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// `verified`, `passed`, or the kind of the bug.
    pub verdict: String,
    /// Whether the search went to its end.
    pub complete: bool,
    pub executions: u64,
    pub transactions: u64,
    pub seconds: f64,
    /// Most memory that was seen resident, in kB; 0 if the process was too fast.
    pub kilobytes: u64,
    /// Preemptions of the bug's schedule, and whether none with fewer shows it.
    pub preemptions: Option<(u64, bool)>,
    /// Contexts of that schedule up to the bug.
    pub contexts: Option<usize>,
}

/// Builds what is not built, and checks the program.
pub fn check(tool: &Path, row: &Row) -> Result<Checked, String> {
    let target = root().join("target").join("bench-papers");
    let program = |options: &[&str]| {
        let mut check = Command::new(tool);
        check.args(["lockred", "check", "--locked", "--quiet", "--message-format", "json"]);
        check.args(["--max-seconds", SECONDS, "--target-dir"]).arg(&target).args(options);
        // Executions are compared, which are those of one search.
        if !options.iter().any(|option| option.starts_with("--search")) {
            check.args(["--search", "exhaustive=alone"]);
        }
        check.args(["--exact", &row.test]).current_dir(root().join("tests").join("paper"));
        check.output().map_err(|e| format!("cannot run the check: {e}"))
    };
    eprintln!("papers: {} {}", row.test, row.options.join(" "));
    let (output, kilobytes) = memory::watch(&target, || program(row.options));
    let output = output?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let record = records.find(|record| record["name"] == row.test);
    let checked = record.as_ref().and_then(|record| checked(record, &read_schedule));
    let checked = checked.ok_or_else(|| {
        let reported = String::from_utf8_lossy(&output.stderr);
        format!("{}: the check ended with {} and no record:\n{reported}", row.test, output.status)
    })?;
    Ok(Checked { kilobytes, ..checked })
}

/// The schedule file of a bug.
fn read_schedule(path: &str) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// What a record says.
fn checked(test: &Value, schedule: &dyn Fn(&str) -> Option<Value>) -> Option<Checked> {
    let bug = test["bugs"].get(0);
    let taken = bug.map(|bug| &bug["schedule"]);
    let file = bug.and_then(|bug| schedule(bug["replay"].as_str()?));
    // In a deadlock nobody fails.
    let failed = bug.filter(|bug| bug["kind"] != "deadlock");
    let failed = failed.and_then(|bug| bug["sites"][0]["thread"].as_str());
    Some(Checked {
        verdict: bug.map_or(&test["verdict"], |bug| &bug["kind"]).as_str()?.to_owned(),
        complete: test["complete"].as_bool()?,
        executions: test["executions"].as_u64()?,
        transactions: test["transactions"].as_u64()?,
        seconds: test["seconds"].as_f64()?,
        kilobytes: 0,
        preemptions: taken
            .and_then(|taken| Some((taken["preemptions"].as_u64()?, taken["minimal"].as_bool()?))),
        contexts: file.and_then(|file| contexts(&file, failed)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_gives_its_numbers_and_those_of_its_bug() {
        let mut test = json!({
            "name": "m::f", "verdict": "failed", "complete": false, "executions": 3, "transactions": 9, "seconds": 0.5,
            "bugs": [{
                "kind": "panic", "replay": "file", "sites": [{"thread": "thread 1"}],
                "schedule": {"preemptions": 1, "minimal": true},
            }],
        });
        let steps = json!([{"thread": 0}, {"thread": 1}, {"thread": 2}, {"thread": 1}]);
        let file = json!({"request": {"task": {"replay": {"schedule": steps}}}});
        let read = |path: &str| (path == "file").then(|| file.clone());
        let found = checked(&test, &read).expect("every field is there");
        assert_eq!((found.verdict.as_str(), found.executions), ("panic", 3));
        assert_eq!((found.preemptions, found.contexts), (Some((1, true)), Some(3)));
        test["bugs"] = json!([]);
        let found = checked(&test, &read).expect("every field is there");
        assert_eq!(
            (found.verdict.as_str(), found.preemptions, found.contexts),
            ("failed", None, None)
        );
        test["seconds"] = Value::Null;
        assert_eq!(checked(&test, &read), None);
    }
}
