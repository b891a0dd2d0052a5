//! Sources of published crates: cargo downloads and unpacks them, and a copy is made that stands
//! alone.

use super::list::Published;
use crate::command;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Files by which a package chooses a toolchain of its own.
const TOOLCHAINS: &[&str] = &["rust-toolchain", "rust-toolchain.toml"];

/// A copy of a published package in the scratch directory, as it was published. Only its manifest
/// stands alone and has no benches, and it pins no toolchain.
pub fn copy(scratch: &Path, published: &Published) -> Result<PathBuf, String> {
    let Published { name, version, without, .. } = published;
    let label = format!("{name}-{version}");
    let copy = scratch.join("sources").join(&label);
    if copy.exists() {
        return Ok(copy);
    }
    let asks = scratch.join("fetch").join(&label);
    let dependencies = toml::Table::from_iter([(name.to_owned(), format!("={version}").into())]);
    write_package(&asks, &manifest(&label, &dependencies))?;
    let metadata = metadata(&asks)?;
    let published = package(&metadata, name, version)?;
    let manifest = published["manifest_path"].as_str().map(Path::new);
    let unpacked = manifest.and_then(Path::parent).ok_or("cargo metadata names no manifest")?;
    // Under another name until it is whole.
    let unfinished = scratch.join("sources").join(format!("{label}.unfinished"));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(naming(&unfinished))?;
    }
    copy_directory(unpacked, &unfinished)?;
    let manifest = unfinished.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(naming(&manifest))?;
    fs::write(&manifest, standing_alone(&text, without)?).map_err(naming(&manifest))?;
    for pinned in TOOLCHAINS.iter().map(|file| unfinished.join(file)).filter(|it| it.exists()) {
        fs::remove_file(&pinned).map_err(naming(&pinned))?;
    }
    fs::rename(&unfinished, &copy).map_err(naming(&copy))?;
    Ok(copy)
}

/// A manifest that belongs to no workspace around it, without benches and what only these need.
fn standing_alone(manifest: &str, without: &[String]) -> Result<String, String> {
    let mut manifest: toml::Table = manifest.parse().map_err(|e| format!("its manifest: {e}"))?;
    manifest.entry("workspace").or_insert_with(|| toml::Table::new().into());
    manifest.remove("bench");
    if let Some(package) = manifest.get_mut("package").and_then(|it| it.as_table_mut()) {
        package.insert("autobenches".into(), false.into());
    }
    if let Some(needed) = manifest.get_mut("dev-dependencies").and_then(|it| it.as_table_mut()) {
        needed.retain(|name, _| !without.iter().any(|bench| bench == name));
    }
    Ok(manifest.to_string())
}

/// The manifest of a package of ours that needs nothing but these dependencies.
pub fn manifest(name: &str, dependencies: &toml::Table) -> String {
    let name = name.replace('.', "-");
    let package = toml::Table::from_iter([
        ("name".to_owned(), name.into()),
        ("version".to_owned(), "0.0.0".into()),
        ("edition".to_owned(), "2021".into()),
    ]);
    let manifest = toml::Table::from_iter([
        ("package".to_owned(), package.into()),
        ("dependencies".to_owned(), dependencies.clone().into()),
        ("workspace".to_owned(), toml::Table::new().into()),
    ]);
    manifest.to_string()
}

/// Writes a package with an empty library, and nothing that is as it should be.
pub fn write_package(directory: &Path, manifest: &str) -> Result<(), String> {
    let sources = directory.join("src");
    fs::create_dir_all(&sources).map_err(naming(&sources))?;
    write(&sources.join("lib.rs"), "")?;
    write(&directory.join("Cargo.toml"), manifest)
}

/// Writes a file, unless it has that text: cargo builds again what is newer.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(naming(path))
}

/// What `cargo metadata` says of a package. It downloads what the package depends on.
pub fn metadata(package: &Path) -> Result<Value, String> {
    let mut metadata = command::cargo(package);
    metadata.args(["metadata", "--format-version", "1"]);
    let output = metadata.output().map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("cargo metadata printed no JSON: {e}"))
}

/// A package in it.
pub fn package<'a>(metadata: &'a Value, name: &str, version: &str) -> Result<&'a Value, String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut found = packages.filter(|it| it["name"] == name && it["version"] == version);
    found.next().ok_or(format!("cargo metadata does not name {name} {version}"))
}

fn copy_directory(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(naming(to))?;
    for entry in fs::read_dir(from).map_err(naming(from))? {
        let entry = entry.map_err(naming(from))?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy_directory(&path, &copy)?,
            false => fs::copy(&path, &copy).map(|_| ()).map_err(naming(&copy))?,
        }
    }
    Ok(())
}

fn naming(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_stands_alone_and_has_no_benches() {
        let published = "[package]\nname = 'a'\n[[bench]]\nname = 'b'\n\
                         [dev-dependencies]\ncriterion = '1'\nrand = '1'\n";
        let alone = standing_alone(published, &["criterion".into()]).expect("that is TOML");
        let table: toml::Table = alone.parse().expect("that is TOML");
        assert!(table.contains_key("workspace") && !table.contains_key("bench"), "{alone}");
        let needed: Vec<&String> =
            table["dev-dependencies"].as_table().expect("it is a table").keys().collect();
        assert_eq!(needed, ["rand"]);
        assert_eq!(table["package"]["autobenches"].as_bool(), Some(false));
        assert_eq!(standing_alone(&alone, &[]).as_ref(), Ok(&alone));
    }

    #[test]
    fn a_manifest_of_ours_has_what_was_asked_for() {
        let dependencies = "spin = { version = '=0.5.1', features = ['std'] }".parse();
        let manifest = manifest("spin-0.5.1", &dependencies.expect("that is TOML"));
        let manifest: toml::Table = manifest.parse().expect("that is TOML");
        assert_eq!(manifest["package"]["name"].as_str(), Some("spin-0-5-1"));
        assert_eq!(manifest["dependencies"]["spin"]["version"].as_str(), Some("=0.5.1"));
        assert!(manifest.contains_key("workspace"));
    }
}
