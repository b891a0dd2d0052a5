//! Running other programs from xtask: printed before they run, judged by their exit status.

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

/// A command that runs beside others. What it prints is shown when it has ended.
pub struct Beside {
    spelled: String,
    thread: std::thread::JoinHandle<std::io::Result<std::process::Output>>,
}

impl Beside {
    /// Starts it.
    pub fn start(mut command: Command) -> Self {
        let spelled = spelled(&command);
        eprintln!("$ {spelled} &");
        Self { spelled, thread: std::thread::spawn(move || command.output()) }
    }

    /// Waits for its end, shows what it printed, and fails unless it succeeded.
    pub fn finish(self) -> Outcome {
        let Self { spelled, thread } = self;
        let output = thread.join().map_err(|_| format!("`{spelled}` was lost"))?;
        let output = output.map_err(|e| format!("cannot run `{spelled}`: {e}"))?;
        eprint!("$ {spelled}\n{}", String::from_utf8_lossy(&output.stderr));
        print!("{}", String::from_utf8_lossy(&output.stdout));
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("`{spelled}` ended with {}", output.status)),
        }
    }
}

/// What cargo says of the workspace.
pub fn metadata() -> Result<serde_json::Value, String> {
    let mut metadata = cargo(&root());
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = metadata.output().map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("cargo metadata printed no JSON: {e}"))
}

/// The command line as a person would type it (without quoting).
fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
