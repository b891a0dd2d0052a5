//! The nested cargo call that builds the back end: the toolchain's own programs, a clean
//! environment, an own target directory.

use crate::error::{Error, Result};
use crate::interrupt::{self, PassedOn};
use crate::printing::console::Console;
use crate::toolchain::{TRIPLE, Toolchain};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variables of cargo that say where packages come from, and so must stay.
const KEPT: &[&str] =
    &["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_"];
/// Everything else that begins so would leak from an outer build, or from the user's settings, into
/// this one.
const REMOVED: &[&str] = &[
    "CARGO",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "LOCKRED_",
    "LLVM_SYS_",
    "OUT_DIR",
    "TARGET",
    "HOST",
];

/// Builds shim and runtime in `<home>/source`; gives the directory that they lie in.
///
/// # Errors
/// When cargo fails, with what it printed.
pub fn build(
    toolchain: &Toolchain,
    home: &Path,
    console: &Console,
    verbose: bool,
) -> Result<PathBuf> {
    let target = home.join("target");
    let mut command = Command::new(toolchain.program("cargo"));
    let inherited = std::env::vars_os().map(|(name, _)| name);
    for name in inherited.filter(|name| is_removed(name)) {
        command.env_remove(name);
    }
    // Settings of configuration files that these variables outweigh: flags, wrappers.
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        command.env(name, "");
    }
    command
        .env("RUSTC", toolchain.program("rustc"))
        .current_dir(home.join("source"))
        .args(["build", "--release", "--lib", "--bin", "lockred-shim"])
        .args(["--package", "lockred-analysis", "--package", "lockred-runtime"])
        .args(["--target", TRIPLE, "--target-dir"])
        .arg(&target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let printed = run(&mut command, &home.join("build.log"), console, verbose)?;
    match printed {
        None => Ok(target.join(TRIPLE).join("release")),
        Some(text) => Err(failure(&text)),
    }
}

/// Runs cargo; `None` on success, otherwise what it printed. Everything goes into the log too.
fn run(
    command: &mut Command,
    log: &Path,
    console: &Console,
    verbose: bool,
) -> Result<Option<String>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot_run = |e| {
        Error::build(format!("cannot run {program}: {e}"))
            .hint("a complete toolchain is needed, with cargo in its sysroot")
    };
    let mut child = command.spawn().map_err(cannot_run)?;
    let passed_on = PassedOn::to(child.id());
    let mut log = File::create(log).ok();
    let mut text = String::new();
    let stderr = child.stderr.take().expect("stderr is piped");
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if let Some(log) = &mut log {
            // The log is a convenience; a full disk stops the build itself soon enough.
            let _ = writeln!(log, "{line}");
        }
        if verbose {
            console.line(&line);
        } else {
            console.transient(line.trim());
        }
        text.push_str(&line);
        text.push('\n');
    }
    drop(passed_on);
    let status = child.wait().map_err(|e| Error::build(format!("cannot wait for cargo: {e}")))?;
    console.clear();
    if interrupt::requested() {
        return Err(Error::interrupted());
    }
    Ok((!status.success()).then_some(text))
}

fn is_removed(name: &OsStr) -> bool {
    let begins = |list: &[&str]| {
        let name = OsString::from(name).into_encoded_bytes();
        list.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
    };
    begins(REMOVED) && !begins(KEPT)
}

/// What to report of a failed build: the lines from the first error on.
fn failure(text: &str) -> Error {
    let start = text.lines().position(|line| line.starts_with("error")).unwrap_or(0);
    let reported: Vec<&str> = text.lines().skip(start).collect();
    let error = Error::build(format!("the back end cannot be built:\n{}", reported.join("\n")));
    let network =
        ["failed to download", "Could not resolve host", "failed to get ", "spurious network"];
    if network.iter().any(|sign| text.contains(sign)) {
        return error.hint(
            "the first set-up for a toolchain needs the network, for the packages that the back end depends on",
        );
    }
    if text.contains("linker `cc` not found") {
        return error.hint("a C linker driver is needed; install gcc or clang");
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_builds_do_not_leak_in_and_registries_stay() {
        for name in [
            "CARGO",
            "CARGO_TARGET_DIR",
            "CARGO_PKG_NAME",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_RELEASE_LTO",
            "RUSTDOCFLAGS",
            "LOCKRED_ROLE",
        ] {
            assert!(is_removed(OsStr::new(name)), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_HTTP_PROXY",
            "RUSTUP_HOME",
            "PATH",
            "CARGO_REGISTRIES_MINE_INDEX",
            "HOME",
        ] {
            assert!(!is_removed(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_missing_network_is_named() {
        let error = failure("  Updating index\nerror: failed to get `x`\ncaused by: no route\n");
        assert!(error.message.ends_with("error: failed to get `x`\ncaused by: no route"));
        assert!(error.hint.unwrap().contains("network"));
        assert!(failure("error: no such command\n").hint.is_none());
    }
}
