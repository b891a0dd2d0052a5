//! Says beside each library from which package it was compiled: sync models hold for some versions
//! of a library, and the linker shim sees no more of it than its rlib.

use lockred_protocol::models::PACKAGE;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Writes the file for the library that these arguments of rustc ask for, if it is one.
///
/// # Errors
/// When it cannot be written.
pub fn report(arguments: &[OsString]) -> Result<(), String> {
    let variable = |name| env::var(name).ok();
    let package = variable("CARGO_PKG_NAME").zip(variable("CARGO_PKG_VERSION"));
    let (Some(file), Some((name, version))) = (file(arguments), package) else { return Ok(()) };
    let root = variable("CARGO_MANIFEST_DIR").map_or_else(String::new, |root| format!("\n{root}"));
    let directory = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&file, format!("{name} {version}{root}")))
        .map_err(|e| format!("cannot write {}: {e}", file.display()))
}

/// The file of the library.
fn file(arguments: &[OsString]) -> Option<PathBuf> {
    let (mut directory, mut name, mut extra, mut library) = (None, None, String::new(), false);
    let mut words = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(word) = words.next() {
        let (key, value) = word.split_once('=').map_or((word, None), |(k, v)| (k, Some(v)));
        let mut value = || value.or_else(|| words.next());
        match key {
            "--out-dir" => directory = value(),
            "--crate-name" => name = value(),
            "--crate-type" => library |= value().is_some_and(|kind| kind.ends_with("lib")),
            "-C" | "--codegen" => {
                let option = value().unwrap_or_default();
                extra = option.strip_prefix("extra-filename=").map_or(extra, str::to_owned);
            }
            "-Cextra-filename" => extra = value().unwrap_or_default().to_owned(),
            _ => {}
        }
    }
    library.then_some(())?;
    Some(Path::new(directory?).join(format!("lib{}{extra}.{PACKAGE}", name?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_lies_beside_the_library() {
        let file = |line: &str| file(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let line =
            "--crate-name a_b --crate-type lib -C metadata=1 -C extra-filename=-2 --out-dir /d";
        assert_eq!(file(line), Some("/d/liba_b-2.package".into()));
        let joined = "--crate-name=a_b --crate-type=rlib -Cextra-filename=-2 --out-dir=/d";
        assert_eq!(file(joined), Some("/d/liba_b-2.package".into()));
        assert_eq!(file("--crate-name a --crate-type bin --out-dir /d"), None);
        assert_eq!(file("--crate-name a --crate-type lib"), None);
    }
}
