//! Reading the sidecar, the plan, the order of locks, what protects memory, the audit and the notes
//! out of an executable.

use crate::error::{Error, Result};
use lockred_protocol::notes::{self, Note};
use lockred_protocol::section::Section;
use lockred_protocol::sites::{SECTION, Sidecar};
use object::{Object, ObjectSection, ReadCache};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

/// What is explored as written in executables although there is a sync model, and why: a sentence
/// each.
///
/// # Errors
/// As [`read`].
pub fn unmodelled<'a>(executables: impl Iterator<Item = &'a Path>) -> Result<BTreeSet<String>> {
    let sidecars = executables.map(read).collect::<Result<Vec<_>>>()?;
    Ok(sidecars.into_iter().flat_map(|sidecar| sidecar.unmodelled).collect())
}

/// The sidecar of an executable.
///
/// # Errors
/// When the file cannot be read, is damaged, was instrumented by another version, or not at all.
pub fn read(executable: &Path) -> Result<Sidecar> {
    section(executable, SECTION, Sidecar::decode)
}

/// What an executable carries in a section of its own: a plan, an order of locks, what protects
/// memory, an audit.
///
/// # Errors
/// As for [`read`].
pub fn carried<T: Section>(executable: &Path) -> Result<T> {
    section(executable, T::NAME, T::decode)
}

/// The notes of an executable; many have none.
///
/// # Errors
/// When the file cannot be read, or is damaged.
pub fn notes(executable: &Path) -> Result<Vec<Note>> {
    let found = find(executable, notes::SECTION, |section| Ok(notes::parse(section)))?;
    Ok(found.unwrap_or_default())
}

fn section<T>(
    executable: &Path,
    name: &str,
    decode: impl Fn(&[u8]) -> std::result::Result<T, String>,
) -> Result<T> {
    find(executable, name, decode)?.ok_or_else(|| {
        Error::ours(format!(
            "{} was not linked by lockred; this is a bug in lockred, or a linker is forced by other means",
            executable.display()
        ))
    })
}

/// What is in a section, if it is there.
fn find<T>(
    executable: &Path,
    name: &str,
    decode: impl Fn(&[u8]) -> std::result::Result<T, String>,
) -> Result<Option<T>> {
    let file = File::open(executable).map_err(|e| Error::file("read", executable, &e))?;
    let damaged = |e: &dyn std::fmt::Display| {
        Error::ours(format!("{} is damaged: {e}", executable.display()))
            .hint("remove the target directory and build again")
    };
    // Executables are large, and their sections mostly small.
    let read = ReadCache::new(file);
    let file = object::File::parse(&read).map_err(|e| damaged(&e))?;
    let Some(section) = file.section_by_name(name) else { return Ok(None) };
    let data = section.data().map_err(|e| damaged(&e))?;
    decode(data).map(Some).map_err(|e| damaged(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_executable_has_none_and_other_files_are_damaged() {
        let this = std::env::current_exe().unwrap();
        let error = read(&this).unwrap_err();
        assert!(error.message.contains("not linked by lockred"), "{}", error.message);
        let error = read(Path::new(env!("CARGO_MANIFEST_PATH"))).unwrap_err();
        assert!(error.message.contains("Cargo.toml is damaged"), "{}", error.message);
    }
}
