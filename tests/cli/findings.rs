//! Which findings fail a check: levels of warnings, and the baseline of what is known.

use crate::fixtures::{own, shared};
use lockred_protocol::codes::Verdict;
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::{Output, run};

fn warned(arguments: &[&str]) -> Output {
    let common = ["check", "--message-format", "json", "--leaks", "is_stuck", "leaks"];
    run(&shared("findings"), &[&common, arguments].concat())
}

/// The verdicts on the tests that are stuck and that leak, and how many warnings each has.
fn verdicts(output: &Output) -> [(Verdict, usize); 2] {
    let tests = output.tests();
    let of = |name: &str| {
        let test = tests.iter().find(|test| test.name == name).unwrap();
        (test.verdict, test.warnings.len())
    };
    [of("tests::is_stuck"), of("tests::leaks")]
}

#[test]
fn warnings_fail_a_test_when_they_are_denied() {
    use Verdict::{Failed, Verified};
    let warned_only = warned(&[]).expect(0);
    assert_eq!(verdicts(&warned_only), [(Verified, 1), (Verified, 1)]);
    let _ = warned_only.says(&["warning[LR0106]", "warning[LR0104]", "2 warnings"]);
    for (arguments, expected) in [
        (&["--deny", "warnings"][..], [(Failed, 1), (Failed, 1)]),
        (&["--deny", "LR0104"], [(Verified, 1), (Failed, 1)]),
        (&["-D", "leak"], [(Verified, 1), (Failed, 1)]),
        (&["-D", "thread-stuck"], [(Failed, 1), (Verified, 1)]),
        (&["-D", "warnings", "-A", "leak"], [(Failed, 1), (Verified, 0)]),
    ] {
        let output = warned(arguments).expect(1);
        assert_eq!(verdicts(&output), expected, "{arguments:?}\n{output}");
        let _ = output.says(&["error[LR01", "as --deny asks for"]);
    }
    let quiet = warned(&["--allow", "warnings"]).expect(0);
    assert_eq!(verdicts(&quiet), [(Verified, 0), (Verified, 0)]);
    assert!(!quiet.stderr.contains("LR01"), "{quiet}");
}

#[test]
fn a_panic_that_a_scope_reports_is_not_warned_of() {
    let arguments = ["check", "--message-format", "json", "scope_tells"];
    let tests = run(&shared("findings"), &arguments).expect(1).tests();
    let [test] = &tests[..] else { panic!("{tests:?}") };
    assert_eq!((test.bugs.len(), test.warnings.len()), (1, 0), "{test:?}");
}

#[test]
fn bugs_cannot_be_allowed() {
    let _ =
        run(&shared("findings"), &["check", "--allow", "deadlock"]).expect(2).says(&["--baseline"]);
    let _ = run(&shared("findings"), &["check", "--deny", "luck"]).expect(2).says(&["LR0104"]);
}

/// The findings of each test, as whether they are known.
fn known(tests: &[TestFinished], name: &str) -> Vec<bool> {
    let test = tests.iter().find(|test| test.name == name).unwrap_or_else(|| panic!("no {name}"));
    test.bugs.iter().map(|bug| bug.known).collect()
}

#[test]
fn known_findings_are_accepted_and_new_ones_fail() {
    let fixture = own("findings", "baseline");
    let check = |arguments: &[&str]| {
        let common = ["check", "--message-format", "json", "--baseline", "known.toml"];
        run(&fixture, &[&common, arguments].concat())
    };
    let file = fixture.join("known.toml");
    let read = || std::fs::read_to_string(&file).unwrap();
    let _ = std::fs::remove_file(&file);
    let _ = check(&[]).expect(2).says(&["there is no baseline", "--write-baseline"]);
    let _ =
        check(&["--write-baseline", "deadlocks", "fails", "tells"]).expect(0).says(&["known.toml"]);
    let all = read();
    assert_eq!(all.matches("code = ").count(), 4, "{all}");
    assert!(all.contains("test = \"tests::deadlocks\", code = \"LR0002\""), "{all}");

    let output = check(&[]).expect(0);
    assert_eq!(known(&output.tests(), "tests::deadlocks"), [true]);
    assert_eq!(known(&output.tests(), "tests::fails_in_two_ways"), [true, true]);
    let _ = output.says(&[
        "known tests::deadlocks",
        "with known findings only",
        "known: LR0002 deadlock",
    ]);
    let _ = check(&["--require", "verified"]).expect(5);

    // Another finding of a test with a known one.
    let rest: Vec<&str> = all.lines().filter(|line| !line.contains("slower")).collect();
    std::fs::write(&file, rest.join("\n")).unwrap();
    let output = check(&["fails"]).expect(1);
    let mut one_of_two = known(&output.tests(), "tests::fails_in_two_ways");
    one_of_two.sort_unstable();
    assert_eq!(one_of_two, [false, true]);
    let _ = output.says(&[
        "error[LR0003]: panic: the other was slower",
        "known: LR0003 panic: the other was faster",
    ]);

    // Mended, and everything moved by some lines: what is known stays so, what is gone is reported.
    std::fs::write(&file, &all).unwrap();
    let source = fixture.join("src/lib.rs");
    let old = std::fs::read_to_string(&source).unwrap();
    let mended = old.replace("let _b = other.1", "drop(_a);\n            let _b = other.1");
    std::fs::write(&source, format!("// More.\n{mended}")).unwrap();
    let output = check(&["deadlocks", "fails"]);
    let rewritten = check(&["deadlocks", "--write-baseline"]);
    std::fs::write(&source, old).unwrap();
    let output = output.expect(0).says(&["stale in the baseline: LR0002 in tests::deadlocks"]);
    assert_eq!(known(&output.tests(), "tests::fails_in_two_ways"), [true, true]);
    let _ = rewritten.expect(0);
    assert_eq!(
        read(),
        all.lines()
            .filter(|line| !line.contains("LR0002"))
            .map(|line| line.to_owned() + "\n")
            .collect::<String>()
    );
}

#[test]
fn a_baseline_that_is_none_is_reported() {
    let fixture = shared("findings");
    let _ = run(&fixture, &["check", "--baseline", "Cargo.toml"])
        .expect(2)
        .says(&["cannot be understood"]);
    let _ = run(&fixture, &["check", "--write-baseline"]).expect(2).says(&["--baseline"]);
}
