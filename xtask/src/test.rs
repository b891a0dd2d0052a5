//! `cargo xtask test`: every test of the workspace, the end-to-end tests included.
//!
//! What takes long explores one test after the other, on one processor; the rest runs beside it.

use crate::command::{self, Beside, root};
use crate::setup::{self, Profile};
use std::path::Path;
use std::process::Command;

/// What the command line says.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Whether the long oracle runs as well.
    deep: bool,
    /// Whether a test that passes is a dot.
    quiet: bool,
}

impl Options {
    /// Reads them; none if one is unknown.
    pub fn parse(arguments: &[&str]) -> Option<Self> {
        let mut options = Self::default();
        for argument in arguments {
            match *argument {
                "--deep" => options.deep = true,
                "--quiet" => options.quiet = true,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Test targets that take as long as all others together.
const LONG: &[&str] = &["corpus", "distrust"];

/// Sets up and runs the tests.
pub fn run(options: Options) -> command::Outcome {
    let tool = setup::build(Profile::Dev)?;
    // The back end has a workspace of its own: cargo builds both at a time.
    let back_end = Beside::start(setup::back_end(&tool));
    let mut build = tests(options);
    let built = command::run(build.arg("--no-run"));
    back_end.finish()?;
    built?;
    let chosen = |targets: &[&str], tool: &Path| {
        let mut command = tests(options);
        command.arg("--no-fail-fast").env("LOCKRED_BIN", tool);
        command.args(targets.iter().flat_map(|target| ["--test", target]));
        command
    };
    let harness: &[&str] = if options.quiet { &["--", "--quiet"] } else { &[] };
    let long = Beside::start(with(chosen(LONG, &tool), harness));
    let others = others()?;
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let short = with(chosen(&others, &tool), &["--lib", "--bins"]);
    let documents = with(tests(options), &["--no-fail-fast", "--doc"]);
    let outcomes = [
        command::run(&mut with(short, harness)),
        command::run(&mut with(documents, harness)),
        long.finish(),
    ];
    let failed: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\nxtask: ")) }
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}

fn tests(options: Options) -> Command {
    let mut tests = command::cargo(&root());
    tests.args(["test", "--workspace"]);
    if options.deep {
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
