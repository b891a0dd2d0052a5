//! The options that tests say of themselves: `#[lockred::check(…)]`.

use crate::cli::check::SearchOptions;
use crate::error::{Error, Result};
use crate::executable::list::Test;
use lockred_trace::notes::Note;

/// The kind of their notes.
const KIND: &str = "check";

/// Gives each test of an executable its own options.
///
/// # Errors
/// When they are none: the crate `lockred` is another version.
pub fn give(tests: &mut [Test], notes: &[Note], search: &SearchOptions) -> Result<()> {
    for note in notes.iter().filter(|note| note.kind == KIND) {
        // The harness leaves out the crate's name.
        let Some((_, name)) = note.subject.split_once("::") else { continue };
        for test in tests.iter_mut().filter(|test| test.libtest && test.name == name) {
            let own = search.with(&note.words).map_err(|error| {
                let place = format!("{}:{}", note.file, note.line);
                Error::usage(format!("`#[lockred::check]` of {name} ({place}): {error}"))
            })?;
            test.own = Some(own);
        }
    }
    Ok(())
}
