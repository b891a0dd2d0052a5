//! `cargo lockred`: the subcommand, and the rustc wrapper that it puts between cargo and rustc.
//!
//! # Who calls whom
//!
//! ```text
//! cargo lockred check                                    the user
//!  └─ cargo-lockred lockred check                        role 1: the subcommand (this program)
//!      ├─ cargo build -p lockred-analysis …              builds the back end, once per toolchain (`backend`)
//!      ├─ cargo test --no-run                            builds the user's crate (`build`)
//!      │   │   RUSTC_WRAPPER=cargo-lockred
//!      │   │   LOCKRED_WRAPPER_SHIM=<back end>/lockred-shim
//!      │   │   LOCKRED_WRAPPER_INNER=<the user's own wrapper>
//!      │   └─ cargo-lockred rustc …                      role 2: the wrapper (this program; `wrapper`)
//!      │       └─ [the user's wrapper] rustc … -Clinker=lockred-shim
//!      │           └─ lockred-shim                       makes the instrumented executable
//!      │               LOCKRED_CC=<the user's linker>
//!      └─ <test executable> name --exact …               explores, or replays (`session`)
//!              LOCKRED_SESSION=<session directory>
//! ```
//!
//! The role is chosen by the environment: where `LOCKRED_WRAPPER_SHIM` is set, this is the wrapper;
//! else the subcommand. A test executable is started without that variable.

mod audit;
mod backend;
mod baseline;
mod build;
mod cargo_config;
mod check;
mod cli;
mod commands;
mod discipline;
mod error;
mod executable;
mod exit;
mod fingerprint;
mod interrupt;
mod lock_order;
mod manual;
mod outcome;
mod output;
mod printing;
mod protection;
mod replay;
mod report;
mod schedule_file;
mod session;
mod toolchain;
mod under_check;
mod wrapper;

use clap::{CommandFactory as _, FromArgMatches as _};
use cli::{Command, Lockred};
use exit::Exit;
use std::env;
use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(shim) = env::var_os(wrapper::SHIM) {
        return wrapper::run(shim, env::args_os().skip(1));
    }
    let arguments = arguments(env::args_os());
    let matches = match Lockred::command().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(refused) => return refuse(&refused, &arguments).into(),
    };
    let mut lockred = Lockred::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match (&mut lockred.command, matches.subcommand()) {
        (Command::Check(options), Some((_, typed))) => options.search.learn_typed(typed),
        (Command::Audit(options), Some((_, typed))) => options.search.learn_typed(typed),
        (Command::Discipline(options), Some((_, typed))) => options.search.learn_typed(typed),
        _ => {}
    }
    // The panic itself was printed by the hook; what is left to say is whose fault it is.
    let exit = panic::catch_unwind(|| run(lockred)).unwrap_or_else(|_| {
        eprintln!("error: this is a bug in lockred; please report it with what is printed above");
        Exit::Unsupported
    });
    exit.into()
}

/// Says what is wrong with the arguments, or prints the help that they ask for.
fn refuse(refused: &clap::Error, arguments: &[OsString]) -> Exit {
    let words: Vec<String> =
        arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match cli::replaced::error(refused, &words) {
        Some(error) => {
            printing::console::Console::new(None, true).error(&error);
            error.exit
        }
        None => refused.exit(),
    }
}

/// Runs a command, and reports the error that it ends with, if it does.
fn run(lockred: Lockred) -> Exit {
    let (outcome, color) = match lockred.command {
        Command::Check(options) => (check::run(&options), options.selection.display.color),
        Command::Replay(options) => (replay::run(&options), options.color),
        Command::Discipline(options) => {
            let color = options.selection.display.color;
            (commands::discipline::run(*options), color)
        }
        Command::Explain(options) => (commands::explain::run(&options), options.color),
        Command::Audit(options) => {
            let color = options.selection.display.color;
            (commands::audit::run(*options), color)
        }
        Command::Setup(options) => (commands::setup::run(&options), options.color),
    };
    outcome.unwrap_or_else(|error| {
        printing::console::Console::new(color, true).error(&error);
        error.exit
    })
}

/// The arguments without the subcommand's own name, which cargo passes as the first.
fn arguments(all: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = all.collect();
    if arguments.get(1).is_some_and(|first| first == "lockred") {
        arguments.remove(1);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_cargo_passes_is_dropped_once() {
        let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        let dropped = arguments(words(&["x", "lockred", "check", "lockred"]).into_iter());
        assert_eq!(dropped, words(&["x", "check", "lockred"]));
        assert_eq!(arguments(words(&["x", "check"]).into_iter()), words(&["x", "check"]));
    }
}
