//! One check of the programs in all forms at once; each form is compared, and read by those who
//! know it.

use crate::golden::check;
use crate::normal;
use crate::programs::PROGRAMS;
use lockred_protocol::codes::{BugKind, WarningKind};
use lockred_tests::outcome::{self, Line, TestFinished};
use lockred_tests::{program, tool};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What the check has printed, and where the files are.
struct Checked {
    output: tool::Output,
    directory: PathBuf,
}

impl Checked {
    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(name)).unwrap()
    }

    fn tests(&self) -> Vec<TestFinished> {
        let lines = outcome::parse(&self.output.stdout).unwrap();
        outcome::tests(&lines).into_iter().cloned().collect()
    }
}

fn checked() -> &'static Checked {
    static CHECKED: OnceLock<Checked> = OnceLock::new();
    CHECKED.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
        fs::create_dir_all(&directory).unwrap();
        let mut command = tool::lockred(
            &program::corpus(),
            ["check", "--locked", "--exact", "--max-seconds", "60"],
        );
        command.arg("--target-dir").arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus"));
        command.args(["--message-format", "json"]);
        for (format, file) in [("sarif", "all.sarif"), ("junit", "all.xml"), ("github", "all.txt")]
        {
            let file = directory.join(file);
            command.arg("--message-format").arg(format!("{format}={}", file.display()));
        }
        let output = tool::finish(command.args(PROGRAMS)).expect(1);
        Checked { output, directory }
    })
}

#[test]
fn every_program_fails_and_every_kind_of_bug_is_among_them() {
    let tests = checked().tests();
    let failed: Vec<&str> =
        tests.iter().filter(|t| !t.bugs.is_empty()).map(|t| t.name.as_str()).collect();
    let mut expected = PROGRAMS.to_vec();
    expected.sort_unstable();
    let mut found = failed.clone();
    found.sort_unstable();
    assert_eq!(found, expected);
    let kinds: BTreeSet<BugKind> = tests.iter().flat_map(|t| &t.bugs).map(|bug| bug.kind).collect();
    assert_eq!(kinds, BugKind::ALL.iter().copied().collect());
}

#[test]
fn for_people() {
    check("human.txt", &normal::human(&checked().output.stderr, &program::corpus()));
}

#[test]
fn json_lines() {
    let mut text = String::new();
    for line in checked().output.stdout.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if let Some(seconds) = value.get_mut("seconds") {
            *seconds = 0.into();
        }
        for bug in value.get_mut("bugs").and_then(Value::as_array_mut).into_iter().flatten() {
            let file = PathBuf::from(bug["replay"].as_str().unwrap());
            bug["replay"] = file.file_name().unwrap().to_str().unwrap().into();
        }
        text.push_str(&format!("{value:#}\n"));
    }
    check("json.txt", &normal::places(&text, &program::corpus()));
}

#[test]
fn annotations() {
    check("github.txt", &normal::places(&checked().file("all.txt"), &program::corpus()));
}

#[test]
fn junit() {
    let text = checked().file("all.xml");
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let tests = checked().tests();
    assert_eq!((report.tests, report.failures, report.errors), (tests.len(), PROGRAMS.len(), 0));
    let cases: Vec<_> = report.test_suites.iter().flat_map(|suite| &suite.test_cases).collect();
    for (case, test) in cases.iter().zip(&tests) {
        assert_eq!(case.name.as_str(), test.name);
        let quick_junit::TestCaseStatus::NonSuccess { message, ty, description, .. } = &case.status
        else {
            panic!("{} succeeds", test.name)
        };
        assert_eq!(message.as_ref().unwrap().as_str(), test.bugs[0].message);
        assert_eq!(ty.as_ref().unwrap().as_str(), test.bugs[0].code);
        let replay = format!("replay: cargo lockred replay {}", test.bugs[0].id);
        assert!(description.as_ref().unwrap().as_str().ends_with(&replay), "{}", test.name);
    }
    let values = [(" time=\"", "0"), (" timestamp=\"", "")];
    check("junit.xml", &normal::places(&normal::values(&text, &values), &program::corpus()));
}

fn log() -> Value {
    serde_json::from_str(&checked().file("all.sarif")).unwrap()
}

#[test]
fn sarif_is_as_its_schema_says() {
    let schema = include_str!("sarif-schema-2.1.0.json");
    // The pattern of languages, which we do not write, lacks a bracket.
    let broken = "\"^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$\"";
    assert!(schema.contains(broken));
    let schema: Value = serde_json::from_str(&schema.replace(broken, "\"\"")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let log = log();
    let errors: Vec<String> =
        validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    // It would refuse what is wrong.
    let mut wrong = log;
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn sarif_has_a_rule_a_code_and_its_page() {
    let log = log();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let codes: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    let bugs = BugKind::ALL.iter().map(|kind| kind.code());
    let all: Vec<&str> = bugs.chain(WarningKind::ALL.iter().map(|kind| kind.code())).collect();
    assert_eq!(codes, all);
    for rule in rules {
        let text = rule["help"]["markdown"].as_str().unwrap();
        assert!(text.starts_with(&format!("# {}: ", rule["id"].as_str().unwrap())), "{text}");
    }
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], codes[index]);
    }
}

#[test]
fn sarif_reports_the_interleaving_thread_by_thread() {
    let log = log();
    let results = log["runs"][0]["results"].as_array().unwrap().iter();
    let results: Vec<&Value> = results.filter(|result| result["level"] == "error").collect();
    assert_eq!(results.len(), PROGRAMS.len());
    for (result, test) in results.iter().zip(checked().tests()) {
        let name = &test.name;
        assert_eq!(result["properties"]["test"], json!(name));
        assert_eq!(
            result["partialFingerprints"]["lockredFinding/v1"],
            json!(test.bugs[0].fingerprint)
        );
        let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
        let threads: BTreeSet<&str> =
            flows.iter().map(|flow| flow["id"].as_str().unwrap()).collect();
        assert_eq!(threads.len(), flows.len(), "{name}: a thread has two flows");
        for site in &test.bugs[0].sites {
            let flow = flows.iter().find(|flow| flow["id"] == site.thread);
            let flow = flow.unwrap_or_else(|| panic!("{name}: no flow of {}", site.thread));
            let here = |step: &&Value| {
                let place = &step["location"]["physicalLocation"];
                step["importance"] == "essential" && place["region"]["startLine"] == site.line
            };
            let steps = flow["locations"].as_array().unwrap();
            assert!(steps.iter().any(|step| here(&step)), "{name}: line {} is missing", site.line);
            let orders: Vec<u64> =
                steps.iter().map(|step| step["executionOrder"].as_u64().unwrap()).collect();
            assert!(orders.is_sorted(), "{name}: {orders:?}");
        }
    }
}

#[test]
fn sarif() {
    let mut log = log();
    let run = &mut log["runs"][0];
    // The pages have tests of their own.
    run["tool"]["driver"]["rules"] = json!([]);
    run["originalUriBaseIds"]["SRCROOT"]["uri"] = "file:///".into();
    for time in ["startTimeUtc", "endTimeUtc"] {
        assert!(run["invocations"][0][time].is_string());
        run["invocations"][0][time] = "".into();
    }
    let text = normal::places(&compact(&short(&log), 0), &program::corpus());
    check("sarif.txt", &(text + "\n"));
}

/// The log with its locations, of which there are thousands, in a line each.
fn short(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("physicalLocation") => {
            let place = &value["physicalLocation"];
            let (file, region) = (&place["artifactLocation"]["uri"], &place["region"]);
            let numbers = ["startLine", "startColumn", "endLine", "endColumn"]
                .map(|name| region[name].as_u64().map_or("?".into(), |number| number.to_string()));
            let (file, numbers) = (file.as_str().unwrap(), numbers.join(" "));
            let function = value["logicalLocations"][0]["fullyQualifiedName"].as_str().unwrap();
            let message = value["message"]["text"].as_str().unwrap_or_default();
            format!("{file} {numbers} {function}: {message}").into()
        }
        // One to one with a location.
        Value::Object(fields) if fields.contains_key("executionOrder") => {
            let location = short(&value["location"]);
            let stack = value["stack"]["frames"].as_array().map_or(0, Vec::len);
            let (order, importance) = (&value["executionOrder"], &value["importance"]);
            format!(
                "{order} {}: {}, frames: {stack}",
                importance.as_str().unwrap(),
                location.as_str().unwrap()
            )
            .into()
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), short(field))).collect()
        }
        Value::Array(items) => items.iter().map(short).collect(),
        _ => value.clone(),
    }
}

/// JSON with a line for what fits on one.
fn compact(value: &Value, indent: usize) -> String {
    let line = value.to_string();
    let (inner, outer) = (" ".repeat(indent + 1), " ".repeat(indent));
    match value {
        _ if line.len() + indent <= 160 => line,
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{inner}{}", compact(item, indent + 1))).collect();
            format!("[\n{}\n{outer}]", items.join(",\n"))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, field)| format!("{inner}{name:?}: {}", compact(field, indent + 1)))
                .collect();
            format!("{{\n{}\n{outer}}}", fields.join(",\n"))
        }
        _ => line,
    }
}

#[test]
fn the_last_line_of_json_counts_all() {
    let lines = outcome::parse(&checked().output.stdout).unwrap();
    let Some(Line::Finished(finished)) = lines.last() else { panic!("no last line") };
    assert_eq!((finished.failed, finished.verified), (PROGRAMS.len(), 0));
}
