//! Operations: what a thread is about to do at the boundary where it is stopped.

use crate::memory::words::load;
use lockred_protocol::hooks::{Act, Class, How, Order, Test};
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

/// What an atomic operation does to its word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atomic {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes.
    Rmw,
    /// Writes if the word has this value.
    CompareExchange {
        /// The value.
        expected: u64,
    },
    /// A weak compare-exchange that fails for no reason: reads.
    Failed,
}

/// When an atomic operation may be executed: when `word & mask` and `value` pass the test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Await {
    /// Bits that count.
    pub mask: u64,
    /// What they are compared with.
    pub value: u64,
    /// How.
    pub test: Test,
}

impl Await {
    /// Whether a word with this value lets the operation proceed.
    pub const fn holds(self, word: u64) -> bool {
        let word = word & self.mask;
        match self.test {
            Test::Equal => word == self.value,
            Test::NotEqual => word != self.value,
            Test::Below => word < self.value,
            Test::AtLeast => word >= self.value,
        }
    }
}

/// An atomic operation with its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AtomicOperation {
    /// What it does.
    pub kind: Atomic,
    /// On which word.
    pub address: usize,
    /// Of how many bytes: 1, 2, 4 or 8.
    pub size: u32,
    /// With which order (of success, for a compare-exchange).
    pub order: Order,
    /// What is known of it.
    pub how: How,
    /// What it waits for.
    pub guard: Option<Await>,
    /// Where.
    pub site: SiteId,
}

impl AtomicOperation {
    /// The word as it is now.
    pub fn word(&self) -> u64 {
        load(self.address, self.size)
    }

    /// Whether it acquires a lock exclusively, and announces itself where it cannot (its guard lets
    /// it proceed then).
    pub fn announces(&self) -> bool {
        self.how.class() == Class::Lock
            && self.guard.is_some_and(|guard| guard.test == Test::NotEqual)
    }

    /// Whether it waits in a loop of the program's own, which the shim has recognised: where it
    /// cannot proceed it would go round.
    pub fn goes_round(&self) -> bool {
        self.guard.is_some() && !self.how.has(How::PRIMITIVE)
    }

    /// Whether it stands for rounds of a loop that are left out, too: it would go round, or begins
    /// a step that may be in vain.
    pub fn leaves_out_rounds(&self) -> bool {
        self.goes_round() || self.how.has(How::OPENS_REGION) && !self.how.has(How::PRIMITIVE)
    }

    /// What it does to its word in vain, if it goes round: an update writes the value that is
    /// there.
    pub fn in_vain(&self) -> Access {
        if self.kind == Atomic::Rmw { Access::Write } else { Access::Read }
    }

    /// Whether it may read a stale value under a weak memory model: what also writes reads the last
    /// one.
    pub fn sees_stale_values(&self) -> bool {
        self.kind == Atomic::Load && self.order != Order::SeqCst
    }

    /// Whether it could be executed now.
    pub fn can_proceed(&self) -> bool {
        self.guard.is_none_or(|guard| guard.holds(self.word()))
    }
}

/// An act on a channel that is known as a whole, with its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChannelOperation {
    /// What it does.
    pub act: Act,
    /// Its address.
    pub channel: usize,
    /// It may give up waiting.
    pub timed: bool,
}

/// What a stopped thread would do next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pending {
    /// A new thread begins.
    Start,
    /// It creates a thread.
    Spawn,
    /// It waits for the end of a thread.
    Join {
        /// The thread's index.
        target: u32,
    },
    /// An atomic operation.
    Atomic(AtomicOperation),
    /// It compares a futex word and enters its queue.
    FutexWait {
        /// The word.
        address: usize,
    },
    /// It is in the queue of a futex.
    FutexQueued {
        /// The word.
        address: usize,
        /// Virtual time at which it gives up.
        deadline: Option<u64>,
    },
    /// It wakes waiters of a futex.
    FutexWake {
        /// The word.
        address: usize,
    },
    /// It sleeps.
    Sleeping {
        /// Virtual time at which that ends.
        until: u64,
    },
    /// It chooses a value.
    Choosing,
    /// It acts on a channel that is known as a whole.
    Channel(ChannelOperation),
    /// It has offered a message, and waits until that is taken or withdrawn.
    Offering {
        /// The channel.
        channel: usize,
    },
    /// It goes round a loop that only reads, or only pauses, and waits for what it read to change
    /// ([`crate::loops::read_only_spin`]).
    Spinning,
    /// It goes round a loop that does the same in every round, and waits for others to do something
    /// ([`crate::loops::writing_spin`]).
    Stuttering,
    /// It goes no further: a condition that was assumed is false.
    Never,
    /// It will never run again.
    Ended,
}

impl Pending {
    /// Whether the thread may wait for something other than a lock.
    pub fn may_wait(&self) -> bool {
        match self {
            Self::Join { .. }
            | Self::FutexWait { .. }
            | Self::FutexQueued { .. }
            | Self::Offering { .. }
            | Self::Spinning
            | Self::Stuttering
            | Self::Never => true,
            Self::Channel(operation) => matches!(operation.act, Act::Send | Act::Receive),
            Self::Atomic(operation) => match operation.how.class() {
                Class::Lock | Class::ReadLock => false,
                Class::CondvarWait => true,
                _ => operation.guard.is_some(),
            },
            Self::Start
            | Self::Spawn
            | Self::FutexWake { .. }
            | Self::Sleeping { .. }
            | Self::Choosing
            | Self::Ended => false,
        }
    }
}
