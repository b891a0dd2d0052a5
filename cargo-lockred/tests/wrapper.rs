//! The wrapper role of the executable: what it passes to rustc, through the user's own wrapper.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory with a script in place of rustc, and one in place of the user's wrapper.
struct Scripts(tempfile::TempDir);

impl Scripts {
    fn new() -> Self {
        let scripts = Self(tempfile::tempdir().unwrap());
        scripts
            .add("rustc", "printf 'rustc LOCKRED_CC=%s\\n' \"$LOCKRED_CC\"; printf '%s\\n' \"$@\"");
        scripts.add("inner", "echo inner; exec \"$@\"");
        scripts.add("failing", "echo \"error[E0001]: wrong\" >&2; exit 7");
        scripts
    }

    fn add(&self, name: &str, body: &str) {
        let path = self.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Calls the wrapper as cargo would.
    fn call(&self, rustc: &str, inner: Option<&str>, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-lockred"));
        command
            .env("LOCKRED_WRAPPER_SHIM", "/back end/lockred-shim")
            .env_remove("LOCKRED_WRAPPER_INNER")
            .env_remove("LOCKRED_CC")
            .arg(self.path(rustc))
            .args(arguments);
        if let Some(inner) = inner {
            command.env("LOCKRED_WRAPPER_INNER", self.path(inner));
        }
        command.output().unwrap()
    }
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn a_unit_of_the_target_is_linked_by_the_shim() {
    let scripts = Scripts::new();
    let unit = ["--crate-name", "x", "--target", "t", "-Clinker=/usr/bin/clang"];
    let lines = lines(&scripts.call("rustc", None, &unit));
    assert_eq!(lines[0], "rustc LOCKRED_CC=/usr/bin/clang");
    assert_eq!(lines[1..5], ["--crate-name", "x", "--target", "t"]);
    assert!(lines.contains(&"-Clinker=/back end/lockred-shim".to_owned()), "{lines:?}");
    assert!(!lines.contains(&"-Clinker=/usr/bin/clang".to_owned()), "{lines:?}");
}

#[test]
fn the_user_s_wrapper_is_called_with_rustc_after_it() {
    let scripts = Scripts::new();
    let lines = lines(&scripts.call("rustc", Some("inner"), &["-vV"]));
    assert_eq!(lines, ["inner", "rustc LOCKRED_CC=", "-vV"]);
}

#[test]
fn rustc_s_status_and_words_come_through() {
    let output = Scripts::new().call("failing", None, &["--crate-name", "x", "--target", "t"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error[E0001]: wrong\n");
}

#[test]
fn a_missing_rustc_is_named() {
    let output = Scripts::new().call("nowhere", None, &["-vV"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere"));
}

#[test]
fn a_long_command_line_comes_and_goes_in_a_file() {
    let scripts = Scripts::new();
    let file = scripts.path("arguments");
    let cfgs = "--cfg\nfeature=\"x\"\n".repeat(10_000);
    std::fs::write(&file, format!("--crate-name\nx\n--target\nt\n{cfgs}")).unwrap();
    let at = format!("@{}", file.display());
    let lines = lines(&scripts.call("rustc", None, &[&at]));
    let [_, passed] = &lines[..] else { panic!("{} lines", lines.len()) };
    let passed = Path::new(passed.strip_prefix('@').expect("an argument file"));
    let text = std::fs::read_to_string(passed).unwrap();
    assert_eq!(text.matches("feature=\"x\"").count(), 10_000);
    assert!(text.contains("-Clinker=/back end/lockred-shim\n"));
}
