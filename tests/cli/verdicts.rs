//! Each exit code, and what people read beside it.

use crate::fixtures::shared;
use lockred_protocol::codes::{AssumptionKind, BugKind, Verdict};
use lockred_tests::tool::{SEARCHES, run};

#[test]
fn what_is_verified_exits_with_0() {
    let output = run(&shared("sample"), &["check", "tests::verified"]).expect(0);
    let _ = output.says(&["verified", "tests::verified"]);
}

#[test]
fn what_only_passed_exits_with_0_or_as_required_with_5() {
    let fixture = shared("sample");
    let _ = run(&fixture, &["check", "tests::passed"]).expect(0).says(&["passed"]);
    let _ = run(&fixture, &["check", "tests::passed", "--require", "verified"]).expect(5);
    let _ = run(&fixture, &["check", "tests::verified", "--require", "verified"]).expect(0);
}

#[test]
fn a_bug_exits_with_1_and_is_reported_with_its_lines() {
    let output = run(&shared("sample"), &["check", "tests::deadlocks"]).expect(1);
    let _ = output.says(&[
        "error[LR0002]",
        "deadlock",
        "src/lib.rs",
        "let _b = other.1.lock().unwrap();",
        "let a = locks.0.lock().unwrap();",
        "cargo lockred replay ",
    ]);
}

#[test]
fn a_build_failure_shows_rustc_s_error_and_exits_with_3() {
    let output = run(&shared("broken"), &["check"]).expect(3);
    let output = output.says(&["error[E0277]", "src/lib.rs", "a + \"one\""]);
    assert_eq!(output.stdout, "");
}

#[test]
fn what_cannot_be_modelled_is_named_and_exits_with_4() {
    let output = run(&shared("sample"), &["check", "tests::refused"]).expect(4);
    let _ = output.says(&["unsupported", "socket", "src/lib.rs"]);
}

#[test]
fn a_bug_outweighs_what_is_unsupported() {
    let _ = run(&shared("sample"), &["check", "--require", "verified"]).expect(1);
}

#[test]
fn the_outcome_of_a_test_is_its_harness_s() {
    let arguments = ["check", "--message-format", "json", "should", "result", "without"];
    for test in run(&shared("sample"), &arguments).expect(0).tests() {
        assert_eq!((test.verdict, test.complete), (Verdict::Verified, true), "{}", test.name);
        assert_eq!(test.executions, 1, "{}", test.name);
    }
}

#[test]
fn a_bound_is_said_and_nothing_bounded_is_verified() {
    let arguments = ["check", "--message-format", "json", "--max-executions", "1", "tests::passed"];
    let test = &run(&shared("sample"), &arguments).expect(0).tests()[0];
    assert_eq!((test.verdict, test.complete, test.executions), (Verdict::Passed, false, 1));
    let output = run(&shared("sample"), &["check", "--max-executions", "1", "tests::passed"]);
    let _ = output.expect(0).says(&["1 execution"]);
}

#[test]
fn every_search_finds_the_deadlock() {
    for search in SEARCHES {
        let arguments =
            ["check", "--message-format", "json", "--search", search, "tests::deadlocks"];
        let test = &run(&shared("sample"), &arguments).expect(1).tests()[0];
        assert_eq!(test.bugs[0].kind, BugKind::Deadlock, "{search}");
        assert_eq!(test.search, search);
    }
}

#[test]
fn a_sample_covers_nothing_for_sure_and_says_so() {
    for (name, words) in
        [("sample", "uniform sample"), ("sample=pct", "PCT sample"), ("sample=pos", "POS sample")]
    {
        let sample = ["check", "--search", name, "--max-executions", "100", "tests::verified"];
        let output = run(&shared("sample"), &sample).expect(0);
        let _ = output.says(&[
            &format!("{words}, at most 100 executions"),
            "not every interleaving of 1 test: stopped at --max-executions",
        ]);
        let options = ["--seed", "3", "--message-format", "json"];
        let output = run(&shared("sample"), &[&sample[..], &options].concat()).expect(0);
        let test = &output.tests()[0];
        assert_eq!((test.verdict, test.complete), (Verdict::Passed, false), "{name}");
        assert_eq!(test.executions, 100, "{name}");
    }
}

#[test]
fn an_assumption_is_reported_to_people_too() {
    let output = run(&shared("sample"), &["check", "tests::passed"]).expect(0);
    let _ = output.says(&[AssumptionKind::MemoryModelSc.code()]);
}
