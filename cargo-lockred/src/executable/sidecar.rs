//! Reading the sidecar, the plan, the order of locks, what protects memory, the audit and the notes out of an executable.

use crate::error::{Error, Result};
use lockred_trace::audit::{self, Audit};
use lockred_trace::lock_order::{self, LockOrder};
use lockred_trace::notes::{self, Note};
use lockred_trace::plan::{self, Plan};
use lockred_trace::protection::{self, Protection};
use lockred_trace::sites::{SECTION, Sidecar};
use object::{Object, ObjectSection};
use std::path::Path;

/// The sidecar of an executable.
///
/// # Errors
/// When the file cannot be read, is damaged, was instrumented by another version, or not at all.
pub fn read(executable: &Path) -> Result<Sidecar> {
    section(executable, SECTION, Sidecar::decode)
}

/// The plan of an executable.
///
/// # Errors
/// As for [`read`].
pub fn plan(executable: &Path) -> Result<Plan> {
    section(executable, plan::SECTION, Plan::decode)
}

/// The order of locks of an executable.
///
/// # Errors
/// As for [`read`].
pub fn lock_order(executable: &Path) -> Result<LockOrder> {
    section(executable, lock_order::SECTION, LockOrder::decode)
}

/// What protects the memory of an executable.
///
/// # Errors
/// As for [`read`].
pub fn protection(executable: &Path) -> Result<Protection> {
    section(executable, protection::SECTION, Protection::decode)
}

/// The audit of an executable.
///
/// # Errors
/// As for [`read`].
pub fn audit(executable: &Path) -> Result<Audit> {
    section(executable, audit::SECTION, Audit::decode)
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
    let bytes = std::fs::read(executable).map_err(|e| Error::file("read", executable, &e))?;
    let damaged = |e: &dyn std::fmt::Display| {
        Error::ours(format!("{} is damaged: {e}", executable.display()))
            .hint("remove the target directory and build again")
    };
    let file = object::File::parse(&*bytes).map_err(|e| damaged(&e))?;
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
