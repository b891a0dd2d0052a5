//! What a package does with memory that threads share, as far as its compiled code tells: found by
//! the shim, kept in the executable, and joined with the source by `cargo lockred audit`.

use crate::section::Section;
use crate::sites::SiteId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A file with what is audited, a [`Line`] each: an environment variable that cargo-lockred sets
/// and the shim reads.
pub const AUDIT: &str = "LOCKRED_AUDIT";

/// A line of the file that [`AUDIT`] names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Line {
    /// A file: what is compiled of it is reported.
    File(String),
    /// A crate, whose types are reported field by field.
    Crate(String),
    /// A function that others may call: the file, and the line of its name.
    Public(String, u32),
}

impl Line {
    /// As it is written.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::File(path) => format!("file {path}"),
            Self::Crate(name) => format!("crate {name}"),
            Self::Public(file, line) => format!("public {line} {file}"),
        }
    }

    /// Reads a line; `None` for what is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "file" => Some(Self::File(rest.to_owned())),
            "crate" => Some(Self::Crate(rest.to_owned())),
            "public" => {
                let (line, file) = rest.split_once(' ')?;
                Some(Self::Public(file.to_owned(), line.parse().ok()?))
            }
            _ => None,
        }
    }
}

/// By what an address is reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// By nothing but `&mut` references, boxes and local variables: nobody else has it, by Rust's
    /// rules.
    Exclusive,
    /// By a shared reference, or a global variable.
    Shared,
    /// By a raw pointer, or it is not known.
    Raw,
}

/// A memory order, by the name that Rust gives it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Order {
    /// `Relaxed`.
    Relaxed,
    /// `Acquire`.
    Acquire,
    /// `Release`.
    Release,
    /// `AcqRel`.
    AcqRel,
    /// `SeqCst`.
    SeqCst,
}

impl Order {
    /// Whether a read with it sees what happened before the write that it reads from.
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether a write with it shows what happened before to who reads it.
    #[must_use]
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// What an atomic operation does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write.
    Update,
    /// A compare-exchange.
    Exchange,
    /// A fence.
    Fence,
}

impl Kind {
    /// Whether it reads.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Load | Self::Update | Self::Exchange)
    }

    /// Whether it writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Update | Self::Exchange)
    }
}

/// A plain access to memory that threads may share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Access {
    /// Where.
    pub site: SiteId,
    /// What, by type and field; empty if it has no name.
    pub object: String,
    /// It writes.
    pub write: bool,
    /// By what it gets there.
    pub way: Way,
    /// Locks that are surely held.
    pub locks: Vec<String>,
    /// Something in the same function, or in one that it calls, may have acquired before: an atomic
    /// operation, or a lock.
    pub acquired: bool,
    /// Something may release after it.
    pub released: bool,
}

/// An atomic operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Atomic {
    /// Where.
    pub site: SiteId,
    /// On what, by type and field; empty if it has no name, and for fences.
    pub object: String,
    /// What it does.
    pub kind: Kind,
    /// Its order; of an exchange that succeeds.
    pub order: Order,
    /// The order of an exchange that fails.
    pub failure: Option<Order>,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Held {
    /// Its name.
    pub lock: String,
    /// Where the package asks for it.
    pub site: SiteId,
}

/// A lock is acquired, by an operation that waits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Acquire {
    /// Where the package asks for it.
    pub site: SiteId,
    /// Its name.
    pub lock: String,
    /// With others, who only read.
    pub shared: bool,
    /// What may be held then; none, if there is nothing.
    pub held: Option<Held>,
    /// That is surely held then.
    pub sure: bool,
    /// The two are, or may be, one lock, or two of one kind in either order.
    pub alike: bool,
}

/// A call in the package.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Call {
    /// Where.
    pub site: SiteId,
    /// Index into [`Audit::functions`]: who calls.
    pub from: u32,
    /// Index into [`Audit::functions`]: who is called, if that is of the package.
    pub to: Option<u32>,
    /// The plain path of who is called; empty if that is not known.
    pub callee: String,
    /// Locks that are surely held, as far as the caller has acquired them.
    pub held: Vec<Held>,
}

/// A function of the package.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its demangled name.
    pub name: String,
    /// The file, as the compiler wrote it.
    pub file: String,
    /// The line of its name.
    pub line: u32,
}

/// What is reported of a package.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Audit {
    /// Whether the program was analysed as a whole: otherwise, all memory counts as shared, and no
    /// locks are known.
    pub known: bool,
    /// Whether the order of locks is known.
    pub ordered: bool,
    /// Functions of the package that were compiled.
    pub functions: Vec<Function>,
    /// Plain accesses, in the order of sites.
    pub accesses: Vec<Access>,
    /// Atomic operations.
    pub atomics: Vec<Atomic>,
    /// Locks that are acquired.
    pub acquires: Vec<Acquire>,
    /// Calls.
    pub calls: Vec<Call>,
    /// Lines and columns, by file, of what is compiled of the package's calls and atomic
    /// operations.
    pub positions: BTreeMap<String, BTreeSet<(u32, u32)>>,
}

impl Section for Audit {
    const NAME: &'static str = "lockred_audit";
    const WHAT: &'static str = "audit";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        for line in [
            Line::File("/a b".into()),
            Line::Crate("c".into()),
            Line::Public("/a b/src/lib.rs".into(), 12),
        ] {
            assert_eq!(Line::parse(&line.text()), Some(line));
        }
        assert_eq!(Line::parse("nothing"), None);
    }
}
