//! Running other programs from xtask: told before they run, judged by their exit status.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a task ends with: nothing, or a sentence for the person who ran it.
pub type Outcome = Result<(), String>;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lives one level below the root").to_path_buf()
}

/// The cargo that runs xtask, with nothing inherited that would belong to xtask's own build.
pub fn cargo(directory: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    let build_variable = |name: &str| {
        name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_MANIFEST_")
            || name == "CARGO_CRATE_NAME"
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(build_variable) {
            command.env_remove(name);
        }
    }
    command
}

/// Says what is about to run, runs it, and fails unless it succeeds.
pub fn run(command: &mut Command) -> Outcome {
    match status(command)? {
        0 => Ok(()),
        code => Err(format!("`{}` ended with status {code}", spelled(command))),
    }
}

/// Says what is about to run, runs it, and gives its exit status (128 + n for signal n).
pub fn status(command: &mut Command) -> Result<i32, String> {
    use std::os::unix::process::ExitStatusExt;
    let spelled = spelled(command);
    eprintln!("$ {spelled}");
    let status = command.status().map_err(|e| format!("cannot run `{spelled}`: {e}"))?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// The command line as a person would type it (without quoting).
fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
