//! The sample crate of the README: a deadlock, a data race, and a test that is right.

use crate::fixtures::temporary;
use lockred_protocol::codes::{BugKind, Verdict};
use lockred_tests::tool::{finish, lockred};
use std::path::Path;

#[test]
fn the_sample_crate_has_two_bugs_and_a_verified_test() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let mut command = lockred(&demo, ["check", "--message-format", "json", "--target-dir"]);
    let tests = finish(command.arg(temporary().join("demo"))).expect(1).tests();
    let found: Vec<_> = tests
        .iter()
        .map(|test| (test.name.as_str(), test.verdict, test.bugs.first().map(|bug| bug.kind)))
        .collect();
    assert_eq!(
        found,
        [
            ("account::tests::deposits_add_up", Verdict::Verified, None),
            (
                "account::tests::transfers_in_both_directions",
                Verdict::Failed,
                Some(BugKind::Deadlock)
            ),
            ("rate::tests::the_rate_is_published", Verdict::Failed, Some(BugKind::DataRace)),
        ]
    );
}
