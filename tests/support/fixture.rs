//! Fixture crates: copied to where tests may build and change them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Copies of fixtures that exist already in this process.
static COPIES: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// Copies `tests/fixtures/<name>` to `<temporary>/<copy>`, once per process. Files that are equal
/// stay as they are, so that what was built from them in an earlier run is still fresh.
///
/// # Panics
/// When it cannot be copied.
#[must_use]
pub fn copy(name: &str, temporary: &Path, copy: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let to = temporary.join(copy);
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    if copies.get_or_insert_default().insert(to.clone()) {
        copy_directory(&from, &to)
            .unwrap_or_else(|e| panic!("cannot copy {} to {}: {e}", from.display(), to.display()));
    }
    to
}

/// Copies a fixture that uses the crate `lockred`: that is a dependency by path, which a copy does
/// not find by itself. Once per process.
///
/// # Panics
/// When it cannot be copied.
#[must_use]
pub fn annotated(name: &str, temporary: &Path, copy: &str) -> PathBuf {
    let fixture = self::copy(name, temporary, copy);
    let manifest = fixture.join("Cargo.toml");
    let annotations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/annotations");
    let dependency = format!("lockred = {{ path = {annotations:?} }}\n");
    let add = || {
        let text = std::fs::read_to_string(&manifest)?;
        let head = text.split_once("[dependencies]\n").map_or(&*text, |(head, _)| head);
        std::fs::write(&manifest, format!("{head}[dependencies]\n{dependency}"))
    };
    add().unwrap_or_else(|e| panic!("cannot change {}: {e}", manifest.display()));
    fixture
}

/// Copies what differs.
fn copy_directory(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "target" {
            continue;
        } else if entry.file_type()?.is_dir() {
            copy_directory(&source, &target)?;
        } else if std::fs::read(&target).ok() != Some(std::fs::read(&source)?) {
            std::fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
