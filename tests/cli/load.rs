//! Verdicts on a machine that has much else to do: they are those of an idle one.

use crate::fixtures::shared;
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::load::Busy;
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::{Output, finish, lockred};

/// Where a test had come to when its time was up, as it is reported.
fn computing(test: &TestFinished) -> (&str, Vec<&str>) {
    let reported = &test.others["computing"];
    let sites = reported["sites"].as_array().unwrap().iter();
    (
        reported["message"].as_str().unwrap(),
        sites.filter_map(|site| site["file"].as_str()).collect(),
    )
}

/// Checks some tests of the fixture beside processes that compute for nothing.
fn under_load(seconds: &str, names: &[&str]) -> (Output, Vec<TestFinished>) {
    let arguments = ["check", "--message-format", "json", "--keep-going", "--max-seconds", seconds];
    // Built before that, as the compiler is not what is tested.
    let _ = finish(&mut lockred(&shared("computing"), ["check", "no_such_test"])).expect(2);
    let busy = Busy::start();
    let output = finish(&mut busy.beside(lockred(&shared("computing"), arguments).args(names)));
    let tests = output.tests();
    assert_eq!(tests.len(), names.len(), "{output}");
    (output, tests)
}

#[test]
fn what_ends_is_verified_or_failed_under_load_as_ever() {
    let names = ["a_computes", "d_races", "e_recurses", "f_recurses"];
    let (output, tests) = under_load("60", &names);
    for test in &tests {
        let bugs: Vec<BugKind> = test.bugs.iter().map(|bug| bug.kind).collect();
        match test.name.strip_prefix("tests::").unwrap() {
            "d_races_in_a_long_loop" => assert_eq!(bugs, [BugKind::DataRace], "{output}"),
            "e_recurses_for_ever" => assert_eq!(bugs, [BugKind::Signal], "{output}"),
            _ => assert_eq!(test.verdict, Verdict::Verified, "{output}"),
        }
        assert!(!test.error, "{output}");
    }
    let _ = output.expect(1);
}

#[test]
fn what_does_not_end_is_stopped_and_reported_with_its_place() {
    let (output, tests) = under_load("1", &["b_computes", "c_a_thread", "g_copies"]);
    for test in &tests {
        assert_eq!((test.verdict, test.complete), (Verdict::Passed, false), "{output}");
        assert_eq!((&test.others["ended"], test.error), (&"seconds".into(), false), "{output}");
        let (message, files) = computing(test);
        let reported = match test.name.as_str() {
            "tests::b_computes_for_ever" => "without creating a thread",
            _ => "without an operation that others could see",
        };
        assert!(message.contains(reported), "{}: {message}", test.name);
        assert!(message.contains("--max-seconds raises the limit"), "{}: {message}", test.name);
        assert!(files.contains(&"src/lib.rs"), "{output}");
    }
    let _ = output.expect(0);
}

#[test]
fn a_wait_in_the_kernel_that_nobody_ends_is_named_with_its_line() {
    let arguments = ["check", "waits_in_the_kernel", "--max-seconds", "3"];
    let output = finish(&mut lockred(&shared("computing"), arguments)).expect(4);
    let _ = output.says(&[
        "unsupported: the test waits in the system call `open",
        "which has not come back for 10 s",
        "src/lib.rs",
        "std::fs::File::open(other).is_ok()",
    ]);
}
