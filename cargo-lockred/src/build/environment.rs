//! The environment that cargo gives a test or program that it runs.

use super::Build;
use super::artifact::Messages;
use crate::toolchain::TRIPLE;
use cargo_metadata::Package;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Variable of directories that shared libraries are searched in.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// The variables for an executable of a package, beyond what is inherited.
pub fn of(package: &Package, messages: &Messages, build: &Build<'_>) -> Vec<(String, OsString)> {
    let mut variables = build.configuration.process_environment();
    let mut set = |name: &str, value: OsString| variables.push((name.to_owned(), value));
    let manifest = package.manifest_path.as_std_path();
    set("CARGO", build.project.cargo.clone());
    set("CARGO_MANIFEST_DIR", manifest.parent().unwrap_or(manifest).into());
    set("CARGO_MANIFEST_PATH", manifest.into());
    for (name, value) in of_package(package) {
        set(&format!("CARGO_PKG_{name}"), value.into());
    }
    for script in messages.scripts.iter().filter(|script| script.package_id == package.id) {
        set("OUT_DIR", script.out_dir.clone().into_std_path_buf().into());
        for (name, value) in &script.env {
            set(name, value.into());
        }
    }
    set(LIBRARY_PATH, library_path(messages, build));
    variables
}

/// What cargo says of the manifest in `CARGO_PKG_…`.
fn of_package(package: &Package) -> Vec<(&'static str, String)> {
    let version = &package.version;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let path = |value: &Option<cargo_metadata::camino::Utf8PathBuf>| {
        value.as_ref().map_or_else(String::new, ToString::to_string)
    };
    vec![
        ("NAME", package.name.to_string()),
        ("VERSION", version.to_string()),
        ("VERSION_MAJOR", version.major.to_string()),
        ("VERSION_MINOR", version.minor.to_string()),
        ("VERSION_PATCH", version.patch.to_string()),
        ("VERSION_PRE", version.pre.to_string()),
        ("AUTHORS", package.authors.join(":")),
        ("DESCRIPTION", text(&package.description)),
        ("HOMEPAGE", text(&package.homepage)),
        ("REPOSITORY", text(&package.repository)),
        ("LICENSE", text(&package.license)),
        ("LICENSE_FILE", path(&package.license_file)),
        ("README", path(&package.readme)),
        (
            "RUST_VERSION",
            package.rust_version.as_ref().map_or_else(String::new, ToString::to_string),
        ),
    ]
}

/// Native directories of build scripts that lie in the target directory, cargo's own, std's, then
/// what is inherited.
fn library_path(messages: &Messages, build: &Build<'_>) -> OsString {
    let target = build.target_directory();
    let mut paths: Vec<PathBuf> = Vec::new();
    for linked in messages.scripts.iter().flat_map(|script| &script.linked_paths) {
        let path = linked.as_str();
        let path = path.split_once('=').map_or(path, |(_, path)| path);
        let path = PathBuf::from(path);
        if path.starts_with(&target) && !paths.contains(&path) {
            paths.push(path);
        }
    }
    for artifact in &messages.artifacts {
        let Some(directory) = artifact.executable.as_ref().and_then(|path| path.parent()) else {
            continue;
        };
        let directory = PathBuf::from(directory);
        if !paths.contains(&directory) {
            paths.push(directory);
        }
    }
    paths.push(build.toolchain.sysroot.join("lib/rustlib").join(TRIPLE).join("lib"));
    if let Some(inherited) = env::var_os(LIBRARY_PATH) {
        paths.extend(env::split_paths(&inherited));
    }
    // A path with a colon cannot be put in; none is better than a wrong one.
    env::join_paths(paths).unwrap_or_default()
}
