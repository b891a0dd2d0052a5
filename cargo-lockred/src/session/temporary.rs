//! The temporary directory of one exploration process: empty when the process begins, removed after
//! it.
//!
//! Randomness from the system is one fixed stream, so that names which programs draw for their
//! temporary files come again in every process, and processes of several tests run side by side: in
//! a common directory they would meet each other's files. Programs see its path, on which hashes
//! and lengths depend, so that the path must be the same whenever the test is run: it is made from
//! the executable and its arguments, and a number where the same test is run twice at a time.

use super::Launch;
use super::leftovers::take;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What the names of the directories begin with.
pub const PREFIX: &str = "cargo-lockred-tmp-";
/// The same test may be run so many times at a time.
const NUMBERS: u32 = 10;

/// A temporary directory; it is removed with this value.
pub struct Temporary {
    path: PathBuf,
    _lock: File,
}

impl Temporary {
    /// The directory for a launch, in the temporary directory of the system; `None` where it cannot
    /// be made: then the program gets what the system has.
    pub fn of(launch: &Launch) -> Option<Self> {
        let mut hasher = DefaultHasher::new();
        (&launch.executable, &launch.arguments).hash(&mut hasher);
        let name = format!("{PREFIX}{:08x}", hasher.finish() as u32);
        let above = std::env::temp_dir();
        (0..NUMBERS).find_map(|number| Self::make(&above.join(format!("{name}-{number}"))).ok())
    }

    /// Makes the directory, or takes one that a process which was killed has left.
    fn make(path: &Path) -> io::Result<Self> {
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let lock = take(path)?;
        empty(path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes everything in a directory.
fn empty(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_empty_and_has_one_owner() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("a");
        let first = Temporary::make(&path).unwrap();
        assert!(Temporary::make(&path).is_err());
        fs::create_dir(path.join("more")).unwrap();
        fs::write(path.join("more").join("file"), "text").unwrap();
        drop(first);
        assert!(!path.exists());
        // As a process leaves it that was killed.
        fs::create_dir_all(path.join("more")).unwrap();
        fs::write(path.join("file"), "text").unwrap();
        let second = Temporary::make(&path).unwrap();
        assert_eq!(fs::read_dir(second.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_test_has_the_same_directory_whenever_it_runs() {
        let launch = |test: &str| Launch {
            executable: "/a/program".into(),
            arguments: vec![test.into()],
            directory: "/".into(),
            environment: Vec::new(),
        };
        let path = |test| Temporary::of(&launch(test)).unwrap().path().to_owned();
        assert_eq!(path("one"), path("one"));
        assert_ne!(path("one"), path("other"));
        let (one, again) = (Temporary::of(&launch("one")), Temporary::of(&launch("one")));
        let [one, again] = [one, again].map(|it| it.unwrap().path().to_owned());
        assert_ne!(one, again);
        assert_eq!(one.as_os_str().len(), again.as_os_str().len());
    }
}
