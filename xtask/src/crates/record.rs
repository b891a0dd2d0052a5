//! What `cargo lockred check` says of a test, as far as the tables need it.

use serde::Deserialize;

/// One line of `--message-format json`.
#[derive(Deserialize, Clone, Default)]
pub struct Record {
    pub name: String,
    /// `verified`, `passed`, `failed` or `unsupported`.
    pub verdict: String,
    /// Why the search ended.
    pub ended: String,
    pub executions: u64,
    pub seconds: f64,
    #[serde(default)]
    pub assumptions: Vec<Assumption>,
    #[serde(default)]
    pub bugs: Vec<Found>,
    #[serde(default)]
    pub warnings: Vec<Found>,
    /// Whether an error of ours ended the test.
    #[serde(default)]
    pub error: bool,
    /// What cannot be modelled, or what went wrong.
    #[serde(default)]
    pub message: String,
}

#[derive(Deserialize, Clone, Default)]
pub struct Assumption {
    pub code: String,
}

/// A bug.
#[derive(Deserialize, Clone, Default)]
pub struct Found {
    pub code: String,
    pub kind: String,
    pub message: String,
    pub schedule: Option<Schedule>,
}

/// What its schedule takes.
#[derive(Deserialize, Clone)]
pub struct Schedule {
    pub preemptions: u32,
    pub threads: u32,
    pub steps: u64,
}

/// The kind of warning that the list accounts for.
const TIMING: &str = "timing";

impl Record {
    /// Whether a bound ended the search.
    pub fn is_bounded(&self) -> bool {
        self.ended != "complete"
    }

    /// What the list has to account for: the kind of the bug, what is not supported, or a sleep
    /// that is too short.
    pub fn shows(&self) -> Option<&str> {
        match self.verdict.as_str() {
            "verified" | "passed" => self.timing().map(|warning| &*warning.kind),
            "failed" => Some(self.bugs.first().map_or("a warning", |bug| &bug.kind)),
            _ => Some(&self.message),
        }
    }

    /// The same with more words.
    pub fn reported(&self) -> &str {
        let found = self.bugs.first().or_else(|| self.timing());
        found.map_or(&self.message, |found| &found.message)
    }

    /// The warning that a test fails only where a sleep is overtaken.
    fn timing(&self) -> Option<&Found> {
        self.warnings.iter().find(|warning| warning.kind == TIMING)
    }
}

/// The tests in what a check has printed.
pub fn records(text: &str) -> Vec<Record> {
    #[derive(Deserialize)]
    struct Line {
        reason: String,
    }
    let is_test = |line: &&str| {
        serde_json::from_str::<Line>(line).is_ok_and(|line| line.reason == "test-finished")
    };
    // A line that is cut off is of a test that has not ended.
    text.lines().filter(is_test).filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_says_what_is_to_be_accounted_for() {
        let mut line = json!({
            "reason": "test-finished", "name": "m::f", "verdict": "failed", "ended": "bug", "executions": 3, "seconds": 0.5,
            "assumptions": [{"code": "virtual-time", "message": "…"}],
            "bugs": [{"code": "LR0003", "kind": "panic", "message": "thread 1 panicked",
                      "schedule": {"preemptions": 1, "threads": 2, "steps": 9, "minimal": true}}],
        });
        let end = json!({"reason": "finished", "verified": 0});
        let read = |line: &serde_json::Value| records(&format!("{line}\n{end}\n{{\"reas"));
        let found = read(&line);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].shows(), found[0].reported()), (Some("panic"), "thread 1 panicked"));
        assert!(found[0].is_bounded());
        line["verdict"] = "unsupported".into();
        line["bugs"] = json!([]);
        line["message"] = "`socket` cannot be modelled".into();
        assert_eq!(read(&line)[0].shows(), Some("`socket` cannot be modelled"));
        line["verdict"] = "passed".into();
        line["ended"] = "complete".into();
        assert_eq!(read(&line)[0].shows(), None);
        assert!(!read(&line)[0].is_bounded());
        line["warnings"] = json!([{"code": "LR0101", "kind": "lock-order", "message": "a cycle"}]);
        assert_eq!(read(&line)[0].shows(), None);
        line["warnings"][0]["kind"] = "timing".into();
        assert_eq!(
            (read(&line)[0].shows(), read(&line)[0].reported()),
            (Some("timing"), "a cycle")
        );
    }
}
