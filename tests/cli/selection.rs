//! Which tests are checked: filters, ignored tests, workspace members.

use crate::fixtures::shared;
use lockred_tests::tool::run;

/// The names of the tests that were checked.
fn names(fixture: &str, arguments: &[&str], status: i32) -> Vec<String> {
    let arguments = [&["check", "--message-format", "json"], arguments].concat();
    let output = run(&shared(fixture), &arguments).expect(status);
    output.tests().into_iter().map(|test| test.name).collect()
}

#[test]
fn a_filter_that_matches_nothing_exits_with_2() {
    let output = run(&shared("sample"), &["check", "no_such_test"]).expect(2);
    assert!(output.stderr.contains("no test"), "{output}");
}

#[test]
fn a_package_without_tests_exits_with_2() {
    let output = run(&shared("untested"), &["check"]).expect(2);
    assert!(output.stderr.contains("no test"), "{output}");
}

#[test]
fn filters_match_as_in_cargo_test() {
    assert_eq!(
        names("sample", &["verif", "without"], 0),
        ["tests::verified", "tests::without_threads"]
    );
    assert_eq!(names("sample", &["--exact", "tests::verified"], 0), ["tests::verified"]);
    assert_eq!(
        names("sample", &["ed", "--skip", "pass", "--skip", "refused"], 0),
        ["tests::verified"]
    );
    let _ = run(&shared("sample"), &["check", "--exact", "verified"]).expect(2);
}

#[test]
fn ignored_tests_are_checked_on_demand() {
    assert_eq!(names("sample", &["ignored", "--ignored"], 1), ["tests::ignored"]);
    assert_eq!(
        names("sample", &["ignored", "verif", "--include-ignored"], 1),
        ["tests::ignored", "tests::verified"]
    );
    assert_eq!(names("sample", &["ignored", "verif"], 0), ["tests::verified"]);
}

#[test]
fn members_of_a_workspace_are_chosen() {
    assert_eq!(names("members", &["-p", "left"], 0), ["adds_one"]);
    assert_eq!(names("members", &["-p", "right"], 1), ["adds_two"]);
    assert_eq!(names("members", &["--workspace"], 1), ["adds_one", "adds_two"]);
    assert_eq!(names("members", &["--workspace", "--exclude", "right"], 0), ["adds_one"]);
    assert_eq!(names("members", &[], 1), ["adds_one", "adds_two"]);
}

#[test]
fn reports_of_a_workspace_name_the_package() {
    let output = run(&shared("members"), &["check"]).expect(1);
    let _ = output.says(&["left", "right", "right/src/lib.rs"]);
}
