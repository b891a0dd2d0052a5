//! `cargo xtask crates`: published crates with their own tests, and published bugs, under `cargo
//! lockred check`. What comes out is compared with the list (`xtask/crates/list.toml`), so that
//! this is a test of lockred on code that nobody here wrote.

mod bugs;
mod check;
mod document;
mod driver;
mod expectations;
mod list;
mod machine;
mod options;
mod own_tests;
mod record;
mod source;
mod table;

pub use options::Options;

use crate::command::{self, root};
use crate::setup;
use list::{List, Set};
use std::path::{Path, PathBuf};

/// What a run of one set needs to know.
struct Site<'a> {
    tool: &'a Path,
    options: &'a Options,
    /// Where sources, builds and reports go.
    scratch: PathBuf,
}

impl Site<'_> {
    /// The page that keeps the tables.
    fn document(&self) -> PathBuf {
        root().join("docs").join("crates.md")
    }
}

/// What came of a set.
struct Findings {
    /// Markdown.
    text: String,
    /// A sentence for each thing that the list does not account for.
    wrong: Vec<String>,
}

/// Checks what was asked for, and prints the table.
pub fn run(options: &Options) -> command::Outcome {
    let list = List::read(&root().join("xtask").join("crates").join("list.toml"))?;
    options.names_are_known(&list)?;
    let tool = setup::run()?;
    let site = Site { tool: &tool, options, scratch: root().join("target").join("crates") };
    let findings = match options.set {
        Set::Bugs => bugs::run(&site, &list)?,
        Set::First | Set::Second | Set::Third => own_tests::run(&site, &list)?,
    };
    let section = format!("{}\n\n{}", machine::sentence(options)?, findings.text);
    println!("\n## {}\n\n{section}", options.set.heading());
    if options.write {
        document::put(&site.document(), options.set.heading(), &section)?;
    }
    match findings.wrong.len() {
        0 => Ok(()),
        _ => Err(format!("the list does not account for this:\n  {}", findings.wrong.join("\n  "))),
    }
}
