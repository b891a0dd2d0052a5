//! The options that tests say of themselves: `#[lockred::check(…)]`.

use crate::cli::check::SearchOptions;
use crate::error::{Error, Result};
use crate::executable::list::Tests;
use lockred_trace::notes::Note;

/// The kind of their notes.
const KIND: &str = "check";

/// Gives each test of an executable its own options, and returns the notes that are of no test: nothing comes of these.
///
/// # Errors
/// When they are none: the crate `lockred` is another version.
pub fn give<'n>(
    tests: &mut Tests,
    notes: &'n [Note],
    search: &SearchOptions,
) -> Result<Vec<&'n Note>> {
    let mut lost = Vec::new();
    for note in notes.iter().filter(|note| note.kind == KIND) {
        // The harness leaves out the crate's name.
        let Some((_, name)) = note.subject.split_once("::") else { continue };
        if !tests.all.contains(name) {
            lost.push(note);
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

/// What to say of a note that is of no test.
pub fn lost(note: &Note) -> String {
    let name = note.subject.split_once("::").map_or(&*note.subject, |(_, name)| name);
    format!("`#[lockred::check]` of {name} ({}) is ignored: it is no test", place(note))
}

fn place(note: &Note) -> String {
    format!("{}:{}", note.file, note.line)
}
