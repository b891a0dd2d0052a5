//! The back end (linker shim, runtime, std's bitcode) of a toolchain: found in the user's cache, or
//! built into it.
//!
//! ```text
//! <cache>/lockred/<toolchain>/lock            held while anything below is written
//!                            /source, /target a cargo workspace made of the carried sources, built incrementally
//!                            /build.log       what the last build printed
//!                            /<hash>/         the result: lockred-shim, liblockred_runtime.a, std.bc
//! ```

mod nested_cargo;
mod sources;

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::fingerprint::Fingerprint;
use crate::printing::console::Console;
use crate::toolchain::Toolchain;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};
use std::{env, io};

/// The linker shim's file name.
const SHIM: &str = "lockred-shim";
/// The runtime's file name.
const RUNTIME: &str = "liblockred_runtime.a";
/// std's bitcode, which the shim makes.
const STD: &str = "std.bc";
/// The workspace of its sources, in the directory of a toolchain.
const SOURCE: &str = "source";
/// Results of older sources that are kept, for other versions of lockred that may be in use.
const KEPT_RESULTS: usize = 3;

/// A back end that is ready for use.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The directory with its three files.
    pub directory: PathBuf,
    /// Hash of its sources and toolchain.
    pub key: String,
    /// Seconds that it took to build; `None` when it was there already.
    pub built_in: Option<f64>,
}

impl Backend {
    /// The path of the linker shim.
    pub fn shim(&self) -> PathBuf {
        self.directory.join(SHIM)
    }

    /// Where its sources were compiled.
    pub fn sources(&self) -> PathBuf {
        self.directory.parent().unwrap_or(&self.directory).join(SOURCE)
    }
}

/// The back end of a toolchain; builds it where it is missing. With `verbose` the build's output is
/// shown.
///
/// # Errors
/// When it cannot be built: no network, no C linker, a cache that cannot be written.
pub fn ready(toolchain: &Toolchain, console: &Console, verbose: bool) -> Result<Backend> {
    let key = sources::fingerprint().add(&toolchain.verbose_version);
    let key = key.add(toolchain.sysroot.as_os_str().as_encoded_bytes()).hex();
    let home = home(toolchain)?;
    let directory = home.join(&key);
    if is_whole(&directory) {
        return Ok(Backend { directory, key, built_in: None });
    }
    let start = Instant::now();
    fs::create_dir_all(&home).map_err(|e| cache_error("create", &home, &e))?;
    let _lock = lock(&home.join("lock"), console)?;
    if !is_whole(&directory) {
        console.status(
            "Setting up",
            &format!(
                "the back end for rustc {} (once per toolchain; one to three minutes)",
                toolchain.release
            ),
        );
        build(toolchain, &home, &directory, console, verbose)?;
        let seconds = start.elapsed().as_secs_f64();
        console.status("Finished", &format!("the back end in {seconds:.1} s"));
        remove_old_results(&home, &directory);
    }
    Ok(Backend { directory, key, built_in: Some(start.elapsed().as_secs_f64()) })
}

/// Whether a result has all its files; a cleaner of caches may have taken some.
fn is_whole(result: &Path) -> bool {
    [SHIM, RUNTIME, STD].iter().all(|name| result.join(name).is_file())
}

/// Builds into a temporary directory beside `result`, which appears whole.
fn build(
    toolchain: &Toolchain,
    home: &Path,
    result: &Path,
    console: &Console,
    verbose: bool,
) -> Result<()> {
    let source = home.join(SOURCE);
    fs::create_dir_all(&source).map_err(|e| cache_error("create", &source, &e))?;
    sources::write(&source).map_err(|e| e.exit(Exit::BuildFailed))?;
    let built = nested_cargo::build(toolchain, home, console, verbose)?;
    let parts = tempfile::Builder::new().prefix(".part-").tempdir_in(home);
    let parts = parts.map_err(|e| cache_error("create a directory in", home, &e))?;
    for name in [SHIM, RUNTIME] {
        let (from, to) = (built.join(name), parts.path().join(name));
        fs::copy(&from, &to).map_err(|e| cache_error("copy", &from, &e))?;
    }
    console.transient("preparing the standard library");
    let output = Command::new(parts.path().join(SHIM))
        .args(["--prepare", "--sysroot"])
        .arg(&toolchain.sysroot)
        .output()
        .map_err(|e| cache_error("run", &parts.path().join(SHIM), &e))?;
    console.clear();
    if !output.status.success() {
        return Err(Error::build(format!(
            "preparing the standard library's bitcode failed ({}):\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        )));
    }
    // What a cleaner of caches left of an earlier result would stand in the way.
    let _ = fs::remove_dir_all(result);
    let parts = parts.keep();
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&parts, permissions).map_err(|e| cache_error("open up", &parts, &e))?;
    fs::rename(&parts, result).map_err(|e| cache_error("rename", &parts, &e))
}

/// The directory of a toolchain in the user's cache.
fn home(toolchain: &Toolchain) -> Result<PathBuf> {
    let hash = Fingerprint::new()
        .add(&toolchain.verbose_version)
        .add(toolchain.sysroot.as_os_str().as_encoded_bytes())
        .hex();
    let name = format!("rust-{}-{}", toolchain.release, &hash[..8]);
    Ok(cache(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))?.join("lockred").join(name))
}

/// The user's cache directory. A relative `XDG_CACHE_HOME` is ignored, as its specification
/// demands.
fn cache(xdg: Option<OsString>, user_home: Option<OsString>) -> Result<PathBuf> {
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|p| p.is_absolute());
    absolute(xdg)
        .or_else(|| Some(absolute(user_home)?.join(".cache")))
        .ok_or_else(|| Error::build("neither XDG_CACHE_HOME nor HOME names a directory"))
}

/// Waits for other set-ups to end. The lock goes with the file handle.
fn lock(path: &Path, console: &Console) -> Result<File> {
    let options = File::options().create(true).truncate(false).write(true).open(path);
    let file = options.map_err(|e| cache_error("open", path, &e))?;
    if file.try_lock().is_err() {
        console.status("Blocking", "waiting for another set-up of the back end");
        file.lock().map_err(|e| cache_error("lock", path, &e))?;
    }
    Ok(file)
}

/// Removes all but the newest results. Failures do not matter: it is a cache.
fn remove_old_results(home: &Path, current: &Path) {
    let mut old: Vec<(SystemTime, PathBuf)> = fs::read_dir(home)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let modified = fs::metadata(path.join(STD)).ok()?.modified().ok()?;
            (path != current).then_some((modified, path))
        })
        .collect();
    old.sort();
    for (_, path) in old.iter().rev().skip(KEPT_RESULTS) {
        let _ = fs::remove_dir_all(path);
    }
}

fn cache_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    let reported = Error::file(doing, path, error).exit(Exit::BuildFailed);
    reported.hint("the back end is kept in the user's cache; XDG_CACHE_HOME names another place")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_xdg_says_or_below_home() {
        let some = |path: &str| Some(OsString::from(path));
        assert_eq!(cache(some("/x"), some("/home")).unwrap(), Path::new("/x"));
        assert_eq!(cache(some("x"), some("/home")).unwrap(), Path::new("/home/.cache"));
        assert_eq!(cache(None, some("/home")).unwrap(), Path::new("/home/.cache"));
        assert_eq!(cache(None, None).unwrap_err().exit, Exit::BuildFailed);
    }

    #[test]
    fn only_the_newest_results_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let result = |n: u64| {
            let path = home.path().join(n.to_string());
            fs::create_dir(&path).unwrap();
            let file = File::create(path.join(STD)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n)).unwrap();
            path
        };
        let results: Vec<_> = (1..=6).map(result).collect();
        remove_old_results(home.path(), &results[0]);
        let left: Vec<bool> = results.iter().map(|path| path.exists()).collect();
        assert_eq!(left, [true, false, false, true, true, true]);
    }
}
