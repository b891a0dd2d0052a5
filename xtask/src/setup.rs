//! `cargo xtask setup`: installs what is missing, builds `cargo-lockred` and its back end.

use crate::command::{self, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which build of the tool is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The one that people use, and that is measured.
    Release,
    /// That of the tests, which builds all libraries once.
    Dev,
}

/// Makes everything ready and gives the path of the built `cargo-lockred`.
pub fn run() -> Result<PathBuf, String> {
    let tool = build(Profile::Release)?;
    command::run(&mut back_end(&tool))?;
    Ok(tool)
}

/// Installs what is missing, builds `cargo-lockred` and gives its path.
pub fn build(profile: Profile) -> Result<PathBuf, String> {
    install(
        "cc",
        &["gcc", "libc6-dev"],
        "a C linker driver `cc` is needed (install gcc or clang)",
    )?;
    install("gdb", &["gdb"], "gdb is needed, for the tests of `replay --gdb`")?;
    let mut build = command::cargo(&root());
    build.args(["build", "--package", "cargo-lockred"]);
    if profile == Profile::Release {
        build.arg("--release");
    }
    command::run(&mut build)?;
    built_tool(profile)
}

/// Has a built tool build its back end.
pub fn back_end(tool: &Path) -> Command {
    let mut setup = Command::new(tool);
    setup.args(["lockred", "setup"]).current_dir(root());
    setup
}

/// Installs Debian's packages on a machine without a program.
fn install(program: &str, packages: &[&str], needed: &str) -> command::Outcome {
    if runs(program, "--version") {
        return Ok(());
    }
    if !runs("apt-get", "--version") {
        return Err(needed.into());
    }
    command::run(Command::new("apt-get").arg("update"))?;
    command::run(Command::new("apt-get").args(["install", "--yes"]).args(packages))
}

/// Whether a program can be started.
fn runs(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The executable that `cargo build` left, wherever the target directory is.
fn built_tool(profile: Profile) -> Result<PathBuf, String> {
    let metadata = command::metadata()?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target")?;
    let folder = match profile {
        Profile::Release => "release",
        Profile::Dev => "debug",
    };
    Ok(PathBuf::from(target).join(folder).join("cargo-lockred"))
}
