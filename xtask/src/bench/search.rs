//! `cargo xtask bench search`: the searches alone, on model programs; needs no set-up.

use crate::command::{self, root};

/// Measures how searches grow.
pub fn run() -> command::Outcome {
    let mut growth = command::cargo(&root());
    growth.args(["run", "--quiet", "--release", "-p", "xtask", "--example", "searches"]);
    let status = growth.status().map_err(|e| format!("cannot run the example: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the example ended with {status}")) }
}
