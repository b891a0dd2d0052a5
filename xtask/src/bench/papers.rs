//! `cargo xtask bench papers`: the tables of the papers, with our numbers beside; needs no set-up.

use crate::command::{self, root};

/// Prints the tables.
pub fn run() -> command::Outcome {
    let mut papers = command::cargo(&root());
    papers.args(["run", "--quiet", "--release", "-p", "xtask", "--example", "papers"]);
    let status = papers.status().map_err(|e| format!("cannot run the example: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the example ended with {status}")) }
}
