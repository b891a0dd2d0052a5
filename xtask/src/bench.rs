//! `cargo xtask bench`: the numbers that notes and documents quote, measured side by side in one run.

use crate::command::{self, root};
use crate::setup;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Random executions per program for the rate.
const RANDOM_EXECUTIONS: &str = "100000";

/// Sets up and measures.
pub fn run() -> command::Outcome {
    let tool = setup::run()?;
    check_times(&tool)?;
    engine(&tool)
}

/// Measures the searches alone, on model programs: needs no set-up.
pub fn search() -> command::Outcome {
    let mut growth = command::cargo(&root());
    growth.args(["run", "--quiet", "--release", "-p", "xtask", "--example", "growth"]);
    let status = growth.status().map_err(|e| format!("cannot run the example: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the example ended with {status}")) }
}

/// Cold and warm `check` of the sample crate beside `cargo test --no-run`.
fn check_times(tool: &Path) -> command::Outcome {
    let demo = root().join("demo");
    let targets = root().join("target").join("bench-demo");
    println!("| {:34} | cold s | warm s |", "sample crate (demo/)");
    println!("|{:-<36}|--------|--------|", "");
    let mut plain = command::cargo(&demo);
    plain.args(["test", "--no-run", "--quiet"]).arg("--target-dir").arg(targets.join("plain"));
    print_times("cargo test --no-run", &targets.join("plain"), &mut plain, &[0])?;
    let mut check = Command::new(tool);
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
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{name} ended with {}:\n{told}", output.status));
        }
    }
    println!("| {name:34} | {:6.2} | {:6.2} |", seconds[0], seconds[1]);
    Ok(())
}

/// Executions to complete, and executions a second of random walks, of the programs in `xtask/engine`.
fn engine(tool: &Path) -> command::Outcome {
    let complete = tests(tool, &["--strategy", "dpor"])?;
    let random = tests(tool, &["--strategy", "random", "--max-executions", RANDOM_EXECUTIONS])?;
    println!();
    println!(
        "| {:34} | verdict  | executions | seconds | random executions/s | operations/execution |",
        "program (xtask/engine)"
    );
    println!(
        "|{:-<36}|----------|------------|---------|---------------------|----------------------|",
        ""
    );
    for test in &complete {
        let name = test["name"].as_str().unwrap_or_default();
        let walk = random.iter().find(|walk| walk["name"] == test["name"]);
        let walk = walk.ok_or_else(|| format!("{name} has no random run"))?;
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        println!(
            "| {name:34} | {:8} | {:10} | {:7.4} | {:19.0} | {:20.1} |",
            test["verdict"].as_str().unwrap_or_default(),
            test["executions"],
            number(&test["seconds"]),
            number(&walk["executions"]) / number(&walk["seconds"]),
            number(&walk["operations"]) / number(&walk["executions"]),
        );
    }
    Ok(())
}

/// The `test-finished` records of one check of the engine crate.
fn tests(tool: &Path, options: &[&str]) -> Result<Vec<Value>, String> {
    let mut check = Command::new(tool);
    check.args(["lockred", "check", "--message-format", "json", "--quiet"]).args(options);
    check.current_dir(root().join("xtask").join("engine"));
    let output = check.output().map_err(|e| format!("cannot run the check: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests: Vec<_> = records.filter(|record| record["reason"] == "test-finished").collect();
    if tests.is_empty() {
        return Err(format!("no test was checked:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(tests)
}
