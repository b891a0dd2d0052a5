//! The programs under the other checkers: building their runners, and a process for every answer.

use super::judge::{Answer, sanitizer};
use super::programs::{Pair, Twin};
use super::tools::Tool;
use crate::command::{self, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The target that ThreadSanitizer builds for. Where it is named, build scripts are left as they
/// are.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The process ends at the first report, and does not wait before it ends.
const SANITIZER_OPTIONS: &str = "halt_on_error=1 atexit_sleep_ms=0";
/// Seconds that a process may take beyond its budget before it is killed.
const PATIENCE: u64 = 10;

/// Runners that were built.
pub struct Runners {
    executables: BTreeMap<&'static str, PathBuf>,
    /// How the one with ThreadSanitizer was built.
    pub sanitizer: String,
}

impl Runners {
    /// Builds all of them, with the versions that their lock files name.
    pub fn build() -> Result<Runners, String> {
        let mut executables = BTreeMap::new();
        for name in ["loom", "shuttle"] {
            let mut build = build(name, &command::cargo(&directory(name)));
            command::run(&mut build)?;
            executables.insert(name, targets(name).join("release").join(format!("peers-{name}")));
        }
        let name = "sanitizer";
        let (instrumented_std, sanitizer) = match nightly() {
            Some(version) => (true, format!("{version}, std instrumented, too")),
            None => (false, "of the stable toolchain: std is not instrumented".to_owned()),
        };
        let mut build = if instrumented_std {
            let mut cargo = Command::new("rustup");
            cargo.args(["run", "nightly", "cargo"]).current_dir(directory(name));
            let mut build = build(name, &cargo);
            build.arg("-Zbuild-std").env("RUSTFLAGS", "-Zsanitizer=thread");
            for variable in ["RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "CARGO"] {
                build.env_remove(variable);
            }
            build
        } else {
            let mut build = build(name, &command::cargo(&directory(name)));
            build.env("RUSTC_BOOTSTRAP", "1");
            build.env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer");
            build
        };
        build.args(["--target", TARGET]);
        command::run(&mut build)?;
        let built = targets(name).join(TARGET).join("release").join("peers-sanitizer");
        executables.insert(name, built);
        Ok(Runners { executables, sanitizer })
    }

    /// Runs one program with a checker that has a runner.
    pub fn run(&self, tool: Tool, pair: &Pair, twin: Twin, seconds: u64) -> Result<Answer, String> {
        let (runner, options) = tool.runner().ok_or("it has no runner")?;
        let mut run = Command::new("timeout");
        run.args(["--signal=KILL", &(seconds + PATIENCE).to_string()]);
        run.arg(&self.executables[runner]).arg(format!("{}::{}", pair.path(), twin.name()));
        run.arg(seconds.to_string()).args(options).env("TSAN_OPTIONS", SANITIZER_OPTIONS);
        let output = run.output().map_err(|e| format!("cannot run {run:?}: {e}"))?;
        Ok(answer(&output, pair.family, (seconds + PATIENCE) as f64))
    }
}

/// The source of a runner.
fn directory(name: &str) -> PathBuf {
    root().join("xtask").join("peers").join(name)
}

/// Where it is built.
fn targets(name: &str) -> PathBuf {
    root().join("target").join("bench-peers").join(name)
}

/// How it is built, by this cargo.
fn build(name: &str, cargo: &Command) -> Command {
    let mut build = Command::new(cargo.get_program());
    build.args(cargo.get_args());
    for (variable, value) in cargo.get_envs() {
        match value {
            Some(value) => build.env(variable, value),
            None => build.env_remove(variable),
        };
    }
    build.current_dir(directory(name));
    build.args(["build", "--release", "--locked", "--target-dir"]).arg(targets(name));
    build
}

/// The version of a nightly toolchain that has the source of std, if there is one.
fn nightly() -> Option<String> {
    let said = |arguments: &[&str]| {
        let mut rustc = Command::new("rustup");
        rustc.args(["run", "nightly", "rustc"]).args(arguments);
        super::super::surroundings::said(&mut rustc)
    };
    let root = PathBuf::from(said(&["--print", "sysroot"]));
    let source = root.join("lib/rustlib/src/rust/library/Cargo.lock");
    source.exists().then(|| said(&["--version"]))
}

/// What a process answered, which had so many seconds before it was killed.
fn answer(output: &Output, family: &str, killed_after: f64) -> Answer {
    let line = String::from_utf8_lossy(&output.stdout);
    let line = line.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
    let read = |line: &Value| {
        let failure = line["failure"].as_str().map(|failure| match failure {
            "reported" => sanitizer(&String::from_utf8_lossy(&output.stderr), family),
            other => other.to_owned(),
        });
        Some(Answer {
            failure,
            executions: line["executions"].as_u64()?,
            complete: line["complete"].as_bool()?,
            seconds: line["seconds"].as_f64()?,
        })
    };
    line.as_ref().and_then(read).unwrap_or_else(|| {
        let reported = String::from_utf8_lossy(&output.stderr);
        let last = reported.lines().rev().find(|line| !line.is_empty()).unwrap_or("no message");
        Answer {
            failure: Some(format!("ended with {}: {last}", output.status)),
            executions: 0,
            complete: false,
            seconds: killed_after,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(script: &str) -> Answer {
        let output = Command::new("sh").args(["-c", script]).output().expect("there is a shell");
        answer(&output, "locks", 12.0)
    }

    #[test]
    fn the_first_line_of_a_runner_is_its_answer() {
        let line = r#"{"failure":null,"executions":7,"complete":true,"seconds":0.5}"#;
        let answer = printed(&format!("echo '{line}'; echo more"));
        assert_eq!((answer.failure, answer.executions, answer.complete), (None, 7, true));
        let line = r#"{"failure":"reported","executions":7,"complete":false,"seconds":0.5}"#;
        let reported = "WARNING: ThreadSanitizer: data race (pid=1)";
        let answer = printed(&format!("echo '{line}'; echo '{reported}' >&2"));
        let failure = answer.failure.expect("something was reported");
        assert!(failure.contains("outside of the program"), "{failure}");
    }

    #[test]
    fn a_runner_that_dies_answers_with_its_end() {
        let answer = printed("echo why >&2; exit 3");
        let failure = answer.failure.expect("it died");
        assert!(failure.contains("exit status: 3") && failure.ends_with("why"), "{failure}");
        assert_eq!(answer.seconds, 12.0);
    }
}
