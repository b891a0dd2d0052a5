//! One package under `cargo lockred check`: its tests' records, and how the check ended.

use super::Site;
use super::record::{Record, records};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// What came of a check.
pub struct Checked {
    pub records: Vec<Record>,
    /// Building included.
    pub seconds: f64,
    /// A sentence, if the check did not come to its end.
    pub broken: Option<String>,
}

impl Site<'_> {
    /// Checks a package. `label` names the files that keep what was printed.
    pub fn check(
        &self,
        package: &Path,
        label: &str,
        seconds: u32,
        options: &[String],
    ) -> Result<Checked, String> {
        let reports = self.scratch.join("reports");
        fs::create_dir_all(&reports).map_err(|e| format!("{}: {e}", reports.display()))?;
        let (out, err) =
            (reports.join(format!("{label}.json")), reports.join(format!("{label}.txt")));
        let file = |path: &Path| File::create(path).map_err(|e| format!("{}: {e}", path.display()));
        let mut check = Command::new(self.tool);
        check.args(["lockred", "check", "--message-format", "json"]);
        check.args([
            "--max-seconds",
            &seconds.to_string(),
            "--jobs",
            &self.options.jobs.to_string(),
        ]);
        check.arg("--target-dir").arg(self.scratch.join("build")).args(options);
        check.current_dir(package).stdout(file(&out)?).stderr(file(&err)?);
        // As cargo does for dependencies: an old crate denies warnings that a later rustc has.
        check.env("RUSTFLAGS", "--cap-lints=warn");
        let begin = Instant::now();
        let status = check.status().map_err(|e| format!("cannot run the check: {e}"))?;
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let broken = broken(status).map(|how| {
            let reported = text(&err);
            let reason = reported.lines().find(|line| line.starts_with("error")).unwrap_or("");
            format!("{how} {reason}")
        });
        Ok(Checked {
            records: records(&text(&out)),
            seconds: begin.elapsed().as_secs_f64(),
            broken,
        })
    }
}

/// What is wrong with a check that ended so.
fn broken(status: ExitStatus) -> Option<String> {
    match status.code() {
        // Clean; a bug; some test unsupported.
        Some(0 | 1 | 4) => None,
        Some(2) => Some("no test matched, or wrong usage:".into()),
        Some(3) => Some("the build failed:".into()),
        _ => Some(format!("the check itself ended with {status}:")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_check_that_dies_is_broken_and_one_that_finds_bugs_is_not() {
        let broken = |raw| broken(ExitStatus::from_raw(raw));
        assert_eq!(broken(1 << 8), None);
        assert_eq!(broken(3 << 8), Some("the build failed:".into()));
        let killed = broken(9).expect("a signal is no end");
        assert!(killed.contains("signal: 9"), "{killed}");
    }
}
