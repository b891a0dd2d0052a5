//! Comparing a text with the file that has it, or writing the file.

use std::fs;
use std::path::Path;

/// Whether files are to be written.
pub fn is_blessed() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a text with a file beside this one, or writes the file.
#[track_caller]
pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/expected").join(name);
    if is_blessed() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    same(&expected, text, name);
}

/// Fails with the first difference.
#[track_caller]
pub fn same(expected: &str, text: &str, what: &str) {
    if expected == text {
        return;
    }
    let (mut old, mut new) = (expected.lines(), text.lines());
    let mut number = 1;
    loop {
        match (old.next(), new.next()) {
            (Some(a), Some(b)) if a == b => number += 1,
            (old, new) => panic!(
                "{what} differs from line {number} on (BLESS=1 writes it anew)\nexpected: {}\nis:       {}",
                old.unwrap_or("(the end)"),
                new.unwrap_or("(the end)")
            ),
        }
    }
}
