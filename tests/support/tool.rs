//! Finding or building cargo-lockred, and running it as a user's shell would: without what cargo
//! sets for a test.

use crate::outcome::{self, Line, TestFinished};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The executable: `LOCKRED_BIN`, or built once from the workspace.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| match std::env::var_os("LOCKRED_BIN") {
        Some(path) => path.into(),
        None => build().unwrap_or_else(|e| panic!("cannot build cargo-lockred: {e}")),
    })
}

/// What `--search` takes, as results have it.
pub const SEARCHES: [&str; 8] = [
    "exhaustive",
    "states",
    "bounded=2",
    "sample=uniform",
    "sample=pct",
    "sample=pos",
    "dpor",
    "naive",
];

/// A command in a directory, with a clean environment.
#[must_use]
pub fn clean(program: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null()).env("CARGO_TERM_COLOR", "never");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let of_cargo = text.starts_with("CARGO") && text != "CARGO_HOME";
        let of_rustc = text.starts_with("RUSTC") || text.starts_with("RUSTFLAGS");
        let of_actions = text.starts_with("GITHUB_");
        if of_cargo
            || of_rustc
            || of_actions
            || text == "LD_LIBRARY_PATH"
            || text == "RUST_BACKTRACE"
        {
            command.env_remove(&name);
        }
    }
    command.env("CARGO_TERM_COLOR", "never");
    command
}

/// The cargo in use.
#[must_use]
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// `cargo lockred …` in a directory, not yet started.
pub fn lockred(
    directory: &Path,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Command {
    let mut command = clean(path(), directory);
    command.arg("lockred").args(arguments);
    command
}

/// `cargo lockred …` in a directory, run to its end.
///
/// # Panics
/// When it cannot be started.
pub fn run(directory: &Path, arguments: &[&str]) -> Output {
    finish(&mut lockred(directory, arguments))
}

/// Runs a command to its end.
///
/// # Panics
/// When it cannot be started.
pub fn finish(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
    Output {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What a run left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The exit status; `None` after a signal.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Fails the test, showing everything, unless the status is this one.
    ///
    /// # Panics
    /// As said.
    #[track_caller]
    #[must_use]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "the exit status of a run that printed\n{self}");
        self
    }

    /// Fails the test, showing everything, unless standard error contains all of the texts.
    ///
    /// # Panics
    /// As said.
    #[track_caller]
    #[must_use]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "`{text}` is missing in\n{self}");
        }
        self
    }

    /// Standard output as JSON lines.
    ///
    /// # Panics
    /// When it is anything else.
    #[track_caller]
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        outcome::parse(&self.stdout).unwrap_or_else(|e| panic!("{e}\nin\n{self}"))
    }

    /// The tests on standard output, sorted by name.
    ///
    /// # Panics
    /// When standard output is not as documented.
    #[track_caller]
    #[must_use]
    pub fn tests(&self) -> Vec<TestFinished> {
        let lines = self.lines();
        let mut tests: Vec<_> = outcome::tests(&lines).into_iter().cloned().collect();
        tests.sort_by(|a, b| a.name.cmp(&b.name));
        tests
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, stdout, stderr } = self;
        write!(f, "status {status:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n---")
    }
}

/// Builds the subcommand and gives its path.
fn build() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = clean(cargo(), &root);
    command.args(["build", "--package", "cargo-lockred", "--message-format", "json"]);
    if let Some(directory) = std::env::var_os("CARGO_TARGET_DIR") {
        command.env("CARGO_TARGET_DIR", directory);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("cargo ended with {}", output.status));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|line| line["target"]["name"] == "cargo-lockred")
        .find_map(|line| line["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| "cargo names no executable".to_owned())
}
