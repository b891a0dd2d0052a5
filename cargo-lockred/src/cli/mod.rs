//! The command line, declared with clap: what users can type, and its help texts.

pub mod audit;
pub mod check;
pub mod discipline;
pub mod findings;
pub mod format;
pub mod replaced;
pub mod replay;
pub mod search;
pub mod selection;

use clap::{Parser, Subcommand};

/// Model-checks the concurrency of your crate: your tests, as they are, through all interleavings
/// of their threads.
#[derive(Parser, Debug)]
#[command(
    name = "cargo lockred",
    bin_name = "cargo lockred",
    version,
    after_help = "Exit status of check: 0 no bug found, 1 a bug was found that is not in the baseline, or a denied warning, 2 wrong usage or no test matched, \
3 the build failed, 4 a test is unsupported, or lockred failed internally, 5 --require verified and some test only \
passed, 130 interrupted."
)]
pub struct Lockred {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Build the tests and explore the interleavings of each
    Check(Box<check::CheckOptions>),
    /// Replay a reported bug and show the interleaving; without an id, list the bugs
    Replay(replay::ReplayOptions),
    /// Report which lock protects which field; pin that in a file, or compare it with the file
    Discipline(Box<discipline::DisciplineOptions>),
    /// Report what threads share and what protects it, with warnings, without running anything
    Audit(Box<audit::AuditOptions>),
    /// Explain a code in a report, with an example; without one, list all codes
    Explain(ExplainOptions),
    /// Build the back end for the toolchain in use (the first check does so by itself)
    Setup(SetupOptions),
}

/// Options of `explain`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  cargo lockred explain
  cargo lockred explain LR0002
  cargo lockred explain memory-model-sc")]
pub struct ExplainOptions {
    /// The code, or the name of a bug, a warning, or what a verdict rests on
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// Coloring
    #[arg(long, value_name = "WHEN")]
    pub color: Option<selection::Color>,
}

/// Options of `setup`.
#[derive(clap::Args, Debug)]
pub struct SetupOptions {
    /// Print what the build of the back end prints
    #[arg(short, long)]
    pub verbose: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Coloring
    #[arg(long, value_name = "WHEN")]
    pub color: Option<selection::Color>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_declarations_are_consistent() {
        Lockred::command().debug_assert();
    }
}
