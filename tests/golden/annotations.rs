//! Reports of what code says of itself and does not keep.

use crate::golden::check;
use crate::normal;
use lockred_tests::{fixture, tool};
use std::path::Path;

/// Tests of the fixture, one for each way of being wrong.
const TESTS: [&str; 9] = [
    "blocks::a_message_in_between",
    "blocks::two_critical_sections",
    "fields::guarded_by_another_lock",
    "fields::guarded_by_nothing_at_one_place",
    "fields::shared_after_all",
    "fields::statics",
    "predicates::by_all_at_a_time",
    "predicates::by_who_came_last",
    "predicates::for_somebody_else",
];

#[test]
fn for_people() {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden-annotations");
    let directory = fixture::annotated("annotations", &temporary, "annotations");
    let output = tool::finish(tool::lockred(&directory, ["check", "--exact"]).args(TESTS));
    let output = output.expect(0);
    check("annotations.txt", &normal::human(&output.stderr, &directory));
}
