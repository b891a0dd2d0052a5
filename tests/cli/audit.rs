//! `cargo lockred audit` on a library without tests: what it warns of, and what it leaves alone.

use crate::fixtures::{own, shared};
use lockred_tests::tool::{Output, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

fn lines(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn audited(arguments: &[&str]) -> Output {
    run(&shared("audit"), &[&["audit", "--message-format", "json"], arguments].concat())
}

/// Code and subject of each warning.
fn warnings(lines: &[Value]) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let warnings = lines.iter().filter(|line| line["reason"] == "warning");
    warnings.map(|line| (text(&line["code"]), text(&line["subject"]))).collect()
}

fn one<'a>(lines: &'a [Value], reason: &str, name: &str) -> &'a Value {
    let mut found = lines.iter().filter(|line| line["reason"] == reason && line["name"] == name);
    found.next().unwrap_or_else(|| panic!("no {reason} {name}"))
}

#[test]
fn each_kind_is_warned_of_and_its_right_twin_is_not() {
    let expected = [
        ("LR0101", "Crossed"),
        ("LR0101", "Shard"),
        ("LR0201", "Bare"),
        ("LR0201", "Given"),
        ("LR0201", "LAST"),
        ("LR0202", "Loose"),
        ("LR0203", "Early"),
        ("LR0203", "Unread"),
        ("LR0203", "Weakened"),
        ("LR0204", "Shared"),
        ("LR0205", "List"),
        ("LR0206", "List"),
        ("LR0207", "Peeked"),
    ];
    let expected = expected.map(|(code, subject)| (code.to_owned(), subject.to_owned()));
    let lines = lines(&audited(&[]).expect(0));
    assert_eq!(warnings(&lines), BTreeSet::from(expected));
    // Of the lists: one function each, of two that wait, start or join.
    let functions: BTreeSet<&str> = lines
        .iter()
        .filter(|line| line["reason"] == "warning" && line["subject"] == "List")
        .map(|line| line["places"][0][1]["function"].as_str().unwrap())
        .collect();
    assert_eq!(
        functions,
        BTreeSet::from(["List::begin", "List::end", "List::slow", "List::take_from"])
    );
}

#[test]
fn objects_have_their_protection() {
    let lines = lines(&audited(&[]).expect(0));
    for (name, class) in [
        ("Bare.value", "unprotected"),
        ("Bare.limit", "read-only"),
        ("Locked.value", "synchronised"),
        ("Locked.taken", "atomic"),
        ("Once.value", "synchronised"),
        ("Crossed.left", "lock"),
        ("List.changed", "synchronisation"),
        ("LAST", "unprotected"),
        ("Guarded.value", "locked"),
        ("Peeked.value", "synchronised"),
        ("Read.value", "synchronised"),
        ("Given.value", "unprotected"),
        ("GivenInTurn.value", "synchronised"),
        ("GivenUnderLock.value", "locked"),
        ("GivenToAny.value", "unknown"),
    ] {
        assert_eq!(one(&lines, "object", name)["class"], class, "{name}");
    }
    assert_eq!(
        one(&lines, "object", "Guarded.value")["locks"],
        serde_json::json!(["Guarded.lock"])
    );
    // By closures, also where another crate's function writes for them.
    let given = one(&lines, "object", "Given.value");
    assert_eq!((&given["reads"], &given["writes"]), (&1.into(), &1.into()));
    let locked = one(&lines, "object", "GivenUnderLock.value");
    assert_eq!((&locked["reads"], &locked["writes"]), (&2.into(), &2.into()));
    let not_followed = one(&lines, "object", "GivenToAny.value");
    assert_eq!(not_followed["through"], serde_json::json!(["with_any"]));
}

#[test]
fn atomics_have_the_pairs_that_synchronise() {
    let lines = lines(&audited(&[]).expect(0));
    let pairs = |name: &str| one(&lines, "atomic", name)["pairs"].as_array().unwrap().len();
    assert_eq!(pairs("Once.ready"), 1);
    assert_eq!(pairs("Published.ready"), 1, "by a fence");
    assert_eq!(pairs("Published.count"), 0);
    assert_eq!(pairs("Unread.ready"), 0);
}

#[test]
fn orders_are_those_that_an_operation_may_have() {
    let lines = lines(&audited(&[]).expect(0));
    let reported = |name: &str| -> Vec<(String, u64)> {
        let operations = one(&lines, "atomic", name)["operations"].as_array().unwrap();
        let reported = operations.iter().map(|it| {
            let pairs = one(&lines, "atomic", name)["pairs"].as_array().unwrap().len();
            (it["text"].as_str().unwrap().to_owned(), pairs as u64)
        });
        reported.collect()
    };
    let expect = |name: &str, pairs: u64, texts: &[&str]| {
        let expected: Vec<_> = texts.iter().map(|text| ((*text).to_owned(), pairs)).collect();
        assert_eq!(reported(name), expected, "{name}");
    };
    // What a condition rules out when the package is compiled is neither an order nor an operation.
    expect("Chosen.ready", 1, &["store Release", "load Acquire", "load Relaxed"]);
    expect("Weakened.ready", 0, &["store Release", "load Relaxed"]);
    expect("Passed.inner", 1, &["load Acquire", "store any order"]);
    // The exchange reads what it has written, too.
    expect("Passed.outer", 2, &["store Release", "compare_exchange any order/Relaxed"]);
    expect("Computed.first", 1, &["store Release", "load Acquire"]);
    expect("Computed.second", 1, &["store Release", "load Relaxed or Acquire"]);
}

#[test]
fn locks_are_nested_only_where_the_first_may_still_be_held() {
    let lines = lines(&audited(&[]).expect(0));
    let edges = lines.iter().filter(|line| line["reason"] == "lock-order");
    let edges: Vec<[&str; 2]> = edges
        .map(|line| ["held", "wanted"].map(|end| line[end].as_str().unwrap()))
        .filter(|ends| {
            ends.iter().any(|end| {
                ["Shard", "Single", "Tended"].contains(&&end[..end.find('.').unwrap_or(0)])
            })
        })
        .collect();
    assert_eq!(edges, [["Shard.map", "Shard.map"]]);
}

#[test]
fn what_is_not_compiled_is_reported() {
    let lines = lines(&audited(&[]).expect(0));
    let last = lines.last().unwrap();
    assert_eq!(last["reason"], "audit-finished");
    let generic = last["generic"].as_array().unwrap();
    assert_eq!(generic.len(), 3, "{generic:?}");
    assert!(generic.contains(&"Loose::pointer".into()), "{generic:?}");
    assert_eq!(last["others"].as_array().unwrap().len(), 0, "{last}");
}

#[test]
fn warnings_fail_an_audit_when_they_are_denied_and_not_in_the_baseline() {
    let directory = own("audit", "audit-baseline");
    // An earlier run has left its own.
    let _ = fs::remove_file(directory.join("known.toml"));
    let audit = |arguments: &[&str]| run(&directory, &[&["audit"], arguments].concat());
    let _ = audit(&["--deny", "LR0201"]).expect(1);
    let _ = audit(&["--deny", "warnings", "--allow", "warnings", "--allow", "LR0201"]).expect(1);
    let known = ["--deny", "warnings", "--baseline", "known.toml"];
    let _ = audit(&known).expect(2);
    let _ = audit(&[&known[..], &["--write-baseline"]].concat()).expect(0);
    let _ = audit(&known).expect(0);
    // The same at other lines is known, and something new is not.
    let cells = directory.join("src/cells.rs");
    let text = fs::read_to_string(&cells).unwrap();
    fs::write(&cells, format!("// A line more.\n{text}")).unwrap();
    let _ = audit(&known).expect(0);
    let more = "\n/// Anybody may call it, too.\npub fn forget() {\n    unsafe { LAST = 0 };\n}\n";
    fs::write(&cells, format!("{text}{more}")).unwrap();
    let output = audit(&known).expect(1);
    assert!(
        output.stdout.contains("error[LR0201]") && output.stdout.contains("in forget"),
        "{output}"
    );
    // What is gone is reported.
    fs::write(&cells, text.replace("unsafe { LAST = value };", "let _ = value;")).unwrap();
    let _ = audit(&known).expect(0).says(&["the baseline has a finding that is gone"]);
}

#[test]
fn only_forms_that_an_audit_has_are_taken() {
    let _ =
        run(&shared("audit"), &["audit", "--message-format", "junit"]).expect(2).says(&["json"]);
}

#[test]
fn what_another_command_reports_cannot_be_denied() {
    let denied = |command: &str, code: &str| run(&shared("audit"), &[command, "--deny", code]);
    let _ = denied("check", "LR0207").expect(2).says(&[
        "`cargo lockred check` never reports unlocked-read (LR0207): --deny is of no effect",
        "`cargo lockred audit` does",
    ]);
    let _ = denied("audit", "LR0104").expect(2).says(&["never reports leak", "check` does"]);
}
