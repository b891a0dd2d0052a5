//! Native code: listed as an assumption, and reported when it makes executions differ.

use crate::fixtures::{own, shared};
use lockred_protocol::codes::{AssumptionKind, Verdict};
use lockred_tests::tool::run;

#[test]
fn the_real_clock_read_by_a_native_library_is_reported() {
    let arguments = ["check", "--message-format", "json", "depends_on_the_clock"];
    let output = run(&shared("clock"), &arguments).expect(4);
    let test = &output.tests()[0];
    assert_eq!((test.verdict, test.error), (Verdict::Unsupported, false), "{output}");
    let blamed = "`real_nanoseconds`, which is native code, gave ";
    let _ = output.says(&["does not behave alike under the same schedule", blamed, "src/lib.rs"]);
}

#[test]
fn a_file_that_an_earlier_run_has_left_is_reported() {
    let directory = own("clock", "left");
    let _ = std::fs::remove_dir(directory.join("left"));
    let output = run(&directory, &["check", "--message-format", "json", "fails_once"]).expect(4);
    let test = &output.tests()[0];
    assert_eq!((test.verdict, test.error), (Verdict::Unsupported, false), "{output}");
    let _ = output.says(&["nothing was left", "did not reproduce it", "/left, which others may"]);
}

#[test]
fn a_native_library_is_an_assumption() {
    let arguments = ["check", "--message-format", "json", "calls_native_code_only"];
    let output = run(&shared("clock"), &arguments).expect(0);
    let test = &output.tests()[0];
    assert_eq!(test.verdict, Verdict::Passed, "{output}");
    let code = AssumptionKind::NativeCode.code();
    let assumption = test.assumptions.iter().find(|a| a.code == code);
    let message = &assumption.unwrap_or_else(|| panic!("no {code}\n{output}")).message;
    assert!(message.contains("real_nanoseconds"), "{message}");
    // What is said at the end is no more than the verdict.
    let output = output.says(&["1 test passed a complete search, under assumptions"]);
    assert!(!output.stderr.contains("every interleaving"), "{output}");
}
