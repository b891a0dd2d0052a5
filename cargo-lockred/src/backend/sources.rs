//! The sources of the back end, carried inside this executable, and how they become a cargo
//! workspace of their own.

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Every carried file: its path relative to the root of the repository, and its contents.
static CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The packages of the generated workspace.
const MEMBERS: &[&str] = &["analysis", "runtime", "runtime/search", "runtime/protocol"];

/// The hash of everything that is carried.
pub fn fingerprint() -> Fingerprint {
    CARRIED.iter().fold(Fingerprint::new(), |hash, (name, bytes)| hash.add(name).add(bytes))
}

/// Writes the workspace to `directory`: only what differs, so that a rebuild is incremental, and
/// nothing else stays.
///
/// # Errors
/// When something cannot be written.
pub fn write(directory: &Path) -> Result<()> {
    let mut written = Vec::new();
    for (name, bytes) in CARRIED {
        let path = directory.join(name);
        match *name {
            "Cargo.toml" => write_if_changed(&path, workspace_manifest(bytes)?.as_bytes())?,
            _ => write_if_changed(&path, bytes)?,
        }
        written.push(path);
    }
    remove_others(directory, &written)
}

/// The root manifest with the members of the back end only.
fn workspace_manifest(original: &[u8]) -> Result<String> {
    let broken = |what: &dyn std::fmt::Display| {
        Error::ours(format!("this is a bug in lockred: the carried Cargo.toml is damaged: {what}"))
    };
    let text = std::str::from_utf8(original).map_err(|e| broken(&e))?;
    let mut manifest: Table = text.parse().map_err(|e| broken(&e))?;
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.ok_or_else(|| broken(&"no [workspace]"))?;
    let members = MEMBERS.iter().map(|member| Value::from(*member)).collect();
    workspace.insert("members".into(), Value::Array(members));
    workspace.remove("exclude");
    Ok(manifest.to_string())
}

fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|e| Error::file("create", parent, &e))?;
    fs::write(path, bytes).map_err(|e| Error::file("write", path, &e))
}

/// Removes source files of an earlier version; the lock file may have been shortened by cargo, and
/// is listed as written.
fn remove_others(directory: &Path, written: &[PathBuf]) -> Result<()> {
    let entries = fs::read_dir(directory).map_err(|e| Error::file("read", directory, &e))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_others(&path, written)?;
        } else if !written.contains(&path) {
            fs::remove_file(&path).map_err(|e| Error::file("remove", &path, &e))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_and_their_sources_are_carried() {
        for member in MEMBERS {
            let manifest = format!("{member}/Cargo.toml");
            assert!(CARRIED.iter().any(|(name, _)| *name == manifest), "{manifest}");
            let library = format!("{member}/src/lib.rs");
            assert!(CARRIED.iter().any(|(name, _)| *name == library), "{library}");
        }
    }

    #[test]
    fn what_only_tests_of_the_search_use_is_not_carried() {
        for package in ["runtime/search/model", "runtime/search/papers"] {
            let carried = CARRIED.iter().find(|(name, _)| name.starts_with(package));
            assert_eq!(carried.map(|(name, _)| name), None);
        }
    }

    #[test]
    fn the_workspace_has_the_members_only_and_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("stale.rs"), "old").unwrap();
        write(directory.path()).unwrap();
        assert!(!directory.path().join("stale.rs").exists());
        let manifest = directory.path().join("Cargo.toml");
        let text: Table = fs::read_to_string(&manifest).unwrap().parse().unwrap();
        assert_eq!(text["workspace"]["members"].as_array().unwrap().len(), MEMBERS.len());
        assert!(text["workspace"].get("dependencies").is_some());
        let before = fs::metadata(&manifest).unwrap().modified().unwrap();
        write(directory.path()).unwrap();
        assert_eq!(fs::metadata(&manifest).unwrap().modified().unwrap(), before);
    }
}
