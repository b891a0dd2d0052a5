//! An audit of a library without tests, in all its forms.

use crate::golden::check;
use lockred_tests::{fixture, tool};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What was printed for people, as JSON, and as SARIF.
fn audited() -> &'static [String; 3] {
    static AUDITED: OnceLock<[String; 3]> = OnceLock::new();
    AUDITED.get_or_init(|| {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden-audit");
        let directory: PathBuf = fixture::copy("audit", &temporary, "audit");
        let file = |name: &str| temporary.join(name);
        let mut command = tool::lockred(&directory, ["audit", "--deny", "LR0202"]);
        for (format, name) in [("json", "audit.json"), ("sarif", "audit.sarif")] {
            command.arg("--message-format").arg(format!("{format}={}", file(name).display()));
        }
        let output = tool::finish(&mut command).expect(1);
        let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
        [output.stdout, read("audit.json"), read("audit.sarif")]
    })
}

#[test]
fn for_people() {
    check("audit.txt", &audited()[0]);
}

#[test]
fn json_lines() {
    check("audit.json", &audited()[1]);
}

#[test]
fn sarif() {
    let mut log: Value = serde_json::from_str(&audited()[2]).unwrap();
    let schema = include_str!("sarif-schema-2.1.0.json");
    // The pattern of languages, which we do not write, lacks a bracket.
    let broken = "\"^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$\"";
    let schema: Value = serde_json::from_str(&schema.replace(broken, "\"\"")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let run = &mut log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap().len();
    assert!(rules > 20, "{rules}");
    run["tool"]["driver"]["rules"] = json!([]);
    run["originalUriBaseIds"]["SRCROOT"]["uri"] = "file:///".into();
    check("audit.sarif.json", &format!("{log:#}\n"));
}
