//! The options that tests say of themselves: `#[lockred::check(…)]`.

use crate::cli::check::SearchOptions;
use crate::error::{Error, Result};
use crate::executable::list::Tests;
use lockred_protocol::notes::Note;

/// The kind of their notes.
const KIND: &str = "check";

/// Gives each test of an executable its own options, and returns what to say of notes that are of
/// no test: nothing comes of these.
///
/// # Errors
/// When they are none: the crate `lockred` is another version.
pub fn give(tests: &mut Tests, notes: &[Note], search: &SearchOptions) -> Result<Vec<String>> {
    let mut lost = Vec::new();
    for note in notes.iter().filter(|note| note.kind == KIND) {
        // The harness leaves out the crate's name.
        let Some((_, name)) = note.subject.split_once("::") else { continue };
        if !tests.all.contains(name) {
            let place = place(note);
            lost.push(format!("`#[lockred::check]` of {name} ({place}) is ignored: it is no test"));
        }
        for test in tests.wanted.iter_mut().filter(|test| test.libtest && test.name == name) {
            let own = search.with(&note.words).map_err(|error| {
                Error::usage(format!("`#[lockred::check]` of {name} ({}): {error}", place(note)))
            })?;
            test.own = Some(own);
        }
    }
    Ok(lost)
}

fn place(note: &Note) -> String {
    format!("{}:{}", note.file, note.line)
}
