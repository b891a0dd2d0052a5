//! In which order a program may acquire its locks: found by the shim, kept in the executable, and
//! printed by `cargo lockred audit --accesses`.

use crate::section::Section;
use crate::sites::SiteId;
use serde::{Deserialize, Serialize};

/// Set to the name of a [`Programs`]: in which programs the shim finds the order of locks; in none
/// if it is not set.
pub const LOCK_ORDER: &str = "LOCKRED_LOCK_ORDER";

/// In which programs the order of locks is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Programs {
    /// In none.
    #[default]
    None,
    /// In those that are so small that it costs little of what the build does.
    Small,
    /// In all but those that are too large for the analysis.
    All,
}

impl Programs {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Small, Self::All];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Small => "small",
            Self::All => "all",
        }
    }

    /// The one of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|found| found.name() == name)
    }
}

/// A lock that may be held, or wanted, at one place of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Taken {
    /// Indices into [`LockOrder::locks`]: it is one of these. None: nothing is known of it.
    pub locks: Vec<u32>,
    /// The operation that acquires it.
    pub site: SiteId,
    /// Where the user's code asks for that.
    pub call: SiteId,
    /// With others, who only read.
    pub shared: bool,
}

/// A lock may be acquired, by an operation that waits, while another one is held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Nesting {
    /// What is held.
    pub held: Taken,
    /// What is acquired.
    pub wanted: Taken,
    /// How far the second is from the first, if they are surely parts of one block.
    pub apart: Option<i64>,
    /// The function that passes the locks to those that acquire them, or does so itself.
    pub within: String,
    /// Indices into [`LockOrder::locks`]: locks that are held exclusively then, as far as each is
    /// one lock.
    pub gates: Vec<u32>,
    /// The first is surely held then; otherwise it may be, for all that is known.
    pub sure: bool,
    /// Indices into [`LockOrder::threads`]: who may run it.
    pub threads: Vec<u32>,
}

/// What a cycle comes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Threads may wait for each other.
    Cycle,
    /// A lock is held at all of it, which keeps threads apart.
    Gated,
    /// One thread runs all of it, so that nobody waits.
    OneThread,
    /// The two locks of one nesting are of one kind: they are, or may be, the same, or be taken in
    /// the other order by another thread.
    SameKind,
}

impl Kind {
    /// As it is printed.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Cycle => "cycle",
            Self::Gated => "gated",
            Self::OneThread => "one-thread",
            Self::SameKind => "same-kind",
        }
    }
}

/// Nestings that come back to where they began.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Cycle {
    /// What it comes to.
    pub kind: Kind,
    /// Indices into [`LockOrder::nestings`]: what each wants, the next one holds.
    pub nestings: Vec<u32>,
    /// What the next one holds: for each, an index into [`LockOrder::locks`].
    pub locks: Vec<u32>,
}

/// The order in which locks may be acquired.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LockOrder {
    /// Whether the program was analysed: otherwise, nothing is known.
    pub known: bool,
    /// Locks, as people call them.
    pub locks: Vec<String>,
    /// Where threads begin, as people call it.
    pub threads: Vec<String>,
    /// All nestings, in their order.
    pub nestings: Vec<Nesting>,
    /// Where locks of std's own are acquired, which are left out.
    pub left_out: Vec<SiteId>,
    /// One for each set of nestings that lead to each other.
    pub cycles: Vec<Cycle>,
}

impl Section for LockOrder {
    const NAME: &'static str = "lockred_order";
    const WHAT: &'static str = "order of locks";
}

impl LockOrder {
    /// A lock's name; empty when out of range.
    #[must_use]
    pub fn lock(&self, index: u32) -> &str {
        self.locks.get(index as usize).map_or("", String::as_str)
    }
}
