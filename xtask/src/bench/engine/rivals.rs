//! The programs under loom and shuttle: building their runners, and a process for every row.

use super::{Case, Measured, measured};
use crate::command::{self, root};
use std::path::PathBuf;
use std::process::Command;

/// A runner that was built.
pub struct Rival {
    executable: PathBuf,
}

impl Rival {
    /// Builds the runner in `xtask/engine/<name>`, with the versions that its lock file names.
    pub fn build(name: &str) -> Result<Rival, String> {
        let targets = root().join("target").join("bench-engine").join(name);
        let mut build = command::cargo(&root().join("xtask").join("engine").join(name));
        build.args(["build", "--release", "--locked", "--target-dir"]).arg(&targets);
        command::run(&mut build)?;
        Ok(Rival { executable: targets.join("release").join(format!("engine-{name}")) })
    }

    /// Runs one program. The inner error is the last line of a runner that gave up on it.
    pub fn measure(
        &self,
        case: &Case,
        options: &[&str],
    ) -> Result<Result<Measured, String>, String> {
        let mut run = Command::new(&self.executable);
        run.args([&case.program, &case.threads]).args(options);
        let output =
            run.output().map_err(|e| format!("cannot run {}: {e}", self.executable.display()))?;
        if !output.status.success() {
            let reported = String::from_utf8_lossy(&output.stderr);
            let line =
                reported.lines().find(|line| !line.is_empty() && !line.starts_with("thread "));
            return Ok(Err(line.unwrap_or("no message").trim().to_owned()));
        }
        let line: serde_json::Value = serde_json::from_slice(&output.stdout)
            .map_err(|e| format!("a runner printed no JSON: {e}"))?;
        let numbers = measured(&line).ok_or_else(|| format!("a runner printed {line}"))?;
        Ok(Ok(numbers))
    }
}
