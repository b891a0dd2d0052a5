//! Global allocators of the program's own, in Rust and in C.

use crate::fixtures::shared;
use lockred_protocol::codes::Verdict;
use lockred_tests::tool::run;

#[test]
fn every_kind_of_allocator_is_verified() {
    let output = run(&shared("allocators"), &["check", "--message-format", "json"]).expect(0);
    let tests = output.tests();
    assert_eq!(tests.len(), 3, "{output}");
    for test in &tests {
        assert_eq!((test.verdict, test.executions), (Verdict::Verified, 2), "{output}");
    }
}
