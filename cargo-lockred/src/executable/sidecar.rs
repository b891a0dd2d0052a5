//! Reading the sidecar out of an executable.

use crate::error::{Error, Result};
use lockred_trace::sites::{SECTION, Sidecar};
use object::{Object, ObjectSection};
use std::path::Path;

/// The sidecar of an executable; `None` when it has none, because it was not linked by the shim.
///
/// # Errors
/// When the file cannot be read, is damaged, or was instrumented by another version.
pub fn read(executable: &Path) -> Result<Option<Sidecar>> {
    let bytes = std::fs::read(executable).map_err(|e| Error::file("read", executable, &e))?;
    let damaged = |e: &dyn std::fmt::Display| {
        Error::ours(format!("{} is damaged: {e}", executable.display()))
            .hint("remove the target directory and build again")
    };
    let file = object::File::parse(&*bytes).map_err(|e| damaged(&e))?;
    let Some(section) = file.section_by_name(SECTION) else { return Ok(None) };
    let data = section.data().map_err(|e| damaged(&e))?;
    Sidecar::decode(data).map(Some).map_err(|e| damaged(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_executable_has_none_and_other_files_are_damaged() {
        let this = std::env::current_exe().unwrap();
        assert_eq!(read(&this).unwrap(), None);
        let error = read(Path::new(env!("CARGO_MANIFEST_PATH"))).unwrap_err();
        assert!(error.message.contains("Cargo.toml is damaged"), "{}", error.message);
    }
}
