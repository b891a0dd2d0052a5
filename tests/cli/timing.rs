//! Sleeps that are too short: a warning, after which the search goes on; and time in order.

use crate::fixtures::shared;
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::{Output, SEARCHES, run};

/// Tests whose sleeps, timeouts and clocks are taken for enough.
const WRONG: [&str; 6] = [
    "a_sleep_for_a_worker",
    "a_timeout_that_should_not_fire",
    "a_ticker_ends_soon",
    "little_time_passes",
    "a_deadline_that_is_polled",
    "sleeps_in_order",
];
/// Those that are right.
const RIGHT: [&str; 3] = ["a_wait_for_a_worker", "a_timeout_that_is_handled", "a_ticker_ends"];

/// What a report says where no schedule fails in which the sleeps are long enough.
const KNOWN_TO_TAKE_A_SLEEP: &str = "are long enough, no schedule fails in this way";

fn check(arguments: &[&str]) -> Output {
    let common = ["check", "--message-format", "json", "--exact"];
    run(&shared("timing"), &[&common, arguments].concat())
}

fn codes(test: &TestFinished) -> Vec<&str> {
    test.warnings.iter().filter_map(|warning| warning["code"].as_str()).collect()
}

#[test]
fn sleeps_that_are_too_short_are_warned_of() {
    let output = check(&WRONG).expect(0);
    for test in output.tests() {
        assert_eq!(test.verdict, Verdict::Passed, "{output}");
        assert!(!codes(&test).is_empty(), "{output}");
        assert!(codes(&test).iter().all(|code| *code == "LR0107"), "{output}");
    }
    let _ = output.says(&[
        "warning[LR0107]",
        "main's sleep of 250 ms ends before thread 1 has gone on",
        "sleep 250 ms  src/lib.rs:",
        "main's timeout",
        "main looks at a clock late",
        "main's sleep of 200 ms ends before thread 1 has gone on",
        "replay: cargo lockred replay",
    ]);
}

#[test]
fn the_search_goes_on_after_each_warning_and_ends() {
    let output = check(&["two_sleeps_in_a_row"]).expect(0);
    let test = &output.tests()[0];
    assert_eq!((test.verdict, test.complete), (Verdict::Passed, true), "{output}");
    assert_eq!(codes(test), ["LR0107", "LR0107"], "{output}");
    // All schedules in which time is ordered were searched, or minimising has shown it.
    assert_eq!(output.stderr.matches(KNOWN_TO_TAKE_A_SLEEP).count(), 2, "{output}");
}

#[test]
fn the_search_ends_after_eight_warnings() {
    let output = check(&["nine_values_that_are_too_early"]).expect(0);
    let test = &output.tests()[0];
    assert_eq!((test.verdict, test.complete), (Verdict::Passed, false), "{output}");
    assert_eq!(codes(test), ["LR0107"; 8], "{output}");
}

#[test]
fn what_waits_for_what_it_needs_is_not_warned_of() {
    let output = check(&RIGHT).expect(0);
    for test in output.tests() {
        assert!(
            matches!(test.verdict, Verdict::Verified | Verdict::Passed) && test.warnings.is_empty(),
            "{output}"
        );
    }
}

#[test]
fn a_real_bug_after_a_sleep_is_found() {
    let output = check(&["a_bug_behind_a_sleep"]).expect(1);
    let test = &output.tests()[0];
    assert_eq!((test.bugs.len(), test.bugs[0].kind), (1, BugKind::Panic), "{output}");
    let _ = output.says(&["error[LR0003]", "an update is lost"]);
    // Its schedule overtakes nothing, so it is one of ordered time, too.
    let _ = run(&shared("timing"), &["replay", &test.bugs[0].id]).expect(1).says(&["lost"]);
    let _ = check(&["a_bug_behind_a_sleep", "--time", "ordered"]).expect(1);
}

#[test]
fn an_error_of_memory_after_a_sleep_is_a_failure() {
    let output = check(&["memory_is_freed_after_a_sleep"]).expect(1);
    let test = &output.tests()[0];
    assert_eq!((test.bugs.len(), test.bugs[0].kind), (1, BugKind::UseAfterFree), "{output}");
    assert_eq!(codes(test), [""; 0], "{output}");
}

#[test]
fn a_bug_that_minimising_does_not_free_of_sleeps_is_found_in_ordered_time() {
    let output = check(&["a_bug_beside_two_sleeps"]).expect(1);
    let test = &output.tests()[0];
    assert_eq!((test.bugs.len(), test.bugs[0].kind), (1, BugKind::Panic), "{output}");
    let _ = run(&shared("timing"), &["replay", &test.bugs[0].id]).expect(1).says(&["LR0003"]);
}

#[test]
fn the_warning_fails_a_test_or_is_silent_as_is_asked_for() {
    let name = "a_sleep_for_a_worker";
    let output = check(&[name, "--deny", "timing"]).expect(1);
    assert_eq!(output.tests()[0].verdict, Verdict::Failed, "{output}");
    let _ = output.says(&["error[LR0107]", "as --deny asks for"]);
    let output = check(&[name, "--allow", "timing"]).expect(0);
    let test = &output.tests()[0];
    assert_eq!((test.verdict, test.warnings.len()), (Verdict::Passed, 0), "{output}");
}

#[test]
fn with_ordered_time_sleeps_are_long_enough() {
    for search in SEARCHES {
        let some = &["a_sleep_for_a_worker", "sleeps_in_order"];
        let options = ["--time", "ordered", "--search", search, "--max-executions", "200"];
        let output = check(&[&some[..], &options].concat()).expect(0);
        for test in output.tests() {
            assert_eq!((test.verdict, test.warnings.len()), (Verdict::Passed, 0), "{output}");
            let assumed = test.assumptions.iter().any(|reported| reported.code == "time-ordered");
            assert!(assumed, "{search}: {output}");
        }
    }
}

#[test]
fn a_timing_finding_is_replayed() {
    let output = check(&["a_sleep_for_a_worker"]).expect(0);
    let id = output.stderr.split("cargo lockred replay ").nth(1).unwrap();
    let id = id.split_whitespace().next().unwrap();
    let replayed = run(&shared("timing"), &["replay", id]).expect(1);
    let _ = replayed.says(&["sleep 250 ms"]);
}
