//! Ctrl-C: what was finished is printed, and the exit status says that it is not everything.

use crate::fixtures::shared;
use lockred_protocol::codes::Verdict;
use lockred_tests::outcome::{self, Line, TestFinished};
use lockred_tests::tool::lockred;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

#[test]
fn partial_results_are_printed() {
    let arguments = ["check", "--message-format", "json", "--max-seconds", "100"];
    let mut command = lockred(&shared("long"), arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    stdout.read_line(&mut text).unwrap();

    // As a terminal does it: the signal goes to everyone in the group.
    let group = format!("kill -INT -{}", child.id());
    let killed = Command::new("sh").args(["-c", &group]).status().unwrap();
    assert!(killed.success());
    stdout.read_to_string(&mut text).unwrap();
    let mut people = String::new();
    child.stderr.take().unwrap().read_to_string(&mut people).unwrap();
    let status = child.wait().unwrap();

    assert_eq!(status.code(), Some(INTERRUPTED), "{status}\n{text}\n{people}");
    let lines = outcome::parse(&text).unwrap();
    let tests = outcome::tests(&lines);
    assert_eq!(
        (tests[0].name.as_str(), tests[0].verdict),
        ("tests::a_short_one", Verdict::Verified)
    );
    let interrupted = |test: &&&TestFinished| test.verdict == Verdict::Interrupted;
    assert_eq!(tests[1..].iter().filter(interrupted).count(), tests.len() - 1, "{text}");
    assert!(tests.iter().skip(1).all(|test| !test.complete), "{text}");
    assert!(matches!(lines.last(), Some(Line::Finished(_))), "the summary is missing\n{text}");
    assert!(people.contains("interrupted"), "{people}");
}
