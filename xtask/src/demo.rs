//! `cargo xtask demo`: checks the sample crate, which has a deadlock, a data race and a correct
//! test.

use crate::command::{self, root};
use crate::setup;
use std::process::Command;

/// Exit status of `cargo lockred check` when a bug was found.
const BUG_FOUND: i32 = 1;

/// Sets up, checks the sample crate and prints the reports.
pub fn run() -> command::Outcome {
    let tool = setup::run()?;
    let mut check = Command::new(tool);
    check.args(["lockred", "check"]).current_dir(root().join("demo"));
    match command::status(&mut check)? {
        BUG_FOUND => Ok(()),
        code => Err(format!("the demo has two bugs, but the check ended with status {code}")),
    }
}
