//! What is explored on request: spurious results, values that a program asks for, randomness from
//! the system.

use crate::fixtures::annotated;
use lockred_protocol::codes::{AssumptionKind, BugKind, Verdict};
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::run;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The fixture.
fn choices() -> &'static Path {
    static FIXTURE: OnceLock<PathBuf> = OnceLock::new();
    FIXTURE.get_or_init(|| annotated("choices", "choices"))
}

fn check(status: i32, arguments: &[&str]) -> Vec<TestFinished> {
    let arguments = [&["check", "--message-format", "json"][..], arguments].concat();
    run(choices(), &arguments).expect(status).tests()
}

/// The verdict on a test of the fixture in which nothing fails: what looks at a clock rests on
/// that.
fn without_bugs(test: &TestFinished) -> Verdict {
    if test.name.ends_with("a_park_with_a_timeout") { Verdict::Passed } else { Verdict::Verified }
}

#[test]
fn nothing_is_spurious_unless_asked_for() {
    for how in ["exhaustive", "dpor"] {
        for test in check(0, &["once::", "again::", "--search", how]) {
            assert_eq!(test.verdict, without_bugs(&test), "{how}: {test:?}");
        }
    }
}

#[test]
fn what_trusts_in_one_wait_fails_and_what_looks_again_is_right() {
    for how in ["exhaustive", "dpor"] {
        let search = ["--spurious", "--search", how];
        let once = check(1, &[&["once::"], &search[..]].concat());
        assert_eq!(once.len(), 5);
        for test in once {
            let [bug] = &test.bugs[..] else { panic!("{how}: {test:?}") };
            assert_eq!(bug.kind, BugKind::Panic, "{how}: {}", test.name);
        }
        let again = check(0, &[&["again::"], &search[..]].concat());
        assert_eq!(again.len(), 5);
        for test in again {
            assert_eq!(test.verdict, without_bugs(&test), "{how}: {test:?}");
        }
    }
    for test in check(1, &["once::", "--spurious", "--search", "sample"]) {
        assert_eq!(test.verdict, Verdict::Failed, "{test:?}");
    }
}

#[test]
fn a_replay_shows_what_was_chosen() {
    for (test, shown) in [
        ("once::a_wait", "returns for no reason"),
        ("once::a_park", "returns for no reason"),
        ("once::a_weak_exchange", "failed for no reason"),
        ("values::chosen", "chooses 2 of 3"),
    ] {
        let tests = check(1, &[test, "--spurious"]);
        let output = run(choices(), &["replay", &tests[0].bugs[0].id]).expect(1);
        assert!(output.stdout.contains(shown) || output.stderr.contains(shown), "{test}: {output}");
    }
}

#[test]
fn freed_memory_comes_back_if_that_is_asked_for_and_in_the_replay() {
    let name = "memory::an_address_that_comes_back";
    for how in ["exhaustive", "dpor"] {
        let search = [name, "--search", how];
        assert_eq!(check(0, &search)[0].verdict, Verdict::Verified);
        let tests = check(1, &[&search[..], &["--reuse"]].concat());
        let bug = &tests[0].bugs[0];
        assert_eq!(bug.kind, BugKind::Panic);
        let _ = run(choices(), &["replay", &bug.id]).expect(1).says(&["what looks the same"]);
    }
}

#[test]
fn lost_memory_is_warned_of_if_that_is_asked_for() {
    let name = "memory::a_block_that_is_lost";
    assert_eq!(check(0, &[name])[0].warnings, [serde_json::Value::Null; 0]);
    for how in ["exhaustive", "dpor", "naive", "sample"] {
        let search = ["--leaks", "--max-executions", "20", "--search", how];
        let test = &check(0, &[&[name], &search[..]].concat())[0];
        let [warning] = &test.warnings[..] else { panic!("{how}: {test:?}") };
        assert_eq!(warning["code"], "LR0104");
        let expected =
            "leak: a block of 72 bytes is still allocated at the end, and nothing points to it";
        assert_eq!(warning["message"], expected);
        assert_eq!(warning["sites"][0]["file"], "src/lib.rs");
    }
    let _ = run(choices(), &["check", name, "--leaks"])
        .expect(0)
        .says(&["warning[LR0104]", "allocated here"]);
}

#[test]
fn every_value_is_explored() {
    for how in ["exhaustive", "dpor", "naive", "sample"] {
        let tests = check(1, &["values::chosen", "--search", how]);
        assert_eq!(tests[0].bugs.len(), 1, "{how}: {tests:?}");
    }
}

#[test]
fn randomness_is_fixed_or_a_sample_and_that_is_said() {
    for (how, executions, code) in [
        ("fixed", 1, AssumptionKind::RandomnessFixed),
        ("explore", 4, AssumptionKind::RandomnessSampled),
    ] {
        let tests = check(0, &["values::drawn", "--random", how]);
        let codes: Vec<&str> = tests[0].assumptions.iter().map(|a| a.code.as_str()).collect();
        assert_eq!((tests[0].executions, codes), (executions, vec![code.code()]), "{how}");
    }
}
