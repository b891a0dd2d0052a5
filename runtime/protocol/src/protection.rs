//! What protects the memory that threads share, by object and byte: found by the shim, kept in the
//! executable, and printed by `cargo lockred audit --accesses`.

use crate::section::Section;
use crate::sites::SiteId;
use serde::{Deserialize, Serialize};

/// Set to 1: the shim finds what protects what.
pub const PROTECTION: &str = "LOCKRED_PROTECTION";

/// What protects some bytes, since they were published.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// One lock is held at all accesses, alone at those that write.
    Locked,
    /// Nobody writes them.
    Unwritten,
    /// They are accessed by atomic operations, or by functions outside of the program.
    Operation,
    /// Nothing that is known.
    Shared,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Locked, Self::Unwritten, Self::Operation, Self::Shared];

    /// As it is printed.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Unwritten => "unwritten",
            Self::Operation => "operation",
            Self::Shared => "shared",
        }
    }
}

/// A lock that protects some bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lock {
    /// In the same block of memory: so many bytes from where the bytes are counted from.
    Own(i64),
    /// In a global variable, by its name, so many bytes from its beginning.
    Global(String, i64),
}

/// Memory that threads share: all blocks that are made in one place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Object {
    /// As people call it.
    pub name: String,
    /// The user's own code makes it.
    pub users: bool,
}

/// Bytes of an object of which the same is known.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Index into [`Protection::objects`].
    pub object: u32,
    /// The first byte; of each element, if it has elements.
    pub start: u64,
    /// The byte after the last one; `None`: all that follow.
    pub end: Option<u64>,
    /// What protects them.
    pub class: Class,
    /// Locks that are held at all accesses.
    pub locks: Vec<Lock>,
    /// A plain access to them, in the user's own code.
    pub site: Option<SiteId>,
}

/// Where threads begin, and what they may operate on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// As people call it.
    pub name: String,
    /// Indices into [`Protection::objects`].
    pub objects: Vec<u32>,
}

/// What protects what.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Protection {
    /// Whether the program was analysed: otherwise, nothing is known.
    pub known: bool,
    /// Memory that threads share.
    pub objects: Vec<Object>,
    /// Its parts that are accessed once it is shared, in order of object and place.
    pub fields: Vec<Field>,
    /// Where threads begin.
    pub threads: Vec<Thread>,
}

impl Section for Protection {
    const NAME: &'static str = "lockred_protect";
    const WHAT: &'static str = "protection";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let field = Field {
            object: 0,
            start: 8,
            end: None,
            class: Class::Locked,
            locks: vec![Lock::Own(-8), Lock::Global("M".into(), 0)],
            site: Some(SiteId(3)),
        };
        let protection = Protection {
            known: true,
            objects: vec![Object { name: "A".into(), users: true }],
            fields: vec![field],
            threads: vec![Thread { name: "main".into(), objects: vec![0] }],
        };
        assert_eq!(Protection::decode(&protection.encode()), Ok(protection));
    }
}
