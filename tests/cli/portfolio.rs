//! A search that has not ended is searched in several ways: what these find, what is said of them,
//! and that a check comes to the same again.

use crate::fixtures::{own, shared};
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::outcome::{self, TestFinished};
use lockred_tests::tool::{finish, lockred};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Operations that are a few rounds.
const TOTAL: [&str; 2] = ["--max-operations-total", "400000"];

/// What a check came to: its tests, and what people read.
fn check(directory: &Path, status: i32, arguments: &[&str]) -> (Vec<TestFinished>, String) {
    let check = ["check", "--exact", "--message-format", "json"];
    let mut command = lockred(directory, check);
    let output = finish(command.args(arguments));
    assert_eq!(output.status, Some(status), "{}\n{}", output.stdout, output.stderr);
    let lines = outcome::parse(&output.stdout).unwrap();
    (outcome::tests(&lines).into_iter().cloned().collect(), output.stderr)
}

fn one(status: i32, arguments: &[&str]) -> (TestFinished, String) {
    let (mut tests, people) = check(&shared("corner"), status, arguments);
    assert_eq!(tests.len(), 1, "{people}");
    (tests.remove(0), people)
}

fn parts(test: &TestFinished) -> Vec<&Value> {
    test.others.get("parts").and_then(Value::as_array).into_iter().flatten().collect()
}

fn part<'a>(test: &'a TestFinished, search: &str) -> &'a Value {
    parts(test).into_iter().find(|part| part["search"] == search).unwrap()
}

#[test]
fn a_bug_outside_of_the_corner_is_found() {
    let bug = "tests::bug_at_the_beginning";
    let alone = [&[bug, "--search", "exhaustive=alone"], &TOTAL[..]].concat();
    let (test, people) = one(0, &alone);
    assert_eq!((test.verdict, test.search.as_str()), (Verdict::Passed, "exhaustive=alone"));
    assert!(people.contains("stopped at --max-operations-total"), "{people}");
    assert!(parts(&test).is_empty());
    assert!((400_000..401_000).contains(&test.operations), "{}", test.operations);
    let (test, people) = one(1, &[&[bug], &TOTAL[..]].concat());
    assert_eq!((test.verdict, test.bugs[0].kind), (Verdict::Failed, BugKind::Panic));
    assert!(people.contains("found with few preemptions"), "{people}");
    assert_eq!(part(&test, "bounded=2")["ended"], "bug");
    // Those that find it later are passed over.
    let (test, _) = one(1, &[&[bug, "--keep-going"], &TOTAL[..]].concat());
    assert_eq!((test.verdict, test.bugs.len()), (Verdict::Failed, 1));
    assert!(part(&test, "sample=pct")["executions"].as_u64() > Some(0));
}

#[test]
fn what_was_covered_is_said_by_part_and_comes_again() {
    let arguments = [&["tests::too_large"], &TOTAL[..]].concat();
    let (first, people) = one(0, &arguments);
    assert_eq!(first.verdict, Verdict::Passed);
    let searches: Vec<&Value> = parts(&first).into_iter().map(|part| &part["search"]).collect();
    assert_eq!(
        searches,
        ["exhaustive", "unified", "bounded=2", "sample=pct", "sample=pos", "sample=uniform"]
    );
    assert_eq!(part(&first, "exhaustive")["executions"], first.executions);
    let operations = |part: &&Value| part["operations"].as_u64().unwrap();
    let all: u64 = parts(&first).iter().map(operations).sum();
    assert!((400_000..402_000).contains(&all), "{all}");
    assert!(operations(&part(&first, "exhaustive")) > all * 2 / 5);
    let walks = ["sample=pct", "sample=pos", "sample=uniform"]
        .map(|walks| part(&first, walks)["executions"].as_u64().unwrap());
    let said = people.lines().find(|line| line.contains("covered: ")).unwrap();
    assert!(said.contains(&format!("{} random walks", walks.iter().sum::<u64>())), "{said}");
    assert!(said.contains("all interleavings with at most 1 preemption;"), "{said}");
    assert!(said.contains(" % of the whole"), "{said}");
    // All of it, but for the time that it took.
    let (second, again) = one(0, &arguments);
    let untimed = |test: &TestFinished| {
        let mut parts: Vec<Value> = parts(test).into_iter().cloned().collect();
        parts.iter_mut().for_each(|part| part["seconds"] = Value::Null);
        (test.executions, test.blocked, test.transactions, test.operations, parts)
    };
    assert_eq!(untimed(&second), untimed(&first));
    assert!(again.contains(said), "{again}");
}

#[test]
fn a_test_that_ends_in_the_first_slice_is_searched_as_by_the_exhaustive_search_alone() {
    let (test, people) = one(0, &["tests::ends_soon"]);
    assert_eq!((test.verdict, test.executions), (Verdict::Verified, 6));
    assert!(parts(&test).is_empty() && !people.contains("covered: "), "{people}");
    let (alone, _) = one(0, &["tests::ends_soon", "--search", "exhaustive=alone"]);
    assert_eq!(
        (alone.executions, alone.blocked, alone.transactions, alone.operations),
        (test.executions, test.blocked, test.transactions, test.operations)
    );
}

#[test]
fn other_limits_and_searches_are_one_search() {
    for arguments in [&["--max-executions", "500"][..], &["--search", "sample"]] {
        let (test, _) = one(0, &[&["tests::too_large"], arguments, &TOTAL[..]].concat());
        assert!(parts(&test).is_empty(), "{arguments:?}");
        assert!(test.operations < 401_000, "{arguments:?}: {}", test.operations);
    }
}

#[test]
fn a_death_in_a_part_is_a_bug_of_the_test() {
    let (test, people) = one(1, &[&["tests::death_at_the_beginning"], &TOTAL[..]].concat());
    assert_eq!((test.verdict, test.bugs.len()), (Verdict::Failed, 1), "{people}");
    assert!(parts(&test).iter().any(|part| part["ended"] == "bug"), "{people}");
}

#[test]
fn an_interrupted_check_goes_on_with_the_parts_that_were_not_done() {
    let arguments = ["tests::too_large", "--max-operations-total", "8000000"];
    let directory = own("corner", "corner-resumed");
    let (whole, _) = check(&directory, 0, &arguments);

    let check_json = ["check", "--exact", "--message-format", "json", "--resume"];
    let mut command = lockred(&directory, check_json);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    // In the middle of it: something was kept, and more is to come.
    let kept = directory.join("target/lockred/unfinished");
    let has_rounds = || {
        let files = std::fs::read_dir(&kept).into_iter().flatten().flatten();
        files.map(|file| file.path()).any(|path| path.extension().is_some_and(|e| e == "portfolio"))
    };
    let begun = Instant::now();
    while !has_rounds() && begun.elapsed() < Duration::from_secs(300) {
        std::thread::yield_now();
    }
    let group = format!("kill -INT -{}", child.id());
    assert!(Command::new("sh").args(["-c", &group]).status().unwrap().success());
    let text: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(INTERRUPTED), "{text:?}");
    assert!(text[0].contains("\"interrupted\""), "{text:?}");

    let (resumed, _) = check(&directory, 0, &[&arguments[..], &["--resume"]].concat());
    let counts = |test: &TestFinished| {
        let count = |part: &Value| {
            let field = |name| part[name].as_u64().unwrap();
            (part["search"].to_string(), field("executions"), field("operations"))
        };
        parts(test).into_iter().map(count).collect::<Vec<_>>()
    };
    assert_eq!(counts(&resumed[0]), counts(&whole[0]));
}
