//! Where the fixture crates are built.

use lockred_tests::fixture;
use std::path::{Path, PathBuf};

/// Where tests may write.
pub fn temporary() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli")
}

/// The copy of a fixture that all tests share: they must not change it.
pub fn shared(name: &str) -> PathBuf {
    fixture::copy(name, &temporary(), name)
}

/// A copy of a fixture for one test.
pub fn own(name: &str, copy: &str) -> PathBuf {
    fixture::copy(name, &temporary(), copy)
}

/// A copy for one test of a fixture that uses the crate `lockred`.
pub fn annotated(name: &str, copy: &str) -> PathBuf {
    fixture::annotated(name, &temporary(), copy)
}

/// An empty directory for one test, outside of every package.
pub fn empty(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("lockred-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}
