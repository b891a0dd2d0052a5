//! Options of `cargo lockred list`.

use super::selection::Color;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `list`.
#[derive(Args, Debug)]
#[command(after_help = "\
The newest comes first. `same`: the program is as it was when the schedule was kept, so that replay runs it as it is; `changed`: replay
tries the schedule on the program of today; `missing`: replay builds it first.")]
pub struct ListOptions {
    /// How the schedules are told
    #[arg(long, value_enum, default_value_t = ListFormat::Human, value_name = "FORMAT")]
    pub message_format: ListFormat,
    /// Path to Cargo.toml, where `check` was given one
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Target directory, where `check` was given one
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
    /// Coloring
    #[arg(long, value_name = "WHEN")]
    pub color: Option<Color>,
}

/// What `list --message-format` takes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListFormat {
    /// A table
    Human,
    /// One JSON object a line
    Json,
}
