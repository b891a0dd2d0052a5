//! Embeds the sources of the back end, so that an installed `cargo-lockred` can build it for any
//! toolchain.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What is carried, relative to the root of the repository: directories whole, and files.
const CARRIED: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "analysis/Cargo.toml",
    "analysis/build.rs",
    "analysis/src",
    "analysis/models",
    "runtime/Cargo.toml",
    "runtime/src",
    "runtime/search/Cargo.toml",
    "runtime/search/src",
    "runtime/protocol/Cargo.toml",
    "runtime/protocol/src",
];

/// Sources that decide what the wrapper passes to rustc: user crates are built anew when they
/// change.
const WRAPPER: &str = "cargo-lockred/src/wrapper";

/// The manual's pages, one a code.
const PAGES: &str = "docs/codes";

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = here.parent().expect("the package lies in the repository");
    let mut files = Vec::new();
    for carried in CARRIED {
        let path = root.join(carried);
        println!("cargo:rerun-if-changed={}", path.display());
        collect(&path, &mut files);
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(root).expect("found below the root");
        writeln!(table, "    ({name:?}, include_bytes!({file:?})),").expect("strings take text");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    write_if_changed(&out.join("sources.rs"), &table);

    embed_pages(&root.join(PAGES), &out.join("pages.rs"));

    let wrapper = root.join(WRAPPER);
    println!("cargo:rerun-if-changed={}", wrapper.display());
    let mut files = Vec::new();
    collect(&wrapper, &mut files);
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(file).expect("a source file can be read") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=LOCKRED_WRAPPER_SOURCES={hash:016x}");
}

/// Writes the list of the manual's pages: code and text, sorted by code.
fn embed_pages(directory: &Path, list: &Path) {
    println!("cargo:rerun-if-changed={}", directory.display());
    let mut files = Vec::new();
    collect(directory, &mut files);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let mut table = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for file in &files {
        let code = file.file_stem().expect("it has an extension");
        writeln!(table, "    ({code:?}, include_str!({file:?})),").expect("strings take text");
    }
    table.push_str("];\n");
    write_if_changed(list, &table);
}

/// The files at or below a path; nothing where there is nothing.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
    } else if let Ok(entries) = fs::read_dir(path) {
        for entry in entries.flatten() {
            collect(&entry.path(), files);
        }
    }
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).expect("OUT_DIR can be written");
}
