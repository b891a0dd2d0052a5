//! Options of `cargo lockred plan`.

use super::format::Lines;
use super::selection::Selection;
use clap::Args;

/// Options of `plan`.
#[derive(Args, Debug)]
#[command(after_help = "\
An access is left out (skip), looked at for whether its memory is there (check), or told to the search and the race detector as well
(track); atomic operations are visible: threads are switched there. Without filters, the functions of the workspace are listed; the
summary is of the whole program, std included.

Examples:
  cargo lockred plan --lib
  cargo lockred plan --lib queue::push
  cargo lockred plan --lib --without-rule heap
  cargo lockred plan --lib --message-format json")]
pub struct PlanOptions {
    /// List the functions whose paths contain one of these strings
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Output format of the plan
    #[arg(long, value_enum, default_value_t = Lines::Human, value_name = "FORMAT")]
    pub message_format: Lines,
    #[command(flatten)]
    pub selection: Selection,
}
