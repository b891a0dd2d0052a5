//! `replay --gdb`: the kept schedule under a debugger, which stops where the bug shows.

use super::launch;
use crate::build::artifact::Built;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::printing::console::Console;
use crate::schedule_file::ScheduleFile;
use crate::session;
use std::io::{ErrorKind, Write};
use std::process::Command;

/// Commands that know the program's threads, and how to begin.
const COMMANDS: &str = include_str!("gdb.gdb");

/// Names another debugger than the `gdb` on the path; it has to understand gdb's commands.
const DEBUGGER: &str = "LOCKRED_GDB";

/// Runs the debugger to its end.
///
/// # Errors
/// When there is none, or no session can be made.
pub fn debug(file: &ScheduleFile, built: &Built, console: &Console) -> Result<Exit> {
    let debugger = std::env::var_os(DEBUGGER).unwrap_or_else(|| "gdb".into());
    let shown = debugger.to_string_lossy().into_owned();
    let above = std::env::temp_dir();
    let failed = |e: &std::io::Error| Error::file("write to", &above, e);
    let mut commands = tempfile::Builder::new()
        .prefix("lockred-")
        .suffix(".gdb")
        .tempfile()
        .map_err(|e| failed(&e))?;
    commands.write_all(COMMANDS.as_bytes()).map_err(|e| failed(&e))?;
    let launch = launch(file, built);
    console.status("Debugging", &format!("{} ({}); ends with `quit`", file.test.name, file.id));
    let mut command = Command::new(&debugger);
    command.arg("-quiet").arg("-x").arg(commands.path()).arg("--args").arg(&launch.executable);
    command.args(&launch.arguments);
    let status = session::by_hand(&launch, &file.request, command).map_err(|e| match e {
        session::ByHand::Session(error) => error,
        session::ByHand::Start(error) if error.kind() == ErrorKind::NotFound => {
            Error::usage(format!("there is no debugger `{shown}`"))
                .hint(format!("install gdb, or name another one in {DEBUGGER}"))
        }
        session::ByHand::Start(error) => Error::usage(format!("cannot run `{shown}`: {error}")),
    })?;
    if status.success() {
        return Ok(Exit::Success);
    }
    Err(Error::usage(format!("`{shown}` ended with {status}")))
}
