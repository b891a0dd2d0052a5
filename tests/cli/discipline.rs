//! `cargo lockred discipline`: what protects what is reported, pinned and compared, each lost lock
//! is caught, and a reformatting is not.

use crate::fixtures::own;
use lockred_tests::tool::{Output, run};
use std::path::Path;

const PINNED: [&str; 5] = [
    "Queue.length: locked(Queue.lock)",
    "Queue.limit: read-only after initialisation",
    "Queue.pushed: atomic",
    "Totals.pops: locked(Queue.lock, Queue.totals)",
    "Totals.pushes: locked(Queue.lock, Queue.totals)",
];

/// A copy of the crate with its pinned discipline.
fn pinned(copy: &str) -> std::path::PathBuf {
    let fixture = own("discipline", copy);
    let _ = run(&fixture, &["discipline", "--pin"]).expect(0).says(&["Pinned 5 fields"]);
    fixture
}

fn check(fixture: &Path) -> Output {
    run(fixture, &["discipline", "--check"])
}

/// Replaces a text that is there in the crate's source.
fn replace(fixture: &Path, from: &str, to: &str) {
    let path = fixture.join("src/lib.rs");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "no {from}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn lines(fixture: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(fixture.join("lockred.discipline")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn what_is_pinned_is_reported_and_a_reformatting_changes_nothing() {
    let fixture = pinned("discipline-same");
    assert_eq!(lines(&fixture), PINNED);
    let reported = run(&fixture, &["discipline"]).expect(0);
    for line in PINNED {
        let (name, protection) = line.split_once(": ").unwrap();
        let is_reported =
            |reported: &str| reported.starts_with(name) && reported.contains(protection);
        assert!(reported.stdout.lines().any(is_reported), "{line}\n{reported}");
    }
    assert!(reported.stdout.contains("verified"), "{reported}");
    replace(&fixture, "impl Queue {\n", "impl Queue {\n    // Moved\n    // down.\n\n");
    replace(
        &fixture,
        "let length = unsafe { *self.length.get() };",
        "let length =\n  unsafe {\n    *self.length.get()\n  };",
    );
    let _ = check(&fixture).expect(0).says(&["every pinned field is protected as it was"]);
    let _ = run(&fixture, &["discipline", "--pin"]).expect(0);
    assert_eq!(lines(&fixture), PINNED);
}

#[test]
fn json_has_a_line_a_field() {
    let fixture = own("discipline", "discipline-json");
    let output = run(&fixture, &["discipline", "--message-format", "json"]).expect(0);
    let lines: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let length = lines.iter().find(|line| line["field"] == "Queue.length").unwrap();
    assert_eq!(
        (&length["protection"], &length["confidence"]),
        (&"locked".into(), &"verified".into())
    );
    assert_eq!(length["locks"], serde_json::json!(["Queue.lock"]));
    assert!(length["places"].as_array().unwrap().len() >= 4, "{length}");
    assert_eq!(lines.last().unwrap()["reason"], "finished");
}

#[test]
fn each_lost_lock_is_caught_with_the_access() {
    let fixture = pinned("discipline-lost");
    for (method, does) in [("push", "writes"), ("pop", "writes"), ("len", "reads")] {
        let taken = format!("let _guard = self.lock.lock().unwrap(); // in {method}");
        let lost = format!("// lost in {method}");
        replace(&fixture, &taken, &lost);
        let _ = check(&fixture).expect(1).says(&[
            "error[LR0102]: `Queue.length` has lost its protection: it was pinned as locked(Queue.lock), and has no lock now",
            &format!("{does} `Queue.length` here without `Queue.lock`"),
            &format!("discipline::Queue::{method}"),
        ]);
        replace(&fixture, &lost, &taken);
    }
    replace(
        &fixture,
        "self.pushed.fetch_add(1, Ordering::SeqCst);",
        "unsafe { *self.pushed.as_ptr() += 1 };",
    );
    let _ = check(&fixture)
        .expect(1)
        .says(&["`Queue.pushed` has lost its protection", "writes `Queue.pushed` here"]);
}

#[test]
fn what_cannot_be_compared_is_wrong_usage() {
    let fixture = own("discipline", "discipline-none");
    let _ = check(&fixture).expect(2).says(&["lockred.discipline", "--pin"]);
    std::fs::write(fixture.join("other"), "Queue.length is fine\n").unwrap();
    let _ = run(&fixture, &["discipline", "--check", "--file", "other"])
        .expect(2)
        .says(&["other:1: expected `Type.field: protection`"]);
}
