//! Symbols: what is known of a value, in terms of the function that has it.

use crate::facts::flow::Point;
use crate::facts::{GlobalId, Register};

/// Where an address comes from. In one call of a function a root stands for one value, until what
/// computes it is executed again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Root {
    /// A global variable.
    Global(GlobalId),
    /// What was passed.
    Parameter(Register),
    /// A stack variable of the function's own.
    Variable(Register),
    /// What was in memory when the function was called, so many bytes after what was passed.
    Content(Register, i64),
    /// The same, if only those who are passed its address access that memory: callers know. It
    /// counts for what may be held alone.
    Assumed(Register, i64),
    /// What an instruction computed.
    Result(Register),
    /// What a call computed, by a number of its own.
    Given(Point, u32),
}

/// An address: so many bytes after a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol {
    /// See [`Root`].
    pub root: Root,
    /// Bytes.
    pub offset: i64,
}

impl Symbol {
    /// The root itself.
    #[must_use]
    pub const fn of(root: Root) -> Self {
        Self { root, offset: 0 }
    }

    /// Whether a function's callers know what it stands for.
    #[must_use]
    pub const fn is_outside(self) -> bool {
        use Root::*;
        matches!(self.root, Global(_) | Parameter(_) | Content(..) | Assumed(..))
    }

    /// The address so many bytes further.
    #[must_use]
    pub const fn plus(self, bytes: i64) -> Self {
        Self { root: self.root, offset: self.offset.wrapping_add(bytes) }
    }

    /// Whether two addresses are different wherever both are known, by what they are called.
    #[must_use]
    pub fn differs_from(self, other: Self) -> bool {
        use Root::*;
        match (self.root, other.root) {
            (a, b) if a == b => self.offset != other.offset,
            (Global(_), Global(_)) | (Variable(_), Variable(_)) => true,
            // A variable is younger than whatever its function was given.
            (Variable(_), Global(_) | Parameter(_) | Content(..)) => true,
            (Global(_) | Parameter(_) | Content(..), Variable(_)) => true,
            _ => false,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Known {
    /// It is this number.
    Number(u64),
    /// It is this address, or whatever else a root stands for.
    At(Symbol),
}

impl Known {
    /// The address so many bytes further.
    pub fn plus(self, bytes: i64) -> Option<Self> {
        match self {
            Self::At(symbol) => Some(Self::At(symbol.plus(bytes))),
            Self::Number(_) if bytes == 0 => Some(self),
            Self::Number(_) => None,
        }
    }

    /// The address, if it is one.
    #[must_use]
    pub const fn symbol(self) -> Option<Symbol> {
        match self {
            Self::At(symbol) => Some(symbol),
            Self::Number(_) => None,
        }
    }
}
