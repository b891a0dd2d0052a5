//! The programs under `cargo lockred check`, as tests over std.

use super::judge::Answer;
use crate::command::root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Answers by test: `tests::lost_update::wrong`.
pub type Answers = BTreeMap<String, Answer>;

/// Checks all tests whose names have one of these in them, each for so many seconds at most.
pub fn check(tool: &Path, filters: &[String], seconds: u64) -> Result<Answers, String> {
    let mut check = Command::new(tool);
    check.args(["lockred", "check", "--release", "--locked", "--message-format", "json"]);
    check.args(["--quiet", "--max-seconds", &seconds.to_string()]).args(filters);
    check.arg("--target-dir").arg(root().join("target").join("bench-peers").join("lockred"));
    check.current_dir(root().join("xtask").join("peers"));
    eprintln!("peers: lockred");
    let output = check.output().map_err(|e| format!("cannot run the check: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = records.filter(|record| record["reason"] == "test-finished");
    let answers: Option<Answers> = tests.map(|test| answer(&test)).collect();
    let answers = answers.ok_or("a record of lockred's lacks a field that the bench reads")?;
    if answers.is_empty() {
        let reported = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the check ended with {} and no record:\n{reported}", output.status));
    }
    Ok(answers)
}

/// One record.
fn answer(test: &Value) -> Option<(String, Answer)> {
    let bug = test["bugs"].get(0).and_then(|bug| bug["message"].as_str());
    let failure = match test["verdict"].as_str()? {
        "verified" | "passed" => None,
        "failed" => Some(bug?.to_owned()),
        other => Some(test["unsupported"]["message"].as_str().unwrap_or(other).to_owned()),
    };
    let answer = Answer {
        failure,
        executions: test["executions"].as_u64()?,
        complete: test["complete"].as_bool()?,
        seconds: test["seconds"].as_f64()?,
    };
    Some((test["name"].as_str()?.to_owned(), answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_gives_its_bug_and_its_numbers() {
        let mut test = json!({
            "name": "tests::clh::wrong", "verdict": "failed", "complete": false, "executions": 3, "seconds": 0.5,
            "bugs": [{"message": "data race on `x`"}],
        });
        let read = |test: &Value| answer(test).expect("every field is there");
        let (name, found) = read(&test);
        assert_eq!((name.as_str(), found.executions), ("tests::clh::wrong", 3));
        assert_eq!(found.failure.as_deref(), Some("data race on `x`"));
        test["verdict"] = "passed".into();
        assert_eq!(read(&test).1.failure, None);
        test["verdict"] = "unsupported".into();
        test["unsupported"] = json!({"message": "a call"});
        assert_eq!(read(&test).1.failure.as_deref(), Some("a call"));
        test["verdict"] = "failed".into();
        test["bugs"] = json!([]);
        assert_eq!(answer(&test), None, "a failure without a bug is not taken for a result");
    }
}
