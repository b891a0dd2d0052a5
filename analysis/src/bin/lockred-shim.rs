//! The linker that rustc calls in a build of `cargo lockred check`; `--prepare` makes `std.bc` for
//! it.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        match std::env::args_os().skip(1).map(|a| a.into_string()).collect() {
            Ok(arguments) => arguments,
            Err(argument) => {
                eprintln!("lockred-shim: error: the argument {argument:?} is not UTF-8");
                return ExitCode::FAILURE;
            }
        };
    let home = std::env::current_exe().ok().and_then(|p| p.parent().map(PathBuf::from));
    let result = home
        .ok_or_else(|| "cannot find the directory of my own executable".to_owned())
        .and_then(|home| lockred_analysis::shim::run(arguments, &home));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("lockred-shim: error: {message}");
            ExitCode::FAILURE
        }
    }
}
