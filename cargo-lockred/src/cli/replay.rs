//! Options of `cargo lockred replay`.

use super::format::Lines;
use super::selection::Color;
use clap::Args;
use std::path::PathBuf;

/// Options of `replay`.
#[derive(Args, Debug)]
#[command(after_help = "\
The interleaving is printed as a table with a column a thread, the program's output beside the step it follows. Exit
status: 1 the bug was reproduced, 0 the schedule ran and no bug showed, 2 the id is unknown or its file is damaged.

Without an id, the kept schedules are listed, the newest first, and the exit status is 0. `same`: the program is as it was when the schedule
was kept, so replay runs it as it is; `changed`: replay tries the schedule on the program of today; `missing`: replay builds it first.

Examples:
  cargo lockred replay
  cargo lockred replay 3f2a
  cargo lockred replay 3f2a --full
  cargo lockred replay 3f2a --step")]
pub struct ReplayOptions {
    /// The id that `check` printed with the bug; without it, list the kept schedules
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Show every operation, and the whole stacks
    #[arg(long, requires = "id")]
    pub full: bool,
    /// Go through the steps one by one: Enter for the next, q to leave
    #[arg(long, requires = "id", conflicts_with = "full")]
    pub step: bool,
    /// Run the schedule under gdb, which stops where the bug shows
    ///
    /// On the stack of the thread that makes the mistake, or, if all threads wait, with
    /// `lockred-thread N` showing the stack of each. `LOCKRED_GDB` names another debugger than the
    /// `gdb` on the path.
    #[arg(long, requires = "id", conflicts_with_all = ["full", "step"])]
    pub gdb: bool,
    /// Output format of the list
    #[arg(long, value_enum, default_value_t = Lines::Human, value_name = "FORMAT", conflicts_with = "id")]
    pub message_format: Lines,
    /// Path to Cargo.toml, where `check` was given one
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Target directory, where `check` was given one
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
    /// Print what cargo prints while it looks whether the program must be built again
    #[arg(short, long)]
    pub verbose: bool,
    /// Coloring
    #[arg(long, value_name = "WHEN")]
    pub color: Option<Color>,
}
