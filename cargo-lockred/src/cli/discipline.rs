//! Options of `cargo lockred discipline`.

use super::check::{FilterOptions, SearchOptions};
use super::format::Lines;
use super::selection::Selection;
use clap::Args;
use std::path::PathBuf;

/// Options of `discipline`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every test is checked as by `check`, and looked at in 16 more executions at random. A field is listed with the locks that are held whenever
threads access it, or as read-only once it is initialised, atomic, or without a lock. `verified`: all interleavings of the tests that
share it were covered, and none has a bug; which locks are held is what the 16 executions have shown.

Exit status: 0; 1 with --check, when a field has lost its protection; 2, 3 and 130 as for check.

Examples:
  cargo lockred discipline            what protects what
  cargo lockred discipline --pin      keep that in lockred.discipline, to be committed
  cargo lockred discipline --check    fail when a field has lost its protection")]
pub struct DisciplineOptions {
    #[command(flatten)]
    pub filter: FilterOptions,
    #[command(flatten)]
    pub search: SearchOptions,
    /// Output format
    #[arg(long, value_enum, default_value_t = Lines::Human, value_name = "FORMAT")]
    pub message_format: Lines,
    /// Write the discipline to a file that is made to be committed
    #[arg(long)]
    pub pin: bool,
    /// Compare the discipline with the file, and fail when a field has lost its protection
    #[arg(long, conflicts_with = "pin")]
    pub check: bool,
    /// The file, if it is not `lockred.discipline` at the root of the workspace
    #[arg(long, value_name = "PATH")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub selection: Selection,
}
