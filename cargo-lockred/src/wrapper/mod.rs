//! The rustc wrapper: adds the flags that make rustc emit bitcode and call the linker shim, then
//! becomes rustc.

mod argument_file;
mod flags;
mod linker;
mod package;

use lockred_protocol::audit::AUDIT;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Hash of this directory's sources: what was compiled under other flags must be compiled again.
pub const SOURCES: &str = env!("LOCKRED_WRAPPER_SOURCES");
/// Set to the linker shim's path where this executable is called as cargo's rustc wrapper.
pub const SHIM: &str = "LOCKRED_WRAPPER_SHIM";
/// The user's own wrapper, which is called with rustc's command line after us.
pub const INNER: &str = "LOCKRED_WRAPPER_INNER";
/// cargo sets it for the packages that were asked for.
const PRIMARY: &str = "CARGO_PRIMARY_PACKAGE";
/// The linker driver that the shim calls for the final link.
const LINKER: &str = "LOCKRED_CC";

/// Called by cargo as `cargo-lockred rustc arguments…` (with the workspace wrapper before rustc, if
/// there is one).
pub fn run(shim: OsString, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.peekable();
    let Some(rustc) = arguments.next() else {
        eprintln!("cargo-lockred: {SHIM} is set, but no command follows");
        return ExitCode::FAILURE;
    };
    let (arguments, file) = match argument_file::expand(arguments.collect()) {
        Ok(expanded) => expanded,
        Err(message) => {
            eprintln!("cargo-lockred: {message}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(message) = package::report(&arguments) {
        eprintln!("cargo-lockred: {message}");
        return ExitCode::FAILURE;
    }
    let mut command = match env::var_os(INNER).filter(|inner| !inner.is_empty()) {
        Some(inner) => {
            let mut command = Command::new(inner);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let audited = is_set(AUDIT) && is_set(PRIMARY) && is_set("CARGO_PKG_NAME");
    let rewritten = flags::rewrite(arguments, &PathBuf::from(shim), audited);
    if let Some(linker) = rewritten.linker
        && env::var_os(LINKER).is_none()
        && linker::is_driver(&linker)
    {
        command.env(LINKER, linker);
    }
    match file {
        None => command.args(&rewritten.arguments),
        Some(file) => match argument_file::write(&file, &rewritten.arguments) {
            Ok(argument) => command.arg(argument),
            Err(message) => {
                eprintln!("cargo-lockred: {message}");
                return ExitCode::FAILURE;
            }
        },
    };
    let error = command.exec();
    eprintln!("cargo-lockred: cannot run {}: {error}", command.get_program().to_string_lossy());
    ExitCode::FAILURE
}
