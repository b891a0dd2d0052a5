//! The texts of the repository, and the words in them.

use std::collections::BTreeMap;
use std::path::Path;

/// Endings of files that are read.
const ENDINGS: &[&str] = &["md", "rs", "toml"];

/// The texts of a repository, by their paths from its root.
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    /// The tree of these files.
    pub fn new(files: BTreeMap<String, String>) -> Self {
        Self(files)
    }

    /// This repository, without what is built or hidden.
    pub fn read() -> Self {
        let mut files = BTreeMap::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        read(root, "", &mut files);
        Self(files)
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// All files below a path.
    pub fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files().filter(move |(file, _)| file.starts_with(path))
    }

    /// The text of a file that is known to exist.
    pub fn text(&self, path: &str) -> &str {
        self.0.get(path).unwrap_or_else(|| panic!("{path} is missing"))
    }

    /// The text of a file, if there is one.
    pub fn find(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Whether a path leads to a file or a directory.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.0.contains_key(path)
            || self.below(path).any(|(file, _)| file[path.len()..].starts_with('/'))
    }

    /// Whether the path of some file ends with this one.
    pub fn has_ending(&self, path: &str) -> bool {
        let below = format!("/{path}");
        self.files().any(|(file, _)| file == path || file.ends_with(&below))
    }

    /// The texts of Rust files.
    pub fn code(&self) -> impl Iterator<Item = &str> {
        self.files().filter(|(path, _)| path.ends_with(".rs")).map(|(_, text)| text)
    }

    /// Names of modules, directories and packages.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.files().flat_map(|(path, _)| path.trim_end_matches(".rs").split('/'))
    }
}

/// Adds what is in a directory.
fn read(directory: &Path, path: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(directory).expect("a directory of the repository can be read") {
        let entry = entry.expect("an entry can be read");
        let name = entry.file_name().into_string().expect("names are text");
        let below = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        if name.starts_with('.') || name == "target" {
            continue;
        }
        if entry.file_type().expect("a kind of entry").is_dir() {
            read(&entry.path(), &below, files);
        } else if ENDINGS.iter().any(|ending| name.ends_with(&format!(".{ending}"))) {
            files.insert(below, std::fs::read_to_string(entry.path()).expect("texts are UTF-8"));
        } else {
            files.insert(below, String::new());
        }
    }
}

/// The identifiers in a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_outside = |c: char| !c.is_alphanumeric() && c != '_';
    text.split(is_outside).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// What stands between backticks in Markdown, outside of blocks of code.
pub fn spans(text: &str) -> impl Iterator<Item = &str> {
    let outside = text.split("\n```").step_by(2);
    outside.flat_map(|part| part.split('`').skip(1).step_by(2))
}

/// Whether a document is about the code, so that what it names has to be there.
pub fn is_about_code(path: &str) -> bool {
    ["ARCHITECTURE.md", "docs/algorithm.md", "docs/glossary.md"].contains(&path)
        || path.starts_with("docs/decisions/")
}

/// Whether a span is the path of a file in the repository.
pub fn is_file(span: &str) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    span.chars().all(is_path) && [".rs", ".toml", ".txt"].iter().any(|end| span.ends_with(end))
}

/// Whether a span is the name of a type, of a part of one, or of a function with a path.
pub fn is_name(span: &str) -> bool {
    let is_identifier =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut parts = span.split("::");
    let is_type = |c: char| c.is_uppercase();
    parts.clone().all(is_identifier)
        && (parts.clone().count() > 1 || parts.any(|part| part.starts_with(is_type)))
}
