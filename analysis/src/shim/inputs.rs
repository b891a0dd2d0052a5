//! The files to link, sorted: bitcode, native code, and the standard library.

use super::command_line::{Argument, CommandLine};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One bitcode module.
#[derive(Debug)]
pub struct Bitcode {
    /// File, and member of an archive, for messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// It is the member of an archive: linked only if it defines something that is needed.
    pub in_archive: bool,
}

/// A native object file inside an rlib.
#[derive(Debug)]
pub struct Member {
    /// File name without directory.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What takes the place of an argument in the final link.
#[derive(Debug)]
pub enum Part {
    /// Passed on as it is.
    Argument(Argument),
    /// An rlib of std, of which a checked program uses the bitcode only.
    Std(Argument),
    /// The native members of an rlib whose other members are bitcode.
    Archive {
        /// File name of the rlib.
        name: String,
        /// The members.
        members: Vec<Member>,
    },
}

/// Everything that the command line names, sorted.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Bitcode of the user's crates and dependencies.
    pub bitcode: Vec<Bitcode>,
    /// Bitcode of the panic runtime that rustc chose.
    pub panic_runtime: Vec<Bitcode>,
    /// Whether that runtime aborts.
    pub panic_abort: bool,
    /// Whether core is linked (with or without the rest of std).
    pub core: bool,
    /// Whether std itself is linked (not in `no_std` programs).
    pub std: bool,
    /// The rest, in order.
    pub native: Vec<Part>,
    /// Names of native parts beside the C library and the unwinder.
    pub native_names: Vec<String>,
    /// Symbols that rustc wants to be linked whether or not anything refers to them.
    pub roots: HashSet<String>,
    /// The object in which rustc names them; only a shared library is linked with it.
    pub export_list: Option<PathBuf>,
    /// Symbols that native parts need from somewhere else: maybe from the bitcode.
    pub wanted_symbols: HashSet<String>,
}

/// Libraries that belong to every program.
const SYSTEM_LIBRARIES: &[&str] =
    &["c", "m", "dl", "rt", "util", "pthread", "gcc_s", "gcc", "gcc_eh", "c_nonshared"];

/// Crates of std with C or assembly parts, which have no bitcode: all of them is linked natively.
const NATIVE_OF_STD: &[&str] = &["compiler_builtins", "profiler_builtins"];

/// Why a program that is linked to std as a shared library is refused.
const SHARED_STD: &str = "the program is linked to std as a shared library (-C prefer-dynamic, or a dependency of crate \
    type dylib), so its synchronisation cannot be seen";

/// Whether it is the file name of std as a shared library.
fn is_shared_std(file: &str) -> bool {
    file.starts_with("libstd-") && file.ends_with(".so")
}

impl Inputs {
    /// Reads and sorts the files of a command line.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn read(line: &CommandLine) -> Result<Self, String> {
        let mut inputs = Self::default();
        let directories: Vec<&PathBuf> = line
            .arguments
            .iter()
            .filter_map(|a| if let Argument::Directory(d) = a { Some(d) } else { None })
            .collect();
        for argument in &line.arguments {
            match argument {
                Argument::Input(path) if !line.shared && is_shared_std(&file_name(path)) => {
                    return Err(SHARED_STD.into());
                }
                Argument::Library(name)
                    if !line.shared && is_shared_std(&format!("lib{name}.so")) =>
                {
                    return Err(SHARED_STD.into());
                }
                Argument::Input(path) => inputs.file(path, argument)?,
                Argument::Library(name) => {
                    if !SYSTEM_LIBRARIES.contains(&name.as_str()) {
                        inputs.native_names.push(format!("-l{name}"));
                        inputs.library(name, &directories)?;
                    }
                    inputs.native.push(Part::Argument(argument.clone()));
                }
                _ => inputs.native.push(Part::Argument(argument.clone())),
            }
        }
        Ok(inputs)
    }

    /// Sorts one file.
    fn file(&mut self, path: &Path, argument: &Argument) -> Result<(), String> {
        let bytes = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        if is_bitcode(&bytes) {
            let name = path.display().to_string();
            self.bitcode.push(Bitcode { name, bytes, in_archive: false });
        } else if bytes.starts_with(b"!<arch>\n") {
            let std = sysroot_crate(path);
            if std.is_some_and(|name| !NATIVE_OF_STD.contains(&name)) {
                self.native.push(Part::Std(argument.clone()));
            }
            match std {
                Some(name) if NATIVE_OF_STD.contains(&name) => {
                    self.native.push(Part::Argument(argument.clone()));
                }
                Some(name @ ("panic_unwind" | "panic_abort")) => {
                    self.panic_abort = name == "panic_abort";
                    self.panic_runtime = embedded_bitcode(path, &bytes)?;
                }
                Some(name) => {
                    self.core = true;
                    self.std |= name == "std";
                }
                None => self.archive(path, &bytes, argument)?,
            }
        } else if is_export_list(path) {
            // It also names what must be linked although nothing refers to it (`#[used]`,
            // `#[no_mangle]`).
            self.roots.extend(undefined_symbols(&bytes));
            self.export_list = Some(path.to_owned());
        } else {
            self.want(&bytes);
            self.native_names.push(file_name(path));
            self.native.push(Part::Argument(argument.clone()));
        }
        Ok(())
    }

    /// Sorts the members of an archive: of an rlib, or of a static library.
    fn archive(&mut self, path: &Path, bytes: &[u8], argument: &Argument) -> Result<(), String> {
        let mut members = Vec::new();
        let mut merged = false;
        for (name, data) in archive_members(path, bytes)? {
            if is_bitcode(data) {
                merged = true;
                let name = format!("{}({name})", path.display());
                self.bitcode.push(Bitcode { name, bytes: data.to_vec(), in_archive: true });
            } else if !name.ends_with(".rmeta") && !data.is_empty() {
                self.want(data);
                members.push(Member { name, bytes: data.to_vec() });
            }
        }
        if members.is_empty() {
            return Ok(());
        }
        self.native_names.push(file_name(path));
        self.native.push(if merged {
            Part::Archive { name: file_name(path), members }
        } else {
            Part::Argument(argument.clone())
        });
        Ok(())
    }

    /// Looks into a static library given by name, where it lies in a directory of the command line.
    fn library(&mut self, name: &str, directories: &[&PathBuf]) -> Result<(), String> {
        let file = name.strip_prefix(':').map_or_else(|| format!("lib{name}.a"), str::to_owned);
        let Some(path) = directories.iter().map(|d| d.join(&file)).find(|p| p.is_file()) else {
            return Ok(());
        };
        let bytes = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        if bytes.starts_with(b"!<arch>\n") {
            for (_, data) in archive_members(&path, &bytes)? {
                self.want(data);
            }
        }
        Ok(())
    }

    /// Notes the undefined symbols of a native file.
    fn want(&mut self, bytes: &[u8]) {
        self.wanted_symbols.extend(undefined_symbols(bytes));
    }
}

/// The undefined symbols of an object file. A file that is no object (a linker script) has none.
fn undefined_symbols(bytes: &[u8]) -> HashSet<String> {
    let Ok(object) = object::File::parse(bytes) else { return HashSet::new() };
    let symbols = object.symbols().chain(object.dynamic_symbols());
    symbols
        .filter(ObjectSymbol::is_undefined)
        .filter_map(|s| s.name().ok().map(str::to_owned))
        .collect()
}

/// The members of an archive.
fn archive_members<'a>(path: &Path, bytes: &'a [u8]) -> Result<Vec<(String, &'a [u8])>, String> {
    let damaged = |e: object::Error| format!("{} is a damaged archive: {e}", path.display());
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    archive
        .members()
        .map(|member| {
            let member = member.map_err(damaged)?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            Ok((name, member.data(bytes).map_err(damaged)?))
        })
        .collect()
}

/// The bitcode that rustc embedded in the objects of an rlib of the sysroot, in section `.llvmbc`.
///
/// # Errors
/// When the archive is damaged.
pub fn embedded_bitcode(path: &Path, bytes: &[u8]) -> Result<Vec<Bitcode>, String> {
    let mut all = Vec::new();
    for (name, data) in archive_members(path, bytes)? {
        let Ok(file) = object::File::parse(data) else { continue };
        let section = file.section_by_name_bytes(b".llvmbc");
        if let Some(bytes) = section.and_then(|s| object::ObjectSection::data(&s).ok()) {
            let name = format!("{}({name})", path.display());
            all.push(Bitcode { name, bytes: bytes.to_vec(), in_archive: true });
        }
    }
    Ok(all)
}

/// The crate's name, if the file is an rlib of the toolchain's own library directory:
/// `…/lib/rustlib/<target>/lib/libNAME-HASH.rlib`.
fn sysroot_crate(path: &Path) -> Option<&str> {
    let directory = path.parent()?;
    let rustlib = directory.parent()?.parent()?;
    if directory.file_name()? != "lib" || rustlib.file_name()? != "rustlib" {
        return None;
    }
    let stem = path.file_name()?.to_str()?.strip_prefix("lib")?.strip_suffix(".rlib")?;
    Some(stem.rsplit_once('-').map_or(stem, |(name, _)| name))
}

/// Whether it is the object in which rustc names the symbols to export.
fn is_export_list(path: &Path) -> bool {
    let in_rustc_directory = path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|d| d.to_string_lossy().starts_with("rustc"));
    in_rustc_directory && path.file_name().is_some_and(|f| f == "symbols.o")
}

fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B])
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |f| f.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn std_is_known_by_its_place() {
        let crate_of = |p: &str| sysroot_crate(Path::new(p)).map(str::to_owned);
        let place = "/r/lib/rustlib/x86_64-unknown-linux-gnu/lib";
        assert_eq!(crate_of(&format!("{place}/libstd-12ab.rlib")).as_deref(), Some("std"));
        assert_eq!(
            crate_of(&format!("{place}/libcompiler_builtins-12ab.rlib")).as_deref(),
            Some("compiler_builtins")
        );
        assert_eq!(crate_of("/home/x/target/debug/deps/libstd-12ab.rlib"), None);
    }

    #[test]
    fn a_damaged_archive_is_named() {
        let error = archive_members(Path::new("x.rlib"), b"!<arch>\nbroken").unwrap_err();
        assert!(error.contains("x.rlib"), "{error}");
    }
}
