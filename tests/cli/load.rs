//! Verdicts on a machine that has much else to do: they are those of an idle one.

use crate::fixtures::shared;
use lockred_tests::load::Busy;
use lockred_tests::outcome::TestFinished;
use lockred_tests::tool::{finish, lockred};
use lockred_trace::codes::{BugKind, Verdict};

/// Where a test had come to when its time was up, as it is told.
fn computing(test: &TestFinished) -> (&str, Vec<&str>) {
    let told = &test.others["computing"];
    let sites = told["sites"].as_array().unwrap().iter();
    (told["message"].as_str().unwrap(), sites.filter_map(|site| site["file"].as_str()).collect())
}

#[test]
fn what_tests_come_to_does_not_depend_on_what_else_the_machine_does() {
    let fixture = shared("computing");
    let arguments = ["check", "--message-format", "json", "--keep-going", "--max-seconds", "3"];
    let _busy = Busy::processes(8);
    let output = finish(lockred(&fixture, arguments).args(["--skip", "waits_in_the_kernel"]));
    let output = output.expect(1);
    let tests = output.tests();
    assert_eq!(tests.len(), 7, "{output}");
    for test in &tests {
        let name = test.name.strip_prefix("tests::").unwrap();
        let bugs: Vec<BugKind> = test.bugs.iter().map(|bug| bug.kind).collect();
        let found = (test.verdict, test.complete, bugs.as_slice());
        match &name[..1] {
            "a" | "f" => assert_eq!(found, (Verdict::Verified, true, &[][..]), "{name}: {output}"),
            "b" | "c" | "g" => {
                assert_eq!(found, (Verdict::Passed, false, &[][..]), "{name}: {output}");
                assert_eq!(test.others["ended"], "seconds", "{name}: {output}");
                let (message, files) = computing(test);
                let of_thread = "without an operation that others could see";
                let told =
                    if name.starts_with('b') { "without creating a thread" } else { of_thread };
                assert!(message.contains(told), "{name}: {message}");
                assert!(message.contains("--max-seconds raises the limit"), "{name}: {message}");
                assert!(files.contains(&"src/lib.rs"), "{name}: {output}");
            }
            "d" => assert_eq!(bugs, [BugKind::DataRace], "{name}: {output}"),
            "e" => assert_eq!(bugs, [BugKind::Signal], "{name}: {output}"),
            _ => unreachable!("{name}"),
        }
        assert!(!test.error, "{name}: {output}");
    }
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
