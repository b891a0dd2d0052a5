//! What code says of itself by the crate `lockred`: options, assumptions, blocks that are atomic, disciplines. What is wrong is reported.

use crate::fixtures::own;
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::run;
use lockred_trace::codes::Verdict;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The fixture with the crate that it is annotated by, which is a dependency by path: a copy does not find that by itself.
fn annotations() -> &'static Path {
    static FIXTURE: OnceLock<PathBuf> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let fixture = own("annotations", "annotations");
        let manifest = fixture.join("Cargo.toml");
        let annotations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/annotations");
        let text = std::fs::read_to_string(&manifest).unwrap();
        let (head, _) = text.split_once("[dependencies]").expect("the fixture has dependencies");
        let text = format!("{head}[dependencies]\nlockred = {{ path = {annotations:?} }}\n");
        std::fs::write(manifest, text).unwrap();
        fixture
    })
}

/// The outcome of a test.
fn check(status: i32, arguments: &[&str]) -> TestFinished {
    let arguments = [&["check", "--exact", "--message-format", "json"][..], arguments].concat();
    let mut tests = run(annotations(), &arguments).expect(status).tests();
    assert_eq!(tests.len(), 1, "{tests:?}");
    tests.remove(0)
}

fn ended(test: &TestFinished) -> &str {
    test.others["ended"].as_str().expect("it is a word")
}

#[test]
fn a_test_has_options_of_its_own_and_the_command_line_wins() {
    let test = check(0, &["options::bounded"]);
    assert_eq!((test.strategy.as_str(), test.executions, ended(&test)), ("naive", 3, "executions"));
    assert_eq!(test.others["options"], serde_json::json!(["strategy=naive", "max-executions=3"]));
    let test = check(0, &["options::bounded", "--max-executions", "5"]);
    assert_eq!((test.strategy.as_str(), test.executions), ("naive", 5));
    assert_eq!(test.others["options"], serde_json::json!(["strategy=naive"]));
    // Which is what it would be anyhow.
    let test = check(0, &["options::bounded", "--strategy", "transactions"]);
    assert_eq!((test.strategy.as_str(), test.executions), ("transactions", 3));
    let test = check(0, &["options::cut"]);
    assert_eq!((test.strategy.as_str(), ended(&test)), ("transactions", "operations"));
    let test = check(0, &["options::usual"]);
    assert_eq!((test.executions, test.verdict, ended(&test)), (20, Verdict::Verified, "complete"));
    assert_eq!(test.others.get("options"), None);
}

#[test]
fn options_hold_for_the_replay_and_are_told_when_asked() {
    let test = check(1, &["options::spurious"]);
    let _ = run(annotations(), &["replay", &test.bugs[0].id]).expect(1).says(&["for no reason"]);
    let _ = run(annotations(), &["check", "options::", "--verbose"])
        .expect(1)
        .says(&["its own options: --strategy=naive --max-executions=3"]);
}

#[test]
fn an_ordinary_build_runs_as_if_there_were_nothing() {
    let output = std::process::Command::new("cargo")
        .args(["test", "--offline", "--quiet"])
        .current_dir(annotations())
        .env("CARGO_TARGET_DIR", annotations().join("target/ordinary"))
        .output()
        .expect("there is a cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
