//! `cargo xtask bench peers`: the programs of `xtask/peers` under lockred, loom, shuttle and
//! ThreadSanitizer, in one run and one document.
//!
//! Each is a pair: one twin has a bug, the other has none. Every checker has the same time for a
//! program, and is built with optimisation; what is measured is its search, without builds and
//! starts of processes. What it reports counts as found if it is the bug that is there. Programs
//! with published numbers of executions are checked by lockred alone: another number is an error of
//! this bench.

mod judge;
mod lockred;
mod programs;
mod published;
mod runners;
mod table;
mod tools;

use super::options::Options;
use super::surroundings;
use crate::command::{self, root};
use crate::setup;
use judge::{Answer, Judgement, judge};
use programs::{Pair, Twin, pairs};
use runners::Runners;
use std::time::Instant;
use table::{Cell, Document, Row};
use tools::Tool;

/// The budget of a program, unless another one is asked for.
const SECONDS: u64 = 2;

/// Measures, and prints the document or writes it.
pub fn run(words: &[&str]) -> command::Outcome {
    let options = Options::read(words, SECONDS)?;
    let tool = setup::run()?;
    let runners = Runners::build()?;
    let start = Instant::now();
    let wanted: Vec<Pair> =
        pairs().into_iter().filter(|pair| options.wants(&pair.path())).collect();
    let counts = options.filter.is_empty();
    if wanted.is_empty() {
        return Err(format!("no program has `{}` in its name", options.filter));
    }
    let mut filters: Vec<String> =
        wanted.iter().map(|pair| format!("tests::{}::", pair.name)).collect();
    if counts {
        filters.push("tests::counts::".into());
    }
    let answers = lockred::check(&tool, &filters, options.seconds)?;

    let mut rows = Vec::new();
    for (number, pair) in wanted.iter().enumerate() {
        eprintln!("peers: {} ({} of {})", pair.path(), number + 1, wanted.len());
        for twin in [Twin::Wrong, Twin::Right] {
            let cells = Tool::ALL.map(|tool| {
                if let Some(why) = tool.cannot(pair) {
                    return Ok(Cell::Cannot(why));
                }
                let answer = if tool.runner().is_none() {
                    let name = format!("tests::{}::{}", pair.name, twin.name());
                    answers.get(&name).cloned().ok_or_else(|| format!("no record of {name}"))?
                } else {
                    runners.run(tool, pair, twin, options.seconds)?
                };
                Ok(cell(pair, twin, answer))
            });
            let cells: Vec<Cell> = cells.into_iter().collect::<Result<_, String>>()?;
            rows.push(Row { pair: *pair, twin, cells });
        }
    }
    let differences = if counts { published::differences(&answers) } else { Vec::new() };
    let document = Document {
        seconds: options.seconds,
        took: start.elapsed().as_secs(),
        surroundings: surroundings::line(),
        load: surroundings::load(),
        versions: versions(&tool, &runners),
        rows,
        counts: counts.then_some((published::COUNTS, &answers)),
    };
    let text = table::render(&document);
    if options.write {
        let file = root().join("docs").join("peers.md");
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        eprintln!("peers: wrote {}", file.display());
    } else {
        print!("{text}");
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}

/// An answer with what it is worth.
fn cell(pair: &Pair, twin: Twin, answer: Answer) -> Cell {
    let judgement = judge(pair.bug, twin, &answer);
    if matches!(judgement, Judgement::False | Judgement::GaveUp) {
        eprintln!(
            "peers: {}::{}: {}",
            pair.path(),
            twin.name(),
            answer.failure.as_deref().unwrap_or_default()
        );
    }
    Cell::Answered(answer, judgement)
}

/// The versions of everything that has one.
fn versions(tool: &std::path::Path, runners: &Runners) -> Vec<(&'static str, String)> {
    let locked = |name| {
        let file = root().join("xtask").join("peers").join(name).join("Cargo.lock");
        locked(&std::fs::read_to_string(file).unwrap_or_default(), name)
            .unwrap_or_else(|| "unknown".into())
    };
    let said = |program: &std::path::Path, arguments: &[&str]| {
        surroundings::said(std::process::Command::new(program).args(arguments))
    };
    vec![
        ("lockred", said(tool, &["lockred", "--version"])),
        ("loom", locked("loom")),
        ("shuttle", locked("shuttle")),
        ("ThreadSanitizer", runners.sanitizer.clone()),
        ("rustc", said("rustc".as_ref(), &["--version"])),
    ]
}

/// The version of a package in a lock file.
fn locked(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(rest.split('"').next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_package_is_found() {
        let text = "[[package]]\nname = \"loom-x\"\nversion = \"1\"\n\n[[package]]\nname = \"loom\"\nversion = \"0.7.3\"\n";
        assert_eq!(locked(text, "loom").as_deref(), Some("0.7.3"));
        assert_eq!(locked(text, "shuttle"), None);
    }
}
