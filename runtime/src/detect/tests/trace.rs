//! Traces for the detector's tests: what threads do, in the order in which it is executed.

use crate::detect::{Atomic, By, Detector, Race, StackId};
use lockred_protocol::hooks::Order;
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

/// What one event of a trace does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Act {
    /// Plain accesses to `addr..addr + size`.
    Read {
        addr: usize,
        size: usize,
    },
    Write {
        addr: usize,
        size: usize,
    },
    Free {
        addr: usize,
        size: usize,
    },
    /// The range begins a new life.
    Allocated {
        addr: usize,
        size: usize,
    },
    /// The block for which this word stands is allocated, or used.
    Born(usize),
    Uses(usize),
    /// Atomic operations.
    Load {
        addr: usize,
        size: usize,
        op: Atomic,
    },
    Store {
        addr: usize,
        size: usize,
        op: Atomic,
    },
    Update {
        addr: usize,
        size: usize,
        op: Atomic,
    },
    Fence(Order),
    /// Creates the thread with the next number.
    Spawn(u32),
    Join(u32),
}

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    pub thread: u32,
    pub act: Act,
}

impl Act {
    /// The bytes it accesses, if it is an access.
    pub fn range(self) -> Option<std::ops::Range<usize>> {
        match self {
            Self::Read { addr, size } | Self::Write { addr, size } | Self::Free { addr, size } => {
                Some(addr..addr + size)
            }
            Self::Load { addr, size, .. }
            | Self::Store { addr, size, .. }
            | Self::Update { addr, size, .. } => Some(addr..addr + size),
            Self::Born(addr) | Self::Uses(addr) => Some(addr..addr + 8),
            _ => None,
        }
    }

    /// The atomic operation, if it is one.
    pub fn atomic(self) -> Option<Atomic> {
        match self {
            Self::Load { op, .. } | Self::Store { op, .. } | Self::Update { op, .. } => Some(op),
            _ => None,
        }
    }

    /// Whether it writes (or frees) memory.
    pub fn writes(self) -> bool {
        let reads = matches!(self, Self::Read { .. } | Self::Load { .. } | Self::Uses(_));
        !reads && self.range().is_some()
    }
}

/// What the detector says to one event.
pub struct Answer {
    /// The race, if it reported one.
    pub race: Option<Race>,
    /// Whether an unordered weak pair was seen up to here.
    pub weak_pair: bool,
}

/// Runs a trace from a reset; event `i` is reported as site `site(i)`.
pub fn run(detector: &mut Detector, trace: &[Event], site: fn(usize) -> u32) -> Vec<Answer> {
    detector.reset();
    let mut answers = Vec::new();
    for (i, event) in trace.iter().enumerate() {
        let by = By { thread: event.thread, site: SiteId(site(i)), stack: StackId(7) };
        let race = match event.act {
            Act::Read { addr, size } => detector.read(by, addr, size),
            Act::Write { addr, size } => detector.write(by, addr, size),
            Act::Free { addr, size } => detector.freed(by, addr, size),
            Act::Load { addr, size, op } => detector.atomic_read(by, addr, size, op),
            Act::Store { addr, size, op } => detector.atomic_write(by, addr, size, op),
            Act::Update { addr, size, op } => detector.atomic_rmw(by, addr, size, op),
            Act::Allocated { addr, size } => {
                detector.allocated(addr, size);
                None
            }
            Act::Born(addr) => {
                detector.born(by, addr);
                None
            }
            Act::Uses(addr) => detector.uses(by, addr),
            Act::Fence(order) => {
                detector.fence(event.thread, order);
                None
            }
            Act::Spawn(child) => {
                detector.spawn(event.thread, child);
                None
            }
            Act::Join(ended) => {
                detector.join(event.thread, ended);
                None
            }
        };
        answers.push(Answer { race, weak_pair: detector.saw_unordered_weak_pair() });
    }
    answers
}

/// Shorthands for hand-written traces: one eight-byte word per name.
pub mod short {
    use super::{Access, Act, Atomic, Event, Order};

    pub fn at(word: usize) -> usize {
        0x1000 + 8 * word
    }
    pub fn on(thread: u32, act: Act) -> Event {
        Event { thread, act }
    }
    pub fn read(thread: u32, word: usize) -> Event {
        on(thread, Act::Read { addr: at(word), size: 8 })
    }
    pub fn write(thread: u32, word: usize) -> Event {
        on(thread, Act::Write { addr: at(word), size: 8 })
    }
    pub fn load(thread: u32, word: usize, order: Order) -> Event {
        on(thread, Act::Load { addr: at(word), size: 8, op: Atomic::load(order) })
    }
    pub fn store(thread: u32, word: usize, order: Order) -> Event {
        on(thread, Act::Store { addr: at(word), size: 8, op: Atomic::store(order) })
    }
    pub fn rmw(thread: u32, word: usize, order: Order) -> Event {
        rmw_as(thread, word, order, Access::Write)
    }
    pub fn rmw_as(thread: u32, word: usize, order: Order, access: Access) -> Event {
        let op = Atomic { order, access, trusted: false };
        on(thread, Act::Update { addr: at(word), size: 8, op })
    }
    pub fn fence(thread: u32, order: Order) -> Event {
        on(thread, Act::Fence(order))
    }
    pub fn spawn(child: u32) -> Event {
        on(0, Act::Spawn(child))
    }
    pub fn join(ended: u32) -> Event {
        on(0, Act::Join(ended))
    }
}
