//! `cargo xtask setup`: installs what is missing, builds `cargo-lockred` and its back end.

use crate::command::{self, root};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Makes everything ready and gives the path of the built `cargo-lockred`.
pub fn run() -> Result<PathBuf, String> {
    install(
        "cc",
        &["gcc", "libc6-dev"],
        "a C linker driver `cc` is needed (install gcc or clang)",
    )?;
    install("gdb", &["gdb"], "gdb is needed, for the tests of `replay --gdb`")?;
    let mut build = command::cargo(&root());
    command::run(build.args(["build", "--release", "--package", "cargo-lockred"]))?;
    let tool = built_tool()?;
    command::run(Command::new(&tool).args(["lockred", "setup"]).current_dir(root()))?;
    Ok(tool)
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

/// The executable that `cargo build --release` left, wherever the target directory is.
fn built_tool() -> Result<PathBuf, String> {
    let metadata = command::metadata()?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target")?;
    Ok(PathBuf::from(target).join("release").join("cargo-lockred"))
}
