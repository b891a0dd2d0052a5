//! What the detector is notified of an access, and what it answers: the types of its interface.

use lockred_protocol::hooks::Order;
use lockred_protocol::message::Role;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

/// A call stack that the caller keeps; opaque here. `StackId(0)` means none (while exploring).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StackId(pub u32);

/// Who accesses, and where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct By {
    /// Index of the thread, in creation order within the execution.
    pub thread: u32,
    /// The program point.
    pub site: SiteId,
    /// The call stack, if the caller records them.
    pub stack: StackId,
}

/// How an atomic operation acts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Atomic {
    /// Its memory order. For a failed compare-exchange its failure order: that is an atomic read.
    pub order: Order,
    /// What the footprint of the step says about it. An operation takes no release from one that it
    /// commutes with (see [`super::Detector`]).
    pub access: Access,
    /// It belongs to bookkeeping that no program observes, or to a primitive whose code is trusted
    /// under weak memory: two such operations never count as an unordered weak pair.
    pub trusted: bool,
}

#[cfg(test)]
impl Atomic {
    /// An ordinary load of this order.
    #[must_use]
    pub const fn load(order: Order) -> Self {
        Self { order, access: Access::Read, trusted: false }
    }

    /// An ordinary store or read-modify-write of this order.
    #[must_use]
    pub const fn store(order: Order) -> Self {
        Self { order, access: Access::Write, trusted: false }
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic read.
    AtomicRead,
    /// An atomic write or read-modify-write.
    AtomicWrite,
    /// The deallocation of the memory; conflicts like a plain write.
    Free,
    /// The allocation of the memory; conflicts like a plain write.
    Allocation,
}

impl AccessKind {
    /// Whether it is atomic.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite)
    }

    /// What a place in a report shows with such an access.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::Read => Role::Read,
            Self::Write => Role::Write,
            Self::AtomicRead => Role::AtomicRead,
            Self::AtomicWrite => Role::AtomicWrite,
            Self::Free => Role::Frees,
            Self::Allocation => Role::Allocates,
        }
    }
}

/// One access of a race.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AccessInfo {
    /// Who.
    pub thread: u32,
    /// Where.
    pub site: SiteId,
    /// What.
    pub kind: AccessKind,
    /// First byte. Of an earlier access only the part inside one granule is remembered.
    pub addr: usize,
    /// Number of bytes from `addr`.
    pub size: usize,
    /// The stack that the caller gave.
    pub stack: StackId,
}

/// Two conflicting accesses that happens-before leaves unordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Race {
    /// The one that was executed first.
    pub earlier: AccessInfo,
    /// The one that was executed second: the one under way.
    pub later: AccessInfo,
}
