//! The papers' sizes where the default search takes long: those are checked with another search, as the directives say.

use crate::contest::{self, Bubbles};
use crate::halt_exception;

//@ verified
//@ with --search=states verified
#[test]
fn ten_items_through_six_places() {
    halt_exception::send::<6>(10, false);
}

/// As in the benchmark: each thread goes through the array once. Most of its interleavings lose nothing.
//@ failed panic
//@ with --search=sample failed panic
#[test]
fn software_verification_hw_of_eight() {
    contest::software_verification_hw(&[3, 5, 9, 2, 0, 4, -6, -3], 8, Bubbles::Nothing);
}
