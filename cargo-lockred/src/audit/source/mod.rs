//! What the source of a package says: its files, parsed, whether or not anything of them is
//! compiled.
//!
//! Modules are followed from the root of each target. Code that macros make is not seen; how many
//! calls of macros there are is reported.

mod atomics;
mod bounds;
mod given_back;
mod guards;
mod modules;
mod types;
mod visit;

pub use atomics::{Lent, Operation, Orders};
pub use types::{Holds, Static, Type, Use};

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

/// From one position to another one, that excluded.
pub type Span = (Position, Position);

/// Which trait is implemented by hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Trait {
    /// Values may go to other threads.
    Send,
    /// References may.
    Sync,
}

impl Trait {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "Send",
            Self::Sync => "Sync",
        }
    }
}

/// An `unsafe impl Send` or `Sync`.
#[derive(Clone, Debug)]
pub struct Impl {
    /// Which trait.
    pub of: Trait,
    /// The type's name.
    pub name: String,
    /// Its path in the crate, if it is declared in the same module.
    pub path: String,
    /// As it is written, up to its body.
    pub text: String,
    /// Type parameters of which nothing is asked.
    pub unbounded: Vec<String>,
    /// Where.
    pub at: Position,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// With the type that it is of.
    pub name: String,
    /// That type.
    pub of: Option<String>,
    /// Lines that the compiler may say it begins in.
    pub lines: (u32, u32),
    /// Its whole text.
    pub span: Span,
    /// It, or what it is in, has type parameters.
    pub generic: bool,
    /// Others may call it.
    pub public: bool,
    /// It has its value for itself: `self` or `&mut self`.
    pub exclusive: bool,
    /// Its callers promise something.
    pub is_unsafe: bool,
}

/// A lock's guard that is alive across `.await`.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// The guard.
    pub guard: String,
    /// Where the lock is acquired.
    pub acquired: Position,
    /// Where is waited.
    pub at: Position,
    /// The function.
    pub function: String,
}

/// What one file has.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The path of its module in the crate.
    pub module: Vec<String>,
    /// Its lines.
    pub lines: Vec<String>,
    /// Spans of what is compiled for tests only.
    pub tests: Vec<Span>,
    /// Spans of unsafe blocks, and of the bodies of unsafe functions.
    pub unsafe_code: Vec<Span>,
    /// How many of them are blocks.
    pub unsafe_blocks: usize,
    /// Implementations of `Send` and `Sync`.
    pub impls: Vec<Impl>,
    /// Structures, enumerations and unions.
    pub types: Vec<Type>,
    /// Other names of types: the name, its parameters, and what it uses.
    pub aliases: Vec<(String, Vec<String>, Vec<Use>)>,
    /// Static variables.
    pub statics: Vec<Static>,
    /// Functions, without those of tests.
    pub functions: Vec<Function>,
    /// Atomic operations.
    pub atomics: Vec<Operation>,
    /// Fields that methods give to closures.
    pub lent: Vec<Lent>,
    /// Lines of calls with a closure that gives back a lock which the caller holds.
    pub given_back: BTreeSet<u32>,
    /// Guards across `.await`.
    pub awaited: Vec<Awaited>,
    /// Calls of macros with code in them that is not seen.
    pub macros: usize,
}

impl File {
    fn within(spans: &[Span], at: Position) -> bool {
        spans.iter().any(|(start, end)| *start <= at && at < *end)
    }

    /// Whether a place is compiled for tests only.
    pub fn is_test(&self, at: Position) -> bool {
        Self::within(&self.tests, at)
    }

    /// Whether a place is in unsafe code.
    pub fn is_unsafe(&self, at: Position) -> bool {
        Self::within(&self.unsafe_code, at)
    }

    /// The innermost function around a place.
    pub fn function(&self, at: Position) -> Option<&Function> {
        let around = self.functions.iter().filter(|f| f.span.0 <= at && at < f.span.1);
        around.max_by_key(|function| function.span.0)
    }

    /// A line's text.
    pub fn line(&self, line: u32) -> &str {
        let index = (line as usize).checked_sub(1);
        index.and_then(|index| self.lines.get(index)).map_or("", String::as_str)
    }
}

/// The source of some targets.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// By path, absolute.
    pub files: BTreeMap<PathBuf, File>,
    /// Files that cannot be read or parsed, and why.
    pub unread: Vec<(PathBuf, String)>,
}

impl Source {
    /// Reads targets, from the root of each.
    pub fn read<'a>(roots: impl Iterator<Item = &'a Path>) -> Self {
        let mut source = Self::default();
        for root in roots {
            modules::read(&mut source, root);
        }
        source
    }

    /// Leaves out files of which nothing is compiled, where something is of another file that is
    /// the same module: for other features and platforms.
    pub fn choose(&mut self, is_compiled: impl Fn(&Path, &Function) -> bool) {
        let mut compiled: BTreeSet<Vec<String>> = BTreeSet::new();
        let mut idle: Vec<PathBuf> = Vec::new();
        for (path, file) in &self.files {
            match file.functions.iter().any(|function| is_compiled(path, function)) {
                true => _ = compiled.insert(file.module.clone()),
                false => idle.push(path.clone()),
            }
        }
        for path in idle {
            let file = self.files.get(&path).map(|file| file.module.clone());
            if file.is_some_and(|module| !module.is_empty() && compiled.contains(&module)) {
                self.files.remove(&path);
                self.unread.push((
                    path,
                    "another file is this module, as the package was compiled".into(),
                ));
            }
        }
    }

    /// Everything of a kind, with its file.
    pub fn all<'a, T: 'a>(
        &'a self,
        of: impl Fn(&'a File) -> &'a [T] + 'a,
    ) -> impl Iterator<Item = (&'a Path, &'a T)> {
        self.files.iter().flat_map(move |(path, file)| of(file).iter().map(|it| (&**path, it)))
    }
}

#[cfg(test)]
mod tests;
