//! Source files, read once, as what is reported needs them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The source files that were asked for so far.
#[derive(Debug)]
pub struct Sources {
    root: PathBuf,
    files: RefCell<HashMap<PathBuf, Option<Rc<str>>>>,
}

impl Sources {
    /// Relative paths are relative to `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: RefCell::default() }
    }

    /// The text of a file; `None` when it cannot be read.
    pub fn text(&self, path: &Path) -> Option<Rc<str>> {
        let path = self.root.join(path);
        let mut files = self.files.borrow_mut();
        let read = |path: &PathBuf| std::fs::read_to_string(path).ok().map(Rc::from);
        files.entry(path).or_insert_with_key(read).clone()
    }

    /// A column in characters, given one in bytes as debug information has it; both count from 1, 0
    /// is unknown.
    pub fn character_column(&self, path: &Path, line: u32, byte_column: u32) -> u32 {
        let Some(text) = self.text(path) else { return byte_column };
        let Some(line) = line_text(&text, line) else { return byte_column };
        let bytes = (byte_column as usize).saturating_sub(1).min(line.len());
        let characters = line.bytes().take(bytes).filter(|byte| byte & 0xc0 != 0x80).count();
        if byte_column == 0 { 0 } else { u32::try_from(characters + 1).unwrap_or(byte_column) }
    }
}

/// A line of a text, from 1.
pub fn line_text(text: &str, line: u32) -> Option<&str> {
    text.lines().nth((line as usize).checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x.rs"), "ascii\näöü = lock();\n").unwrap();
        let sources = Sources::new(directory.path());
        let column = |line, byte| sources.character_column(Path::new("x.rs"), line, byte);
        assert_eq!(column(1, 3), 3);
        assert_eq!(column(2, 10), 7);
        assert_eq!(column(2, 0), 0);
        assert_eq!(column(9, 4), 4, "no such line");
        assert_eq!(sources.character_column(Path::new("none.rs"), 1, 5), 5);
    }
}
