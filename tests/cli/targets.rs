//! Targets of every kind: binaries, examples, tests without libtest, proc-macro and no_std crates,
//! aborting panics.

use crate::fixtures::shared;
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::run;

fn check(fixture: &str, arguments: &[&str], status: i32) -> Vec<TestFinished> {
    let arguments = [&["check", "--message-format", "json"], arguments].concat();
    run(&shared(fixture), &arguments).expect(status).tests()
}

/// The only test, with its target's kind, its own name and its verdict.
fn only(fixture: &str, arguments: &[&str], status: i32) -> (String, String, Verdict) {
    let tests = check(fixture, arguments, status);
    let [test] = &tests[..] else { panic!("{tests:?}") };
    (test.target.kind.clone(), test.name.clone(), test.verdict)
}

#[test]
fn by_default_the_targets_of_cargo_test_are_checked() {
    let tests = check("targets", &[], 0);
    let mut found: Vec<(&str, &str)> =
        tests.iter().map(|test| (test.target.kind.as_str(), test.name.as_str())).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("bin", "in_the_binary"),
            ("lib", "in_the_library"),
            ("test", "in_an_integration_test"),
            ("test", "plain"),
        ]
    );
    assert!(tests.iter().all(|test| test.verdict == Verdict::Verified), "{tests:?}");
}

#[test]
fn targets_are_chosen_as_in_cargo_test() {
    let verified = |kind: &str, name: &str| (kind.into(), name.into(), Verdict::Verified);
    assert_eq!(only("targets", &["--lib"], 0), verified("lib", "in_the_library"));
    assert_eq!(only("targets", &["--test", "plain"], 0), verified("test", "plain"));
    assert_eq!(only("targets", &["--bin", "works"], 0), verified("bin", "works"));
    assert_eq!(only("targets", &["--example", "shown"], 0), verified("example", "shown"));
}

#[test]
fn a_program_that_fails_is_a_bug() {
    let tests = check("targets", &["--bin", "panics", "--bin", "exits"], 1);
    let kinds: Vec<_> = tests.iter().map(|test| (test.name.as_str(), test.bugs[0].kind)).collect();
    assert_eq!(kinds, [("exits", BugKind::Exit), ("panics", BugKind::Panic)]);
}

#[test]
fn a_release_build_is_checked() {
    assert_eq!(only("targets", &["--release", "--bin", "works"], 0).2, Verdict::Verified);
}

#[test]
fn a_user_of_a_procedural_macro_is_checked() {
    assert_eq!(only("macros", &[], 0).2, Verdict::Verified);
    let _ = run(&shared("macros"), &["check", "-p", "answer"]).expect(2);
}

#[test]
fn a_crate_without_std_is_checked() {
    assert_eq!(only("without_std", &[], 0).2, Verdict::Verified);
}

#[test]
fn panics_that_abort_are_bugs() {
    assert_eq!(only("aborting", &[], 0).2, Verdict::Verified);
    assert_eq!(only("aborting", &["--bin", "calm"], 0).2, Verdict::Verified);
    let tests = check("aborting", &["--bin", "panics"], 1);
    assert!(matches!(tests[0].bugs[0].kind, BugKind::Panic | BugKind::Abort), "{tests:?}");
}
