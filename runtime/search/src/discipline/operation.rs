//! The operations that the discipline knows: what a machine reports to the monitor before and after
//! each of them.

use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use serde::{Deserialize, Serialize};

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Mode {
    /// By several threads at a time.
    Shared,
    /// By one thread.
    Exclusive,
}

impl Mode {
    /// Whether two threads cannot hold the same lock in these modes.
    #[must_use]
    pub const fn excludes(self, other: Self) -> bool {
        !matches!((self, other), (Self::Shared, Self::Shared))
    }
}

/// What an atomic operation orders, by the C11 memory model. (Values are sequentially consistent
/// all the same.)
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ordering {
    /// A read that takes part in it acquires.
    pub acquires: bool,
    /// A write that takes part in it releases.
    pub releases: bool,
    /// It takes no part in the total order of sequentially consistent operations.
    pub weak: bool,
    /// It is part of a primitive whose users cannot see weak values.
    pub trusted: bool,
    /// It is believed to be ordered by locks, like plain data: not seen by others until that is
    /// refuted.
    pub guarded: bool,
    /// The machine makes it, and no code of the program (a system call looks at a word): it has no
    /// size that would have to be that of other accesses.
    pub internal: bool,
}

impl Ordering {
    /// An ordering of an operation that is sequentially consistent otherwise.
    const fn strict(acquires: bool, releases: bool) -> Self {
        let (weak, trusted, guarded, internal) = (false, false, false, false);
        Self { acquires, releases, weak, trusted, guarded, internal }
    }

    /// Whether two conflicting operations that nothing orders might see other values than under
    /// sequential consistency.
    #[must_use]
    pub const fn shows_weak_values(self, other: Self) -> bool {
        (self.weak || other.weak) && !(self.trusted && other.trusted)
    }

    /// Whether two accesses that meet in an object, of which one is to a part of it and the other
    /// to the whole, are atomic operations of the program on words of different sizes: unordered,
    /// they are a data race if one of them writes.
    #[must_use]
    pub const fn are_mixed(self, access: Access, other: Self, others: Access) -> bool {
        access.is_of_part() != others.is_of_part() && !self.internal && !other.internal
    }

    /// Neither acquires nor releases.
    pub const RELAXED: Self = Self::strict(false, false);
    /// Acquires.
    pub const ACQUIRE: Self = Self::strict(true, false);
    /// Releases.
    pub const RELEASE: Self = Self::strict(false, true);
    /// Both.
    pub const ACQ_REL: Self = Self::strict(true, true);
}

/// How an atomic operation uses the value of its object: what decides about release sequences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// It reads it.
    Read,
    /// It writes it, whatever it was.
    Written,
    /// It reads and writes it.
    Updated,
    /// Not at all: the operation could be made, and is left out.
    Unused,
}

/// Whether an access to data is plain or atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Plain: two that conflict and are not ordered are a data race.
    Plain,
    /// Atomic.
    Atomic(Value, Ordering),
}

/// What an operation does to a channel. A message happens before its receive, and if there is room
/// for `capacity` messages, each receive happens before the send that is so many messages after
/// (The Go memory model, channel communication).
///
/// Messages are numbered as they are sent, and so are received. Sends depend on each other, as do
/// receives; a send and a receive only if it is the same message, or the receive makes room for
/// that one: on a channel that is neither empty nor full they commute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    /// Puts a message in.
    Send {
        /// Which message of the channel it is.
        number: u32,
        /// For how many messages there is room ([`Passing::UNBOUNDED`] for any number). If for
        /// none, the message is offered, one at a time: the thread stands still after this
        /// operation until another one wakes it, and then does [`Operation::Resume`].
        capacity: u32,
    },
    /// Takes the first message out.
    Receive {
        /// Which message of the channel it is.
        number: u32,
        /// The thread that had offered it.
        wakes: Option<ThreadId>,
    },
    /// One of the senders is gone: a channel is closed to receivers when all are. Two of them
    /// commute.
    DropSender,
    /// The last receiver is gone, and with it what is in the channel: closed to senders.
    DropReceiver {
        /// The thread whose offer this withdraws.
        wakes: Option<ThreadId>,
    },
    /// Tries to send when the last receiver is gone.
    Fail,
    /// Sees only how many messages there are, if any.
    Peek,
    /// Closes the channel.
    Close {
        /// The thread whose offer this withdraws.
        wakes: Option<ThreadId>,
    },
    /// Finds the channel closed, and empty if a message is wanted. It can be found so from then on.
    Closed,
}

impl Passing {
    /// The capacity of a channel that is never full.
    pub const UNBOUNDED: u32 = u32::MAX;

    /// Whether an act that turns out to be this may have had to wait.
    #[must_use]
    pub const fn may_wait(self) -> bool {
        match self {
            Self::Send { capacity, .. } => capacity != Self::UNBOUNDED,
            Self::Receive { .. } | Self::Close { .. } | Self::Closed => true,
            Self::DropSender | Self::DropReceiver { .. } | Self::Fail | Self::Peek => false,
        }
    }

    /// How it acts on the channel.
    #[must_use]
    pub const fn access(self) -> Access {
        match self {
            Self::Send { number, capacity } => {
                let room = match capacity {
                    Self::UNBOUNDED => 0,
                    0 => 1,
                    1..0x1_0000 => capacity as u16,
                    // Not worth a wider number.
                    _ => return Access::Write,
                };
                Access::Send { number: number as u16, room }
            }
            Self::Receive { number, .. } => Access::Receive { number: number as u16 },
            Self::DropSender => Access::DropSender,
            Self::DropReceiver { .. } => Access::DropReceiver,
            Self::Close { .. } => Access::Write,
            Self::Fail | Self::Peek | Self::Closed => Access::Read,
        }
    }

    /// The thread that it wakes.
    #[must_use]
    pub const fn wakes(self) -> Option<ThreadId> {
        match self {
            Self::Receive { wakes, .. } | Self::Close { wakes } | Self::DropReceiver { wakes } => {
                wakes
            }
            Self::Send { .. } | Self::DropSender | Self::Fail | Self::Peek | Self::Closed => None,
        }
    }
}

impl Kind {
    /// Whether locks, or the like, are believed to order it.
    pub(crate) const fn is_guarded(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Atomic(_, ordering) => ordering.guarded,
        }
    }

    /// What it orders: nothing, if it is plain.
    pub(crate) const fn ordering(self) -> Ordering {
        match self {
            Self::Plain => Ordering::RELAXED,
            Self::Atomic(_, ordering) => ordering,
        }
    }
}

/// One operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// Acquires a lock; waits for it if need be.
    Acquire(ObjectId, Mode),
    /// Tries to acquire a lock.
    TryAcquire(ObjectId, Mode),
    /// Releases a lock that the thread holds.
    Release(ObjectId, Mode),
    /// Makes a lock that the thread holds exclusively one that it holds shared. (Nobody else could
    /// do anything with it before, so that it moves left as a release does.)
    Downgrade(ObjectId),
    /// Accesses data. `site` says where, for reports of races.
    Data {
        /// What is accessed.
        object: ObjectId,
        /// How.
        access: Access,
        /// Plain or atomic.
        kind: Kind,
        /// Where in the program.
        site: u64,
    },
    /// Waits until data has some value, and then accesses it, atomically.
    Await {
        /// What is accessed.
        object: ObjectId,
        /// How.
        access: Access,
        /// Atomic (a plain await is a plain access).
        kind: Kind,
        /// Where in the program.
        site: u64,
    },
    /// Acts on a channel, whose messages come out in the order in which they went in; waits for
    /// room or a message if need be.
    Pass(ObjectId, Passing),
    /// Goes on after a [`Passing::Send`] to a rendezvous channel: the message was taken, or the
    /// channel was closed.
    Resume {
        /// The channel.
        channel: ObjectId,
        /// The message was taken.
        taken: bool,
    },
    /// Gives back the exclusively held lock and enters the queue of waiters; the thread stands
    /// still after it, until it is notified and acquires the lock ([`Operation::Acquire`]).
    Wait {
        /// The queue.
        queue: ObjectId,
        /// The lock.
        lock: ObjectId,
        /// The queue is first-in first-out.
        in_order: bool,
    },
    /// Leaves the queue of waiters by itself, or goes on because it was woken while it could have:
    /// a transaction of its own, after which the thread acquires the lock. What comes before it is
    /// not enabled by who woke the thread.
    Leave(ObjectId),
    /// Wakes waiters of a queue.
    Notify(ObjectId),
    /// Comes to a barrier; the thread stands still after it, until all have come
    /// ([`Access::Arrive`]).
    Arrive(ObjectId, Access),
    /// Starts a thread.
    Spawn(ThreadId),
    /// Waits for the end of a thread.
    Join(ThreadId),
    /// Orders atomic accesses of its thread (C11 29.8): what earlier ones read is acquired, what
    /// later ones write releases.
    Fence(Ordering),
    /// Ends the execution for all threads.
    Abort,
    /// Has slept: a transaction of its own with what comes after.
    Awake,
    /// A step that nobody else can see.
    Local,
}

/// What an operation turned out to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect<'a> {
    /// Nothing more than what it is. (A failed compare-exchange is reported as the read that it
    /// is.)
    Done,
    /// The try acquired the lock or not.
    Tried(bool),
    /// Waiters were woken.
    Woke {
        /// Those that could not leave by themselves; each acquires the lock next.
        waiters: &'a [(ThreadId, ObjectId)],
        /// Others, too, which leave the queue next ([`Operation::Leave`]).
        others: bool,
    },
    /// All have come to the barrier: these had waited there.
    Met(&'a [ThreadId]),
}
