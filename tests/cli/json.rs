//! The JSON lines: every documented field, with its type, and values that agree with each other.

use crate::fixtures::shared;
use lockred_protocol::codes::{AssumptionKind, BugKind, Verdict};
use lockred_tests::outcome::{Line, TestFinished};
use lockred_tests::tool::{Output, run};

fn checked() -> Output {
    run(&shared("sample"), &["check", "--message-format", "json"]).expect(1)
}

fn test<'a>(tests: &'a [TestFinished], name: &str) -> &'a TestFinished {
    tests.iter().find(|test| test.name == name).unwrap_or_else(|| panic!("{name} is missing"))
}

#[test]
fn the_last_line_counts_the_others() {
    let output = checked();
    let tests = output.tests();
    let count = |verdict| tests.iter().filter(|test| test.verdict == verdict).count();
    let lines = output.lines();
    let Some(Line::Finished(finished)) = lines.last() else { panic!("no summary\n{output}") };
    assert_eq!(lines.len(), tests.len() + 1);
    assert_eq!(tests.len(), 7, "all but the ignored one");
    assert_eq!(finished.v, 1);
    assert_eq!(finished.verified, count(Verdict::Verified));
    assert_eq!(finished.passed, count(Verdict::Passed));
    assert_eq!(finished.interrupted, count(Verdict::Interrupted));
    assert_eq!(finished.failed, count(Verdict::Failed));
    assert_eq!(finished.unsupported, count(Verdict::Unsupported));
    assert!(output.stderr.contains("verified"), "people read nothing\n{output}");
}

#[test]
fn a_line_says_what_was_done() {
    for test in checked().tests() {
        let name = &test.name;
        assert_eq!((test.v, test.package.as_str()), (1, "sample"), "{name}");
        assert_eq!((test.target.kind.as_str(), test.target.name.as_str()), ("lib", "sample"));
        assert_eq!(
            (test.search.as_str(), test.memory_model.as_str()),
            ("exhaustive", "sc"),
            "{name}"
        );
        assert!(test.seconds >= 0.0 && test.seconds < 60.0, "{name} took {}", test.seconds);
        // Crossed locks are a fact that the search learns, and starts again.
        assert!(name != "tests::deadlocks" || test.refinements > 0, "{name}");
        assert!(test.verdict != Verdict::Verified || test.complete, "{name}");
        assert_eq!(test.verdict == Verdict::Failed, !test.bugs.is_empty(), "{name}");
        assert!(!test.error, "{name}");
    }
}

#[test]
fn counts_are_those_of_the_search() {
    let tests = checked().tests();
    let verified = test(&tests, "tests::verified");
    assert!(verified.complete && (2..10).contains(&verified.executions), "{verified:?}");
    assert!(verified.operations >= verified.executions, "{verified:?}");
    assert!(verified.transactions >= verified.executions, "{verified:?}");
    let alone = test(&tests, "tests::without_threads");
    assert_eq!((alone.verdict, alone.executions), (Verdict::Verified, 1));
}

#[test]
fn an_assumption_has_its_stable_code() {
    let tests = checked().tests();
    let passed = test(&tests, "tests::passed");
    let code = AssumptionKind::MemoryModelSc.code();
    let assumption = passed.assumptions.iter().find(|a| a.code == code);
    assert!(!assumption.expect("the assumption").message.is_empty());
}

#[test]
fn a_bug_has_its_places_and_its_schedule() {
    let fixture = shared("sample");
    let tests = checked().tests();
    let bugs = &test(&tests, "tests::deadlocks").bugs;
    let [bug] = &bugs[..] else { panic!("{bugs:?}") };
    assert_eq!((bug.code.as_str(), bug.kind), ("LR0002", BugKind::Deadlock));
    assert!(bug.id.len() >= 4 && bug.id.chars().all(|c| c.is_ascii_hexdigit()), "{}", bug.id);
    assert!(bug.fingerprint.starts_with(&bug.id), "{} of {}", bug.id, bug.fingerprint);
    assert!(!bug.message.is_empty());
    assert!(fixture.join(&bug.replay).is_file(), "{} is missing", bug.replay);

    let schedule = bug.schedule.expect("a size");
    assert_eq!((schedule.preemptions, schedule.threads, schedule.minimal), (1, 2, true));

    let source = std::fs::read_to_string(fixture.join("src/lib.rs")).unwrap();
    let waiting: Vec<_> = bug.sites.iter().filter(|site| site.role == "waits").collect();
    for code in ["let _b = other.1.lock()", "let a = locks.0.lock()"] {
        let found = waiting.iter().find(|site| {
            let line = source.lines().nth(site.line as usize - 1).unwrap_or_default();
            site.file == "src/lib.rs" && line.contains(code)
        });
        let site = found.unwrap_or_else(|| panic!("no thread waits at `{code}`: {waiting:?}"));
        assert!(site.column > 1 && !site.function.is_empty(), "{site:?}");
    }
}

#[test]
fn one_bug_has_one_identity() {
    // The schedule is minimised anew each time, and comes to the same.
    let identities = |output: Output| -> Vec<(String, String, String)> {
        let fixture = shared("sample");
        let bugs = output.tests().into_iter().flat_map(|test| test.bugs);
        let schedule = |replay: &str| std::fs::read_to_string(fixture.join(replay)).unwrap();
        bugs.map(|bug| (bug.id, bug.fingerprint, schedule(&bug.replay))).collect()
    };
    assert_eq!(identities(checked()), identities(checked()));
}
