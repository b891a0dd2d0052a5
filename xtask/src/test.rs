//! `cargo xtask test`: every test of the workspace, the end-to-end tests included.
//!
//! What takes long explores one test after the other, on one processor; the rest runs beside it.

use crate::command::{self, Beside, root};
use crate::setup;
use std::path::Path;
use std::process::Command;

/// How much the randomised tests try.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What fits before every commit.
    Ordinary,
    /// The long oracle as well.
    Deep,
}

/// Test targets that take as long as all others together.
const LONG: &[&str] = &["corpus", "distrust"];

/// Sets up and runs the tests.
pub fn run(depth: Depth) -> command::Outcome {
    // Another profile than the tool's: cargo builds both at a time.
    let mut build = tests(depth);
    build.arg("--no-run");
    let built = Beside::start(build);
    let tool = setup::run();
    built.finish()?;
    let tool = tool?;
    let chosen = |targets: &[&str], tool: &Path| {
        let mut command = tests(depth);
        command.arg("--no-fail-fast").env("LOCKRED_BIN", tool);
        command.args(targets.iter().flat_map(|target| ["--test", target]));
        command
    };
    let long = Beside::start(chosen(LONG, &tool));
    let others = others()?;
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let mut short = chosen(&others, &tool);
    let mut documents = tests(depth);
    let outcomes = [
        command::run(short.args(["--lib", "--bins"])),
        command::run(documents.args(["--no-fail-fast", "--doc"])),
        long.finish(),
    ];
    let failed: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\nxtask: ")) }
}

fn tests(depth: Depth) -> Command {
    let mut tests = command::cargo(&root());
    tests.args(["test", "--workspace"]);
    if depth == Depth::Deep {
        tests.args(["--features", "lockred-model/deep"]).env("LOCKRED_DEEP", "1");
    }
    tests
}

/// The names of all other test targets.
fn others() -> Result<Vec<String>, String> {
    let metadata = command::metadata()?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let targets = packages.iter().filter_map(|package| package["targets"].as_array()).flatten();
    let is_test = |target: &&serde_json::Value| target["kind"][0] == "test";
    let names = targets.filter(is_test).filter_map(|target| target["name"].as_str());
    let mut names: Vec<String> =
        names.filter(|name| !LONG.contains(name)).map(String::from).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
