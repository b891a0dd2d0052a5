//! What a check says of the warnings of the audit: `audit --confirm`.

use crate::fixtures::{empty, shared};
use lockred_tests::tool::{Output, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn check(arguments: &[&str]) -> Output {
    run(
        &shared("suspects"),
        &[&["audit", "--confirm", "--message-format", "json"], arguments].concat(),
    )
}

/// By code and type: what came of a warning, whether it fails the check, and the tests that show
/// it.
fn statuses(output: &Output) -> BTreeMap<String, (String, bool, Value)> {
    let lines = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let warnings = lines.filter(|line| line["reason"] == "audit-warning");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |line: Value| {
        let name = format!("{} {}", text(&line["code"]), text(&line["subject"]));
        (name, (text(&line["status"]), line["denied"].as_bool().unwrap(), line["tests"].clone()))
    };
    warnings.map(of).collect()
}

#[test]
fn each_kind_is_confirmed_by_the_test_that_shows_it() {
    let statuses = statuses(&check(&[]).expect(1));
    let expected = [
        ("LR0101 Crossed", "confirmed", json!(["both_ways"])),
        ("LR0201 Bare", "confirmed", json!(["two_set"])),
        ("LR0201 Handed", "not-reached", json!([])),
        ("LR0201 Kept", "not-reached", json!([])),
        ("LR0202 Loose", "static", json!([])),
        ("LR0203 Early", "confirmed", json!(["one_gets"])),
        ("LR0205 List", "confirmed", json!(["it_joins_who_needs_the_list"])),
        ("LR0206 List", "confirmed", json!(["it_waits_for_who_needs_the_list"])),
        ("LR0207 Peeked", "confirmed", json!(["one_peeks"])),
    ];
    let expected =
        expected.map(|(name, status, tests)| (name.into(), (status.into(), false, tests)));
    assert_eq!(statuses, BTreeMap::from(expected));
}

#[test]
fn the_order_of_locks_is_reported_as_well_also_when_quiet() {
    let arguments = ["audit", "--confirm", "--lock-order", "-q", "both_ways"];
    let output = run(&shared("suspects"), &arguments).expect(1);
    let _ = output.says(&[
        "cycle: threads may wait for each other",
        "holds    Crossed.",
        "confirmed: a schedule leads there (both_ways)",
        "warnings of the audit, and what came of them",
        "warning[LR0101]: locks may be acquired in a cycle",
        "warning[LR0203]: `Early.block`",
    ]);
}

#[test]
fn every_form_has_the_warnings() {
    let directory = empty("audited-forms");
    let file = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let forms: Vec<String> = ["sarif", "junit", "github"]
        .iter()
        .map(|name| format!("--message-format={name}={}", file(name)))
        .collect();
    let mut arguments = vec!["audit", "--confirm", "--deny", "LR0203", "one_sets", "one_gets"];
    arguments.extend(forms.iter().map(String::as_str));
    let _ = run(&shared("suspects"), &arguments).expect(1);
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    let log: Value = serde_json::from_str(&read("sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |code: &str| results.iter().find(|result| result["ruleId"] == code).unwrap();
    let early = of("LR0203");
    assert_eq!(
        (&early["level"], &early["properties"]["status"]),
        (&json!("error"), &json!("confirmed"))
    );
    assert_eq!(early["properties"]["tests"], json!(["one_gets"]));
    let place = &early["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("src/lib.rs"), "{place}");
    assert_eq!(of("LR0202")["properties"]["status"], "static");
    let junit = read("junit");
    assert!(junit.contains("<testsuite name=\"suspects::audit\""), "{junit}");
    assert!(junit.contains("type=\"LR0203\""), "{junit}");
    let github = read("github");
    assert!(github.contains("::error file="), "{github}");
    assert!(github.contains("title=LR0203 in Early::"), "{github}");
}

/// Tests that pass: one accesses what threads share, one what a thread has for itself.
const RIGHT: &[&str] = &["one_sets", "nobody_else"];

#[test]
fn what_is_denied_fails_unless_the_tests_exclude_it() {
    let human = ["audit", "--confirm", "--deny", "LR0201"];
    let output = run(&shared("suspects"), &[&human, RIGHT].concat()).expect(1);
    let _ = output.says(&[
        "warnings of the audit, and what came of them",
        "error[LR0201]: `Kept.value`",
        "= not reached: no schedule",
        "warning[LR0201]: `Handed.value`",
        "= excluded: every interleaving",
        "2 warnings of the audit, denied and not excluded",
    ]);
    let statuses = statuses(&check(RIGHT).expect(0));
    let of = |name: &str| (statuses[name].0.as_str(), statuses[name].1);
    assert_eq!(of("LR0201 Handed"), ("excluded", false));
    // Nobody came there while it was shared.
    assert_eq!(of("LR0201 Kept"), ("not-reached", false));
    assert_eq!(of("LR0201 Bare"), ("not-reached", false));
    // Of waits and locks there is no such proof; all that the tests do is covered.
    assert_eq!(of("LR0206 List"), ("excluded", false));
    assert_eq!(of("LR0202 Loose"), ("static", false));
}

#[test]
fn a_search_that_was_cut_excludes_nothing() {
    let cut = check(&["it_joins", "one_sets", "--max-executions", "1", "--search", "naive"]);
    let statuses = statuses(&cut);
    assert!(statuses.values().all(|(status, ..)| status != "excluded"), "{statuses:?}");
}

#[test]
fn what_is_allowed_is_not_reported_and_what_the_baseline_has_fails_nothing() {
    let file = empty("audited-baseline").join("known.toml");
    let known = ["--deny", "warnings", "--baseline", file.to_str().unwrap()];
    let write = [RIGHT, &known, &["--write-baseline"]].concat();
    let _ = check(&write).expect(0);
    let again = statuses(&check(&[RIGHT, &known].concat()).expect(0));
    assert!(again.len() == 9 && again.values().all(|(_, denied, _)| !denied), "{again:?}");
    let allowed = statuses(&check(&[RIGHT, &["--allow", "LR0201"]].concat()).expect(0));
    assert!(allowed.len() == 6 && !allowed.contains_key("LR0201 Bare"), "{allowed:?}");
    // Without the audit, nothing is said of what the file has of it.
    let plain = ["check", "--baseline", file.to_str().unwrap()];
    let output = run(&shared("suspects"), &[&plain, RIGHT].concat()).expect(0);
    assert!(!output.stderr.contains("Kept"), "{output}");
}
