//! Set-up, demo, tests and benches of this repository: `cargo xtask <command>`, one file a command.

mod bench;
mod command;
mod crates;
mod demo;
mod models;
mod setup;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <command>

  setup          install what is missing, build cargo-lockred and its back end
  demo           setup, then check the sample crate in demo/ and print the reports
  test [--deep] [--quiet]
                 setup, then run every test; --deep also runs the long oracle; --quiet names only the tests that fail
  bench          setup, then measure how long a check of the sample crate takes
  bench engine [--seconds N]
                 setup, then measure executions, search times and rates beside loom and shuttle;
                 a search that takes longer than N seconds (5) is ended
  bench heaps    setup, then measure what an execution takes over the size of the program's heap
  bench search   measure how searches grow on model programs: executions, rates, memory
  bench static   setup, then measure which accesses need no hook, what the others cost, and what the analysis takes
  bench papers   setup, then print the figures of the papers beside ours: searches on models, and the programs in Rust
  bench peers [--seconds N] [--write] [FILTER]
                 setup, then run the same programs under lockred, loom, shuttle and ThreadSanitizer, for N seconds (2) each;
                 --write writes docs/peers.md
  bench growth [--seconds N] [--write] [FILTER]
                 setup, then measure how checks grow with threads and operations, for N seconds (1) a size;
                 --write writes docs/growth.md and its pictures
  models [--write]
                 compare analysis/models/versions.toml, the versions that sync models hold for, with what is published;
                 --write writes it
  crates [--set SET] [--seconds N] [--jobs N] [--write] [NAME]...
                 setup, then check published crates with their own tests, and published bugs with drivers, as listed in
                 xtask/crates/list.toml; fails if something comes out that the list does not account for.
                 SET is 1, 2, 3 or bugs (1); N seconds are the most that a test gets, where the list does not say;
                 --write puts the table into docs/crates.md
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["setup"] => setup::run().map(|_| ()),
        ["demo"] => demo::run(),
        ["test", ref options @ ..] => match test::Options::parse(options) {
            Some(options) => test::run(options),
            None => {
                eprint!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["bench"] => bench::check_times::run(),
        ["bench", "engine"] => bench::engine::run(bench::engine::SEARCH_SECONDS),
        ["bench", "engine", "--seconds", seconds] => bench::engine::run(seconds),
        ["bench", "heaps"] => bench::heaps::run(),
        ["bench", "search"] => bench::search::run(),
        ["bench", "static"] => bench::hooks::run(),
        ["bench", "papers"] => bench::papers::run(),
        ["bench", "peers", ref options @ ..] => bench::peers::run(options),
        ["bench", "growth", ref options @ ..] => bench::growth::run(options),
        ["models"] => models::run_with(false),
        ["models", "--write"] => models::run_with(true),
        ["crates", ref options @ ..] => match crates::Options::parse(options) {
            Ok(options) => crates::run(&options),
            Err(wrong) => {
                eprint!("xtask: {wrong}\n\n{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
