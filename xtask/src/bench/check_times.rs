//! `cargo xtask bench`: cold and warm `check` of the sample crate beside what `cargo test --no-run`
//! takes.

use crate::command::{self, root};
use crate::setup;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Sets up and measures.
pub fn run() -> command::Outcome {
    let tool = setup::run()?;
    let demo = root().join("demo");
    let targets = root().join("target").join("bench-demo");
    println!("| {:34} | cold s | warm s |", "sample crate (demo/)");
    println!("|{:-<36}|--------|--------|", "");
    let mut plain = command::cargo(&demo);
    plain.args(["test", "--no-run", "--quiet"]).arg("--target-dir").arg(targets.join("plain"));
    print_times("cargo test --no-run", &targets.join("plain"), &mut plain, &[0])?;
    let mut check = Command::new(&tool);
    check.args(["lockred", "check", "--message-format", "json", "--quiet"]).current_dir(&demo);
    check.arg("--target-dir").arg(targets.join("lockred"));
    print_times("cargo lockred check", &targets.join("lockred"), &mut check, &[0, 1])
}

/// Runs a command twice, first with an empty target directory, and prints a row.
fn print_times(
    name: &str,
    targets: &Path,
    command: &mut Command,
    good: &[i32],
) -> command::Outcome {
    if targets.exists() {
        std::fs::remove_dir_all(targets).map_err(|e| format!("{}: {e}", targets.display()))?;
    }
    let mut seconds = [0.0; 2];
    for slot in &mut seconds {
        let start = Instant::now();
        let output = command.output().map_err(|e| format!("{name}: {e}"))?;
        *slot = start.elapsed().as_secs_f64();
        if !output.status.code().is_some_and(|code| good.contains(&code)) {
            let reported = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{name} ended with {}:\n{reported}", output.status));
        }
    }
    println!("| {name:34} | {:6.2} | {:6.2} |", seconds[0], seconds[1]);
    Ok(())
}
