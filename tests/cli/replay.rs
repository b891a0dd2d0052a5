//! `cargo lockred replay`: the bug again, and schedules that are unknown, corrupt or stale.

use crate::fixtures::{own, shared};
use lockred_tests::tool::{self, run};
use std::path::{Path, PathBuf};

/// Finds the deadlock of the sample and gives its id and its schedule's file.
fn find(fixture: &Path) -> (String, PathBuf) {
    let arguments = ["check", "--message-format", "json", "tests::deadlocks"];
    let tests = run(fixture, &arguments).expect(1).tests();
    let bug = &tests[0].bugs[0];
    (bug.id.clone(), fixture.join(&bug.replay))
}

#[test]
fn the_bug_happens_again() {
    let fixture = shared("sample");
    let (id, _) = find(&fixture);
    let output = run(&fixture, &["replay", &id]).expect(1);
    let text = format!("{}{}", output.stdout, output.stderr);
    for part in ["the other thread runs", "deadlock", "src/lib.rs", "thread 1", "lock"] {
        assert!(text.contains(part), "`{part}` is missing in\n{output}");
    }
}

#[test]
fn an_unknown_id_is_reported() {
    let _ = run(&shared("sample"), &["replay", "ffffffffffff"]).expect(2).says(&["ffffffffffff"]);
    let _ = run(&shared("sample"), &["replay", "../../etc/passwd"]).expect(2);
}

#[test]
fn a_corrupt_schedule_is_reported() {
    let fixture = own("sample", "corrupt");
    let (id, file) = find(&fixture);
    let whole = std::fs::read_to_string(&file).unwrap();
    for text in ["", "no JSON", "{}", "[1, 2, 3]", &whole[..whole.len() / 2]] {
        std::fs::write(&file, text).unwrap();
        let output = run(&fixture, &["replay", &id]).expect(2);
        let name = file.file_name().unwrap().to_string_lossy();
        assert!(output.stderr.contains(&*name), "the file is not named\n{output}");
    }
    std::fs::write(&file, whole).unwrap();
    let _ = run(&fixture, &["replay", &id]).expect(1);
}

#[test]
fn a_schedule_of_another_version_is_reported() {
    let fixture = own("sample", "version");
    let (id, file) = find(&fixture);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut schedule: serde_json::Value = serde_json::from_str(&text).unwrap();
    let version = schedule.get_mut("version").expect("the file has a version");
    *version = 999.into();
    std::fs::write(&file, schedule.to_string()).unwrap();
    let _ = run(&fixture, &["replay", &id]).expect(2).says(&["version"]);
}

#[test]
fn a_stale_schedule_is_tried_on_the_changed_program() {
    let fixture = own("sample", "stale");
    let source = fixture.join("src/lib.rs");
    let old = std::fs::read_to_string(&source).unwrap();
    let (id, _) = find(&fixture);

    // The bug is still there, one line further down.
    std::fs::write(&source, format!("// One line more.\n{old}")).unwrap();
    let output = run(&fixture, &["replay", &id]).expect(1);
    assert!(output.stderr.contains("rebuilt") || output.stderr.contains("changed"), "{output}");

    // The bug is mended.
    let mended = old.replace("let _b = other.1", "drop(_a);\n            let _b = other.1");
    assert_ne!(mended, old);
    std::fs::write(&source, mended).unwrap();
    let output = run(&fixture, &["replay", &id]);
    std::fs::write(&source, old).unwrap();
    assert_eq!(output.status, Some(0), "{output}");
    assert!(output.stderr.contains("has not found the bug"), "{output}");
    assert!(output.stderr.contains("rebuilt") || output.stderr.contains("changed"), "{output}");
}

#[test]
fn what_is_kept_is_listed_with_what_became_of_its_program() {
    let fixture = own("sample", "listed");
    let _ = std::fs::remove_dir_all(fixture.join("target/lockred/schedules"));
    let _ = run(&fixture, &["replay"]).expect(0).says(&["no schedules"]);
    let (id, file) = find(&fixture);
    let listed = || run(&fixture, &["replay"]).expect(0).stdout;
    let line = listed();
    for part in [id.as_str(), "LR0002", "same", "tests::deadlocks", "wait for each other"] {
        assert!(line.contains(part), "`{part}` is missing in {line}");
    }
    let json = run(&fixture, &["replay", "--message-format", "json"]).expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["reason"], &json["id"]), (&"schedule".into(), &id.into()));
    assert_eq!((&json["program"], &json["test"]), (&"same".into(), &"tests::deadlocks".into()));

    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let executable = Path::new(kept["build"]["executable"].as_str().unwrap());
    let aside = executable.with_extension("aside");
    std::fs::rename(executable, &aside).unwrap();
    let missing = listed();
    std::fs::write(executable, "another program").unwrap();
    let changed = listed();
    std::fs::rename(aside, executable).unwrap();
    assert!(missing.contains("missing"), "{missing}");
    assert!(changed.contains("changed"), "{changed}");
    std::fs::write(file, "torn").unwrap();
    let output = run(&fixture, &["replay"]).expect(0).says(&["is damaged"]);
    assert_eq!(output.stdout, "");
}

#[test]
fn a_schedule_that_does_not_fit_is_searched_around() {
    let fixture = own("sample", "drift");
    let (id, file) = find(&fixture);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut schedule: serde_json::Value = serde_json::from_str(&text).unwrap();
    let choices = &mut schedule["request"]["task"]["replay"]["schedule"];
    assert!(choices.is_array(), "{choices}");
    // Main may not run after its end.
    *choices = serde_json::json!([{ "thread": 0 }, { "thread": 5 }]);
    std::fs::write(&file, schedule.to_string()).unwrap();
    let output = run(&fixture, &["replay", &id]).expect(1);
    let output =
        output.says(&["no longer matches the program: it diverges at choice 1", "cannot run here"]);
    let _ = output.says(&["Searching", "under another schedule, which follows", "deadlock"]);
}

/// Walks through a bug with these lines as input.
fn walk(fixture: &Path, id: &str, input: &str) -> tool::Output {
    let lines = fixture.join("input");
    std::fs::write(&lines, input).unwrap();
    let mut command = tool::lockred(fixture, ["replay", id, "--step"]);
    tool::finish(command.stdin(std::fs::File::open(&lines).unwrap()))
}

#[test]
fn a_bug_is_walked_through_step_by_step() {
    let fixture = own("sample", "step");
    let (id, _) = find(&fixture);
    let whole = walk(&fixture, &id, &"\n".repeat(100)).expect(1);
    for part in ["let b = locks.1.lock().unwrap()", "main holds", "thread 1 holds", "deadlock"] {
        assert!(whole.stderr.contains(part), "`{part}` is missing in\n{whole}");
    }
    // The end of the input ends it, and so does a word.
    for (input, shown) in [("", "(1 of "), ("\n\n", "(3 of "), ("\nq\n\n\n", "(2 of ")] {
        let _ = walk(&fixture, &id, input).expect(1).says(&[shown, "deadlock"]);
    }
}

/// Runs a debugger on a bug, with these lines as input.
fn debugged(fixture: &Path, id: &str, debugger: &str, input: &str) -> tool::Output {
    let lines = fixture.join("input");
    std::fs::write(&lines, input).unwrap();
    let mut command = tool::lockred(fixture, ["replay", id, "--gdb"]);
    command.env("LOCKRED_GDB", debugger).stdin(std::fs::File::open(&lines).unwrap());
    tool::finish(&mut command)
}

#[test]
fn a_debugger_stops_at_the_bug_and_knows_the_threads() {
    let fixture = own("sample", "gdb");
    let (id, _) = find(&fixture);
    let input = "lockred-thread 0\nlockred-thread 1\nlockred-thread 2\ncontinue\nquit\n";
    let output = debugged(&fixture, &id, "gdb", input).expect(0);
    let text = &output.stdout;
    for part in ["Breakpoint 1", "main      suspended", "thread 1  suspended", "exited normally"] {
        assert!(text.contains(part), "`{part}` is missing in\n{output}");
    }
    // Each waits for its second lock.
    let source = std::fs::read_to_string(fixture.join("src/lib.rs")).unwrap();
    for second in ["let _b = other.1.lock()", "let a = locks.0.lock()"] {
        let index = source.lines().position(|line| line.contains(second)).unwrap();
        let line = format!("Line {} of \"src/lib.rs\"", index + 1);
        assert!(text.contains(&line), "`{line}` is missing in\n{output}");
    }
    assert!(text.contains("there is no such thread"), "{output}");
}

#[test]
fn a_debugger_that_is_not_there_is_named() {
    let fixture = own("sample", "no-gdb");
    let (id, _) = find(&fixture);
    let output = debugged(&fixture, &id, "no-such-debugger", "").expect(2);
    let _ = output.says(&["there is no debugger `no-such-debugger`", "install gdb", "LOCKRED_GDB"]);
}

/// Programs of the corpus whose bugs are of all kinds.
const BUGS: [&str; 10] = [
    "mutex::ab_ba",
    "mutex::check_then_act",
    "mutex::philosophers",
    "condvar::one_notification_for_two_waiters",
    "lockfree::a_node_freed_at_once",
    "lockfree::a_relaxed_push",
    "channels::two_senders_have_no_order",
    "handles::threads_of_a_scope_deadlock",
    "crates::oneshot_receiver_dropped_while_it_is_woken",
    "process::a_stack_overflows",
];

#[test]
fn a_bug_happens_again_every_time() {
    let corpus = lockred_tests::program::corpus();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
    let target = target.to_str().unwrap();
    let shared = ["--locked", "--target-dir", target, "--message-format", "json", "--exact"];
    let arguments: Vec<&str> = ["check"].iter().chain(&shared).chain(&BUGS).copied().collect();
    let tests = run(&corpus, &arguments).expect(1).tests();
    assert_eq!(tests.len(), BUGS.len());
    let times = if std::env::var_os("LOCKRED_DEEP").is_some() { 100 } else { 4 };
    for (test, number) in tests.iter().flat_map(|test| (0..times).map(move |n| (test, n))) {
        let [bug] = &test.bugs[..] else { panic!("{test:?}") };
        // Addresses are random as they come, and where they are asked not to be.
        let mut command = tool::lockred(&corpus, ["replay", &bug.id, "--target-dir", target]);
        if number % 2 == 1 {
            let mut fixed = tool::clean("setarch", &corpus);
            fixed.arg("--addr-no-randomize").arg(command.get_program()).args(command.get_args());
            command = fixed;
        }
        command.env("LOCKRED_PADDING", "x".repeat(1 + 1013 * number));
        let output = tool::finish(&mut command).expect(1);
        let lost = ["does not fit", "another bug", "Searching"];
        assert!(!lost.iter().any(|lost| output.stderr.contains(lost)), "{}\n{output}", test.name);
    }
}
