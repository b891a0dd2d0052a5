//! Options of `cargo lockred audit`.

use super::check::{FilterOptions, SearchOptions};
use super::findings::FindingOptions;
use super::format::Format;
use super::selection::Selection;
use clap::{Arg, Args};

/// Options of `audit`.
#[derive(Args, Debug)]
#[command(
    mut_args(only_with_confirm),
    mut_arg("filters", |filters| filters.help(
        "With --confirm, run only tests whose names contain one of these strings; with --accesses, \
         list only such functions"
    )),
    after_help = "\
Nothing is run, unless --confirm is given. What is shared, and what protects it, is listed by type, the most dangerous first: `unsafe impl Send` and
`Sync`, fields with their protection, atomic variables with their memory orders and the pairs that synchronise, the order of locks, locks across
calls. Warnings are of what may be: `cargo lockred explain CODE` says more of each.

Functions are seen whether or not a test calls them; generic ones that nothing makes use of are seen by their source alone.

With --accesses: an access is left out (skip), looked at for whether its memory is there (check), or reported to the search and the race
detector as well (track); atomic operations are visible: threads are switched there. Without filters, the functions of the workspace are
listed; the summary is of the whole program, std included.

Exit status: 0; 1 for a warning that is denied, and not in the baseline; 2, 3, 4 and 130 as for check.

Examples:
  cargo lockred audit
  cargo lockred audit --lib --verbose
  cargo lockred audit --confirm                what came of each warning in the tests
  cargo lockred audit --confirm transfer --max-seconds 5
  cargo lockred audit --accesses --lib queue::push
  cargo lockred audit --deny warnings --baseline audit.toml
  cargo lockred audit --message-format sarif=audit.sarif"
)]
pub struct AuditOptions {
    /// Check the tests, and report which warnings they confirm or exclude
    ///
    /// A schedule shows it (`confirmed`), locks are acquired so without anybody waiting (`nested`),
    /// all interleavings of the package's tests were covered and none shows it (`excluded`; of an
    /// access only where a test makes it to memory that threads share), none was found
    /// (`not-reached`), or it is about types and tasks, which no schedule can show (`static`). They
    /// fail nothing unless they are denied: then what is not excluded does. Takes the options of
    /// `check` that choose tests and the search.
    #[arg(long)]
    pub confirm: bool,
    /// List which memory accesses are instrumented, and which rule exempts the others
    #[arg(
        long,
        conflicts_with_all = ["confirm", "deny", "allow", "baseline", "write_baseline"]
    )]
    pub accesses: bool,
    #[command(flatten)]
    pub filter: FilterOptions,
    #[command(flatten)]
    pub search: SearchOptions,
    #[command(flatten)]
    pub findings: FindingOptions,
    /// Machine-readable output, in addition to the report: human, json, sarif, or FORMAT=FILE
    ///
    /// json: a JSON object a line. sarif: a SARIF 2.1.0 log of the warnings. What goes to stdout
    /// replaces the report for people. With --confirm: the formats of `check`.
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = Format::parse)]
    pub message_format: Vec<Format>,
    #[command(flatten)]
    pub selection: Selection,
}

/// Options that choose tests, and how they are searched, mean nothing unless tests are run. They
/// are left out of the short help.
fn only_with_confirm(arg: Arg) -> Arg {
    let of_check = ["Test selection", "Search"].map(Some).contains(&arg.get_help_heading());
    if of_check && arg.get_id() != "distrust" {
        // What conflicts with a required option would excuse from it.
        arg.requires("confirm").conflicts_with("accesses").hide_short_help(true)
    } else {
        arg
    }
}
