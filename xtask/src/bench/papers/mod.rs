//! `cargo xtask bench papers`: the papers' figures beside ours. First Stoller's searches on model
//! programs, then the papers' programs in Rust (`tests/paper`) under `cargo lockred check`.

mod native;
mod rows;
mod schedule;
mod table;

use crate::command::{self, root};
use crate::setup;

/// Prints the tables.
pub fn run() -> command::Outcome {
    println!(
        "## Stoller's searches on model programs\n\n\
         An operation of a model is coarser than a bytecode, and what bytecodes do to the operand stack is none: so there are fewer states, \
         and the reduction finds less to leave out. `factors` compares `bytecode` without checks and `reduced` with them.\n"
    );
    let mut models = command::cargo(&root());
    models.args(["run", "--quiet", "--release", "-p", "xtask", "--example", "papers"]);
    let status = models.status().map_err(|e| format!("cannot run the example: {e}"))?;
    if !status.success() {
        return Err(format!("the example ended with {status}"));
    }
    let tool = setup::run()?;
    let checked = rows::rows().into_iter().map(|row| {
        let checked = native::check(&tool, &row)?;
        Ok((row, checked))
    });
    let checked: Vec<_> = checked.collect::<Result<_, String>>()?;
    print!("{}", table::table(&checked));
    Ok(())
}
