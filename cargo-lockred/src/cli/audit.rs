//! Options of `cargo lockred audit`.

use super::findings::FindingOptions;
use super::format::Format;
use super::selection::Selection;
use clap::Args;

/// Options of `audit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Nothing is run. What is shared, and what protects it, is told by type, the most dangerous first: `unsafe impl Send` and `Sync`, fields with
their protection, atomic variables with their memory orders and the pairs that synchronise, the order of locks, locks across calls. Warnings
are of what may be: each has a code that `cargo lockred explain` tells more of.

Functions are seen whether or not a test calls them; generic ones that nothing makes use of are seen by their source alone.

Exit status: 0; 1 for a warning that is denied, and not in the baseline; 2, 3, 4 and 130 as for check.

Examples:
  cargo lockred audit
  cargo lockred audit --lib --verbose
  cargo lockred audit --deny warnings --baseline audit.toml
  cargo lockred audit --message-format sarif=audit.sarif")]
pub struct AuditOptions {
    #[command(flatten)]
    pub findings: FindingOptions,
    /// Machine-readable output, in addition to the report: human, json, sarif, or FORMAT=FILE
    ///
    /// json: a JSON object a line. sarif: a SARIF 2.1.0 log of the warnings. What goes to stdout
    /// takes the place of what is for people.
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = Format::parse)]
    pub message_format: Vec<Format>,
    #[command(flatten)]
    pub selection: Selection,
}
