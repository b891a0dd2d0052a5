//! Where results go, and what is left there when a check does not come to its end.

use crate::fixtures::{shared, temporary};
use lockred_tests::tool::{self, lockred, run};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory for results.
fn results(name: &str) -> PathBuf {
    let directory = temporary().join(format!("results-{name}"));
    fs::create_dir_all(&directory).unwrap();
    for entry in fs::read_dir(&directory).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    directory
}

/// Options that ask for a SARIF and a JUnit file there.
fn documents(directory: &Path) -> Vec<String> {
    let format = |name: &str| format!("--message-format={name}={}", directory.join(name).display());
    vec![format("sarif"), format("junit")]
}

/// Both documents as they are read by those who know them: the one run of the SARIF log, and the
/// report.
fn read(directory: &Path) -> (Value, quick_junit::Report) {
    let sarif = fs::read_to_string(directory.join("sarif")).unwrap();
    let mut log: Value = serde_json::from_str(&sarif).unwrap_or_else(|e| panic!("{e}\n{sarif}"));
    let junit = fs::read_to_string(directory.join("junit")).unwrap();
    let report = quick_junit::Report::deserialize_from_str(&junit);
    (log["runs"][0].take(), report.unwrap_or_else(|e| panic!("{e}\n{junit}")))
}

/// The same, where nothing else is left.
fn read_alone(directory: &Path) -> (Value, quick_junit::Report) {
    let names: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "files are left over: {names:?}");
    read(directory)
}

#[test]
fn a_document_on_stdout_is_all_that_is_there() {
    let arguments = ["check", "--message-format", "sarif", "tests::deadlocks"];
    let output = run(&shared("sample"), &arguments).expect(1);
    let log: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "LR0002");
    assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], 1);
    let arguments = ["check", "--message-format", "junit", "tests::verified"];
    let output = run(&shared("sample"), &arguments).expect(0);
    assert_eq!(quick_junit::Report::deserialize_from_str(&output.stdout).unwrap().tests, 1);
}

#[test]
fn two_formats_do_not_share_a_place() {
    let arguments = ["check", "--message-format", "sarif", "--message-format", "json"];
    let output =
        run(&shared("sample"), &arguments).expect(2).says(&["stdout", "sarif=lockred.sarif"]);
    assert_eq!(output.stdout, "");
    let arguments = ["check", "--message-format", "junit=no/such/directory/x"];
    let _ = run(&shared("sample"), &arguments).expect(4).says(&["no/such/directory"]);
}

#[test]
fn what_cannot_be_checked_is_reported_in_every_document() {
    let directory = results("refused");
    let documents = documents(&directory);
    let mut command = lockred(&shared("sample"), ["check", "tests::refused", "tests::verified"]);
    let _ = tool::finish(command.args(documents)).expect(4);
    let (run, report) = read_alone(&directory);
    let reported = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert!(reported["message"]["text"].as_str().unwrap().contains("socket"), "{reported}");
    assert_eq!(
        reported["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"],
        "SRCROOT"
    );
    assert_eq!((report.tests, report.failures, report.errors), (2, 0, 1));
}

#[test]
fn a_build_that_fails_leaves_documents_that_say_so() {
    let directory = results("broken");
    let mut command = lockred(&shared("broken"), ["check"]);
    let _ = tool::finish(command.args(documents(&directory))).expect(3);
    let (run, report) = read_alone(&directory);
    let invocation = &run["invocations"][0];
    assert_eq!(
        (&invocation["executionSuccessful"], &invocation["exitCode"]),
        (&false.into(), &3.into())
    );
    assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
    assert_eq!((report.tests, report.errors), (1, 1));
}

/// Starts a check that takes for ever, waits until its first test is done, and sends it a signal.
fn stopped_by(signal: &str, directory: &Path) -> Option<i32> {
    let arguments = ["check", "--message-format", "json", "--max-seconds", "100"];
    let mut command = lockred(&shared("long"), arguments);
    command
        .args(documents(directory))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    stdout.read_line(&mut text).unwrap();
    let group = format!("kill -{signal} -{}", child.id());
    assert!(Command::new("sh").args(["-c", &group]).status().unwrap().success());
    stdout.read_to_string(&mut text).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn after_an_interruption_documents_have_what_was_finished() {
    let directory = results("interrupted");
    assert_eq!(stopped_by("INT", &directory), Some(130));
    let (run, report) = read_alone(&directory);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(run["invocations"][0]["exitCode"], 130);
    assert!((1..=2).contains(&report.tests) && report.failures + report.errors == 0, "{report:?}");
}

#[test]
fn who_is_killed_leaves_documents_that_can_be_read() {
    let directory = results("killed");
    assert_eq!(stopped_by("KILL", &directory), None);
    // What was about to be renamed may lie beside them.
    let (run, report) = read(&directory);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert!(report.tests <= 1);
}

#[test]
fn a_test_that_takes_the_process_with_it_is_one_of_the_results() {
    let directory = results("aborting");
    let tests = ["check", "tests::d_kills_the_process", "tests::e_is_short"];
    let mut command = lockred(&shared("killed"), tests);
    let output = tool::finish(command.args(documents(&directory))).expect(1);
    let (run, report) = read_alone(&directory);
    assert_eq!(run["invocations"][0]["executionSuccessful"], true, "{output}");
    assert_eq!((report.tests, report.failures, report.errors), (2, 1, 0), "{output}");
    assert_eq!(run["results"][0]["ruleId"], "LR0008", "{output}");
}

#[test]
fn github_actions_gets_annotations_by_itself() {
    let fixture = shared("sample");
    let mut command = lockred(&fixture, ["check", "tests::deadlocks"]);
    let root = fixture.parent().unwrap();
    let output = tool::finish(command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", root));
    let output = output.expect(1).says(&["error[LR0002]"]);
    assert!(output.stdout.starts_with("::error file=sample/src/lib.rs,line="), "{output}");
    assert_eq!(output.stdout.lines().count(), 1, "{output}");
    for format in ["human", "json"] {
        let mut command =
            lockred(&fixture, ["check", "tests::deadlocks", "--message-format", format]);
        let output = tool::finish(command.env("GITHUB_ACTIONS", "true")).expect(1);
        assert!(!output.stdout.contains("::error"), "{output}");
    }
}

#[test]
fn a_code_is_explained() {
    let directory = temporary();
    let output = run(&directory, &["explain", "LR0002"]).expect(0);
    assert!(output.stdout.starts_with("LR0002: deadlock\n"), "{output}");
    assert!(
        output.stdout.lines().all(|line| line.starts_with("    ") || line.chars().count() <= 80),
        "{output}"
    );
    let output = run(&directory, &["explain"]).expect(0);
    assert!(output.stdout.contains("LR0104") && output.stdout.contains("virtual-time"), "{output}");
    let output =
        run(&directory, &["explain", "LR0020"]).expect(2).says(&["LR0020", "there is LR00"]);
    assert_eq!(output.stdout, "");
}

#[test]
fn progress_is_shown_where_cargo_would_show_its_own() {
    let check = |when: &str, bound: [&str; 2]| {
        let mut command = lockred(&shared("long"), ["check", "tests::b_long_one"]);
        let variables = [("CARGO_TERM_PROGRESS_WHEN", when), ("CARGO_TERM_PROGRESS_WIDTH", "150")];
        tool::finish(command.args(bound).envs(variables)).expect(0).stderr
    };
    let shown = check("always", ["--max-seconds", "3"]);
    for part in
        ["Exploring [>", "0/1: tests::b_long_one  ", " executions, ", "/s", " % explored", " left"]
    {
        assert!(shown.contains(part), "`{part}` is missing in {shown}");
    }
    for when in ["auto", "never"] {
        let shown = check(when, ["--max-executions", "20000"]);
        assert!(!shown.contains("Exploring"), "{when}: {shown}");
    }
}
