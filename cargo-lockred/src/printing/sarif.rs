//! What all SARIF 2.1.0 logs of ours have in common: the tool with its rules, and the small parts
//! of results.
//!
//! Rules are the codes, with their pages of the manual as help.

use crate::manual;
use lockred_protocol::codes::{BugKind, WarningKind};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// What relative paths are relative to.
pub const ROOT: &str = "SRCROOT";
/// The name of our fingerprints; a new number when they are made otherwise.
pub const FINGERPRINT: &str = "lockredFinding/v1";

/// The document with one run.
pub fn of_run(run: &Value) -> String {
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    format!("{document:#}\n")
}

/// We, with a rule a code.
pub fn tool() -> Value {
    let rules: Vec<Value> = rules().iter().map(|(code, level)| rule(code, level)).collect();
    json!({ "driver": {
        "name": "lockred",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    }})
}

/// Every code with its level, in the order of rules.
fn rules() -> Vec<(&'static str, &'static str)> {
    let bugs = BugKind::ALL.iter().map(|kind| (kind.code(), "error"));
    bugs.chain(WarningKind::ALL.iter().map(|kind| (kind.code(), "warning"))).collect()
}

/// The place of a code among the rules.
pub fn rule_index(code: &str) -> Option<usize> {
    rules().iter().position(|(rule, _)| *rule == code)
}

/// A code as a rule.
fn rule(code: &str, level: &str) -> Value {
    let mut rule = json!({ "id": code, "defaultConfiguration": { "level": level } });
    if let Some(page) = manual::page(code) {
        rule["name"] = page.name().into();
        rule["shortDescription"] = message(page.title());
        rule["fullDescription"] = message(&page.meaning());
        rule["help"] = json!({ "text": page.text(), "markdown": page.text() });
    }
    rule
}

/// A text, as the schema wants it.
pub fn message(text: &str) -> Value {
    json!({ "text": text })
}

/// Notes in a result what a baseline says of it; `compared`: whether there is one.
pub fn note_baseline(result: &mut Value, compared: bool, known: bool) {
    if compared {
        result["baselineState"] = if known { "unchanged" } else { "new" }.into();
    }
    if known {
        let why = "the baseline has it";
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": why }]);
    }
}

/// The schema wants the items of some lists to differ.
pub fn without_repetition(items: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut different = Vec::new();
    for item in items {
        if !different.contains(&item) {
            different.push(item);
        }
    }
    different
}

/// A path as the path of a URI.
pub fn uri(path: &Path) -> String {
    let mut uri = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri(Path::new("/a b/ä#?.rs")), "/a%20b/%C3%A4%23%3F.rs");
    }
}
