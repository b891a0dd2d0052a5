//! `cargo xtask test`: every test of the workspace, the end-to-end tests included.

use crate::command::{self, root};
use crate::setup;

/// How much the randomised tests try.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What fits before every commit.
    Ordinary,
    /// The long oracle as well.
    Deep,
}

/// Sets up and runs the tests.
pub fn run(depth: Depth) -> command::Outcome {
    let tool = setup::run()?;
    let mut tests = command::cargo(&root());
    tests.args(["test", "--workspace", "--no-fail-fast"]).env("LOCKRED_BIN", &tool);
    if depth == Depth::Deep {
        tests.args(["--features", "lockred-search/deep"]).env("LOCKRED_DEEP", "1");
    }
    command::run(&mut tests)
}
