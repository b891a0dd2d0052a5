//! A check as far as it has come: what documents are made of.

use crate::executable::source::Sources;
use crate::executable::symbols::Frame;
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::outcome::confirmation::Warned;
use crate::report::span;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A check.
pub struct Run {
    /// The workspace root, which files are relative to; empty before it is known.
    pub root: PathBuf,
    /// The root of what is published together ([`repository`]), or the workspace's.
    pub source_root: PathBuf,
    /// Source files, to tell where things end.
    pub sources: Sources,
    /// When it began.
    pub begun: SystemTime,
    /// The tests that were checked so far.
    pub outcomes: Vec<Outcome>,
    /// Warnings of an audit, with what came of them.
    pub audited: Vec<Warned>,
    /// Whether findings were compared with a baseline.
    pub compared: bool,
    /// How it ended.
    pub end: End,
}

/// How a check ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Not yet; or we were killed.
    UnderWay,
    /// By itself, or by Ctrl-C.
    Finished(Exit),
    /// With an error.
    Error {
        /// The exit status.
        exit: Exit,
        /// As printed.
        message: String,
    },
}

impl Run {
    /// A check that begins.
    pub fn new(compared: bool) -> Self {
        Self {
            root: PathBuf::new(),
            source_root: PathBuf::new(),
            sources: Sources::new(Path::new("")),
            begun: SystemTime::now(),
            outcomes: Vec::new(),
            audited: Vec::new(),
            compared,
            end: End::UnderWay,
        }
    }

    /// The workspace is known.
    pub fn is_of(&mut self, root: &Path) {
        self.root = root.to_owned();
        self.source_root = repository(root, std::env::var_os("GITHUB_WORKSPACE").map(Into::into));
        self.sources = Sources::new(root);
    }

    /// The file of a frame, relative to the root of the sources where it lies in it.
    pub fn file(&self, frame: &Frame) -> PathBuf {
        self.relative(&frame.file)
    }

    /// A file relative to the workspace's root, as one relative to that of the sources.
    pub fn relative(&self, file: &str) -> PathBuf {
        let path = self.root.join(file);
        path.strip_prefix(&self.source_root).map_or(path.clone(), Path::to_owned)
    }

    /// The columns of what begins at a frame, in characters from 1: its first, and the one after
    /// its last.
    pub fn columns(&self, frame: &Frame) -> Option<(usize, usize)> {
        let text = self.sources.text(Path::new(&frame.file))?;
        let range = span::range(&text, frame.line, frame.column)?;
        let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let first = text[line..range.start].chars().count() + 1;
        Some((first, first + text[range].chars().count()))
    }
}

/// The root of the repository that a workspace lies in, which is what code hosts take relative
/// paths to be relative to: where GitHub Actions has checked it out, or the next directory upwards
/// with a `.git`; else the workspace's own root.
fn repository(root: &Path, in_actions: Option<PathBuf>) -> PathBuf {
    let checked_out = in_actions.filter(|place| root.starts_with(place));
    let with_git = || root.ancestors().find(|place| place.join(".git").exists());
    checked_out.unwrap_or_else(|| with_git().unwrap_or(root).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executable::symbols::Origin;

    #[test]
    fn the_repository_is_found_upwards() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("a/b");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir(directory.path().join(".git")).unwrap();
        assert_eq!(repository(&root, None), directory.path());
        assert_eq!(repository(&root, Some(directory.path().join("a"))), directory.path().join("a"));
        assert_eq!(repository(&root, Some("/elsewhere".into())), directory.path());
    }

    #[test]
    fn places_are_reported_in_characters() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x.rs"), "\n    ä.lock(1);\n").unwrap();
        let mut run = Run::new(false);
        run.is_of(directory.path());
        let frame = |column| Frame {
            function: String::new(),
            file: "x.rs".into(),
            line: 2,
            column,
            origin: Origin::User,
        };
        assert_eq!(run.columns(&frame(7)), Some((7, 14)));
        assert_eq!(run.columns(&frame(0)), Some((5, 15)));
        assert_eq!(run.columns(&Frame { line: 9, ..frame(1) }), None);
    }
}
