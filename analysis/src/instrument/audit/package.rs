//! What is audited: the package's files and crates, and the functions that others may call, as
//! cargo-lockred says in a file.

use crate::llvm::{Context, Function, Instruction, Module};
use crate::recognise::is_of_std;
use lockred_protocol::audit::{AUDIT, Line};
use std::collections::HashSet;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Package {
    files: HashSet<String>,
    crates: HashSet<String>,
    public: HashSet<(String, u32)>,
    /// All crates are its own, but those of std.
    all: bool,
}

impl Package {
    /// What the environment names, if anything.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn from_environment() -> Result<Option<Self>, String> {
        let Some(path) = std::env::var_os(AUDIT).filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|e| format!("cannot read {}: {e}", path.to_string_lossy()))?;
        Ok(Some(Self::of(text.lines().filter_map(Line::parse))))
    }

    /// What gives names where nothing is audited: all crates of a program but those of std.
    #[must_use]
    pub fn of_all() -> Self {
        Self { all: true, ..Self::default() }
    }

    fn of(lines: impl Iterator<Item = Line>) -> Self {
        let mut package = Self::default();
        for line in lines {
            match line {
                Line::File(path) => _ = package.files.insert(path),
                Line::Crate(name) => _ = package.crates.insert(name),
                Line::Public(file, line) => _ = package.public.insert((file, line)),
            }
        }
        package
    }

    /// Whether a file is one of the package's.
    pub fn has_file(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// Whether a crate is one of the package's.
    pub fn has_crate(&self, name: &str) -> bool {
        match self.all {
            true => !is_of_std(&format!("{name}::")),
            false => self.crates.contains(name),
        }
    }

    /// Whether a function's source is in the package.
    pub fn has(&self, function: Function) -> bool {
        function.place().is_some_and(|(file, _)| self.has_file(&file))
    }

    /// Whether an instruction's source, or that of a call that it was inlined at, is in the
    /// package.
    pub fn has_instruction(&self, at: Instruction) -> bool {
        let mut next = at.location();
        while let Some(location) = next {
            if self.has_file(&location.file()) {
                return true;
            }
            next = location.inlined_at();
        }
        false
    }

    /// Makes functions of the package visible that others may call, or that nobody calls; their
    /// symbols. So they stay, and count as called by those who are not known.
    #[must_use]
    pub fn open(&self, context: Context, module: &Module) -> HashSet<String> {
        let mut opened = HashSet::new();
        for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
            let Some((file, line)) = function.place() else { continue };
            let is_public =
                self.public.contains(&(file.clone(), line)) && !takes_closure(context, function);
            let is_open = self.has_file(&file) && (function.value().is_unused() || is_public);
            if is_open {
                function.externalise();
                opened.insert(function.name());
            }
        }
        opened
    }
}

/// Whether a function takes a closure: it was compiled for that one, so nobody calls it who does
/// not have it.
fn takes_closure(context: Context, function: Function) -> bool {
    let declared = function.declared_types(context);
    // The first is what it returns.
    declared.iter().skip(1).flatten().any(|of| of.name().contains("{closure"))
}
