//! `--prepare`: links the bitcode of a toolchain's std into the one module `std.bc` from which
//! programs pull what they need.

use super::inputs::embedded_bitcode;
use crate::llvm::Context;
use crate::recognise::{demangle, path_of};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Crates of the sysroot that do not go into `std.bc`: the panic runtimes exclude each other, so
/// the one that rustc names is read at link time; the others have parts without bitcode, or are no
/// part of a program.
const LEFT_OUT: &[&str] =
    &["compiler_builtins", "panic_abort", "panic_unwind", "proc_macro", "profiler_builtins"];

/// Functions of std that do nothing in a checked program. They turn addresses of a backtrace into
/// names: more than half of the code of a small program, and tens of milliseconds a panic. A
/// backtrace taken in the program then shows its frames as unknown, as in a program without debug
/// information; reports of lockred have their own. A std without these functions is merely larger.
const EMPTIED: &[&str] = &["std::backtrace_rs::symbolize::gimli::Cache::with_global"];

/// File name of the result.
pub const STD_BITCODE: &str = "std.bc";

/// Makes `std.bc` in `directory`. The file appears whole or not at all.
///
/// # Errors
/// When the sysroot has no std with bitcode, or the file cannot be written.
pub fn prepare(context: Context, sysroot: &Path, directory: &Path) -> Result<(), String> {
    let libraries = sysroot.join("lib/rustlib").join(crate::llvm::TRIPLE).join("lib");
    let listing = fs::read_dir(&libraries)
        .map_err(|e| format!("cannot read the library directory {}: {e}", libraries.display()))?;
    let mut paths: Vec<_> = listing.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let std = context.module("std");
    let mut found_std = false;
    for path in paths {
        let Some(stem) = path.file_name().and_then(|f| f.to_str()?.strip_suffix(".rlib")) else {
            continue;
        };
        let name = stem.trim_start_matches("lib").rsplit_once('-').map_or(stem, |(name, _)| name);
        if LEFT_OUT.contains(&name) {
            continue;
        }
        let bytes = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        for part in embedded_bitcode(&path, &bytes)? {
            found_std |= name == "std";
            let module = context.parse_bitcode(&part.bytes, &part.name)?;
            std.link(module).map_err(|e| format!("{}: {e}", part.name))?;
        }
    }
    if !found_std {
        return Err(format!(
            "the standard library in {} carries no bitcode; this toolchain cannot be used",
            libraries.display()
        ));
    }
    for function in std.functions() {
        let path = path_of(&demangle(&function.name()));
        if EMPTIED.contains(&path.as_str())
            && !function.is_declaration()
            && function.function_type().return_type().is_void()
        {
            std.make_empty(context, function);
        }
    }
    std.run_passes("globaldce")?;
    write_whole(directory, &std.bitcode())
}

/// Writes the file beside its final place, then renames it there.
fn write_whole(directory: &Path, bytes: &[u8]) -> Result<(), String> {
    let target = directory.join(STD_BITCODE);
    let failed = |e: std::io::Error| format!("cannot write {}: {e}", target.display());
    let mut file = tempfile::Builder::new()
        .prefix(".std.bc.")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(directory)
        .map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(&target).map_err(|e| failed(e.error))?;
    Ok(())
}
