//! `cargo xtask models`: which published versions of libraries the sync models hold for, with
//! hashes of the sources that rules speak of.
//!
//! The list is `analysis/models/versions.toml`. Cargo says which versions there are, newest first:
//! each time, an older one is asked for. A version in which a rule that is for it does not find
//! what it names is reported, and is not listed: it is explored as it is written. What is on the
//! list and not published any more stays there, since programs go on to use it.

use crate::command::{Outcome, cargo, root, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the shim is asked with.
const SOURCES: &str = "--sources";

/// Hashes by version and package.
type List = BTreeMap<String, Vec<(String, String)>>;

/// Compares the list with what is published, or writes it.
pub fn run_with(write: bool) -> Outcome {
    run(cargo(&root()).args(["build", "-p", "lockred-analysis", "--bin", "lockred-shim"]))?;
    let shim = root().join("target/debug/lockred-shim");
    let packages = said(Command::new(&shim).arg(SOURCES))?;
    let (mut list, mut seen) = (List::new(), BTreeSet::new());
    for line in packages.lines() {
        let (name, since) = line.split_once(' ').ok_or("the shim prints no packages")?;
        let listed = list.entry(name.to_owned()).or_default();
        for Published { version, directory } in published(name, since)? {
            seen.insert((name.to_owned(), version.clone()));
            let ask = [SOURCES, name, &version];
            match said(Command::new(&shim).args(ask).arg(&directory)) {
                Ok(hash) => listed.push((version, hash.trim().to_owned())),
                Err(why) => eprintln!("{name} {version} is not modelled: {why}"),
            }
        }
    }
    let file = root().join("analysis/models/versions.toml");
    let listed = fs::read_to_string(&file).unwrap_or_default();
    keep(&mut list, &listed, &seen)?;
    let text = written(&list);
    if write {
        return fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()));
    }
    match listed == text {
        true => Ok(()),
        false => {
            Err(format!("{} is not what is published: cargo xtask models --write", file.display()))
        }
    }
}

/// Adds what the list had and cargo does not name.
fn keep(list: &mut List, listed: &str, seen: &BTreeSet<(String, String)>) -> Outcome {
    let old: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(listed).map_err(|e| format!("versions.toml: {e}"))?;
    for (name, versions) in old {
        let Some(list) = list.get_mut(&name) else { continue };
        let gone = |version: &String| !seen.contains(&(name.clone(), version.clone()));
        let gone: Vec<_> = versions.into_iter().filter(|(version, _)| gone(version)).collect();
        list.extend(gone);
        let numbers = |version: &str| -> Vec<u64> {
            version.split('.').map(|number| number.parse().unwrap_or(0)).collect()
        };
        list.sort_by_key(|(version, _)| std::cmp::Reverse(numbers(version)));
    }
    Ok(())
}

/// The list as a file, oldest versions first.
fn written(list: &List) -> String {
    let mut text = String::from(
        "# Published versions that the sync models were checked against, with hashes of the sources that rules speak of (`sources` of a model).\n\
         # Written by `cargo xtask models --write`.\n",
    );
    for (name, versions) in list {
        let _ = write!(text, "\n[{name}]\n");
        for (version, hash) in versions.iter().rev() {
            let _ = writeln!(text, "\"{version}\" = \"{hash}\"");
        }
    }
    text
}

/// A published version, with its sources.
struct Published {
    version: String,
    directory: PathBuf,
}

/// All versions of a package from one on that are not yanked, newest first.
fn published(name: &str, since: &str) -> Result<Vec<Published>, String> {
    let scratch = root().join("target/xtask-models");
    fs::create_dir_all(scratch.join("src")).map_err(|e| e.to_string())?;
    fs::write(scratch.join("src/lib.rs"), "").map_err(|e| e.to_string())?;
    let mut versions: Vec<Published> = Vec::new();
    loop {
        let below = versions.last().map_or_else(String::new, |last| format!(", <{}", last.version));
        match resolved(&scratch, name, &format!(">={since}{below}"))? {
            Some(version) => versions.push(version),
            None => return Ok(versions),
        }
    }
}

/// The newest version that a requirement allows; `None` if there is none.
fn resolved(scratch: &Path, name: &str, requirement: &str) -> Result<Option<Published>, String> {
    let manifest = format!(
        "[workspace]\n[package]\nname = \"models\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\n{name} = \"{requirement}\"\n"
    );
    fs::write(scratch.join("Cargo.toml"), manifest).map_err(|e| e.to_string())?;
    let _ = fs::remove_file(scratch.join("Cargo.lock"));
    let metadata = match said(cargo(scratch).args(["metadata", "--format-version", "1"])) {
        Err(error) if error.contains("failed to select a version") => return Ok(None),
        metadata => metadata?,
    };
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(|e| e.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    // What the package itself depends on may be another version of it.
    let id = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let id = id.filter(|node| node["id"] == metadata["resolve"]["root"]);
    let id = id.flat_map(|node| node["dependencies"].as_array().into_iter().flatten()).next();
    let package = packages.iter().find(|package| Some(&package["id"]) == id);
    let text = |key: &str| package.and_then(|package| package[key].as_str());
    let (Some(version), Some(manifest)) = (text("version"), text("manifest_path")) else {
        return Err(format!("cargo metadata does not name {name}"));
    };
    let directory = Path::new(manifest).parent().unwrap_or(Path::new("")).to_owned();
    Ok(Some(Published { version: version.to_owned(), directory }))
}

/// What a command prints; what it complains about where it fails.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
