//! Footprints: what one run of a thread touched, and which footprints depend on each other
//! (docs/algorithm.md#dependency).

use std::collections::HashSet;

use crate::core::machine::ThreadId;
use serde::{Deserialize, Serialize};

/// An object that operations act on. Stable within one execution; the machine chooses the numbering
/// (an address, say).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ObjectId(pub u64);

/// How an operation acts on an object. Dependency is per kind, not only read against write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Access {
    /// Reads a value.
    Read,
    /// Writes a value, or reads and writes it.
    Write,
    /// Reads a part of the object, which is an object of its own.
    ReadPart,
    /// Writes a part of the object, which is an object of its own.
    WritePart,
    /// Brings what the object stands for into being: a block of memory is allocated.
    Create,
    /// Uses what the object stands for.
    Use,
    /// A commutative update whose result nobody uses. Two of one family commute, unless one of them
    /// acquires what the other releases.
    Update {
        /// Which operation (add, or, and, …): updates of different families do not commute.
        family: u8,
        /// The operation acquires, or a later fence of its thread may make it.
        acquires: bool,
        /// The operation releases, or an earlier fence of its thread may make it.
        releases: bool,
    },
    /// Increments a reference count. Counts have to count references: who increments owns one.
    RefInc,
    /// Decrements a reference count that stays positive. Two of them commute as long as it cannot
    /// matter who drops the last reference: searches check that all come before the last one for
    /// another reason, and else report the object's decrements as writes.
    RefDec,
    /// As `RefDec`, to one.
    RefDecToOne,
    /// Decrements a reference count to zero.
    RefDecLast,
    /// Acquires a lock exclusively; as a pending operation, waits to. A run whose footprint has
    /// this has got the lock.
    Lock,
    /// Tries to acquire a lock, exclusively or shared; never waits. (A try that failed may be
    /// reported as `Read`: failed tries then commute with each other.)
    TryLock,
    /// Releases an exclusively held lock. (A misuse that releases nothing is a `Read`: searches
    /// conclude that the lock was held.)
    Unlock,
    /// Acquires a lock shared; as a pending operation, waits to. A run whose footprint has this has
    /// got the lock.
    ReadLock,
    /// Releases a shared lock.
    ReadUnlock,
    /// Enters a queue of waiters. Any waiter of a queue may be woken, so two entries commute.
    Enqueue,
    /// Enters a first-in first-out queue of waiters, whose order decides who is woken: two entries
    /// do not commute.
    EnqueueLast,
    /// Wakes waiters of a queue and finds none.
    WakeNone,
    /// Wakes at least one waiter of a queue.
    Wake,
    /// Leaves a queue of waiters by itself (a timeout), or is about to and finds that it was woken.
    Leave,
    /// Comes to a barrier, where it waits until all have come. Two of one round commute, unless
    /// somebody asks who came last.
    Arrive {
        /// The number of the round is odd: what tells it from the rounds before and after it.
        odd: bool,
        /// Whether it was the last one is asked for.
        asks: bool,
        /// It is the last one of its round. (What came before it could have been: that makes no
        /// difference.)
        last: bool,
    },
    /// Puts a message into a first-in first-out channel.
    Send {
        /// Which message of the channel it is, modulo 2^16.
        number: u16,
        /// The receive of the message that is so many before has to make room; 0 if there always is
        /// room.
        room: u16,
    },
    /// Takes a message out of a channel.
    Receive {
        /// Which one it is, modulo 2^16.
        number: u16,
    },
    /// One of the senders of a channel is gone: seen by who finds the channel empty.
    DropSender,
    /// The last receiver of a channel is gone.
    DropReceiver,
    /// In a transaction: takes a lock exclusively and gives it back, or waits for it or tries it in
    /// vain.
    Section,
    /// In a transaction: takes a lock shared and gives it back, or waits for it or tries it in
    /// vain.
    SharedSection,
    /// In a transaction: leaves a lock in another state (taken or given back), or is seen by tries.
    Change,
    /// In a transaction: takes or gives back a shared lock, and not both.
    SharedChange,
    /// Ends a thread, the object ([`thread_object`]).
    End,
    /// Waits for a thread's end after taking a lock, so that the wait can be seen by others.
    LateJoin,
}

impl Access {
    /// Whether it decrements a reference count.
    #[must_use]
    pub const fn decrements(self) -> bool {
        matches!(self, Self::RefDec | Self::RefDecToOne | Self::RefDecLast)
    }

    /// What it is to an object of which its own object is a part.
    #[must_use]
    pub const fn to_whole(self) -> Self {
        if matches!(self, Self::Read | Self::ReadPart) { Self::ReadPart } else { Self::WritePart }
    }

    /// Whether it is to a part of the object.
    #[must_use]
    pub const fn is_of_part(self) -> bool {
        matches!(self, Self::ReadPart | Self::WritePart)
    }

    /// Whether two of the kind are no conflict: it changes nothing.
    #[must_use]
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadPart | Self::Use)
    }

    /// Whether it counts references, and is not the last decrement. Such operations commute, so no
    /// fence acquires what they read.
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::RefInc | Self::RefDec | Self::RefDecToOne)
    }

    /// Whether it acts on a queue of waiters, or a barrier.
    #[must_use]
    pub const fn is_on_queue(self) -> bool {
        use Access::{Arrive, Enqueue, EnqueueLast, Leave, Wake, WakeNone};
        matches!(self, Enqueue | EnqueueLast | Leave | Wake | WakeNone | Arrive { .. })
    }

    /// Whether a thread that would have done `self` before `other` does something that depends on
    /// `other` after it, although `self` and `other` are independent: the barrier's next round has
    /// begun.
    #[must_use]
    pub const fn is_outdated_by(self, other: Self) -> bool {
        matches!((self, other), (Self::Arrive { .. }, Self::Arrive { last: true, .. }))
    }

    /// Whether two accesses to the same object depend on each other: their order may matter.
    #[must_use]
    pub fn depends_on(self, other: Self) -> bool {
        use Access::*;
        match (self, other) {
            (Read, Read) => false,
            // Whether parts are the same is shown by the parts.
            (ReadPart | WritePart, ReadPart | WritePart) => false,
            (ReadPart, Read) | (Read, ReadPart) | (Use, Use) => false,
            (
                Update { family: f, acquires: a, releases: r },
                Update { family: g, acquires: b, releases: s },
            ) => f != g || (a && s) || (r && b),
            (RefInc | RefDec | RefDecToOne, RefInc | RefDec | RefDecToOne) => false,
            (ReadLock | ReadUnlock, ReadLock | ReadUnlock) => false,
            (Enqueue, Enqueue) | (WakeNone, WakeNone) => false,
            (Leave, Leave | Enqueue | EnqueueLast) | (Enqueue | EnqueueLast, Leave) => false,
            (Arrive { odd: o, asks: a, .. }, Arrive { odd: p, asks: b, .. }) => o != p || a || b,
            // The message itself, and that for which it makes room.
            (Send { number: n, room }, Receive { number: m })
            | (Receive { number: m }, Send { number: n, room }) => {
                n == m || (room != 0 && n == m.wrapping_add(room))
            }
            (DropSender, DropSender | Send { .. } | Receive { .. } | DropReceiver)
            | (Send { .. } | Receive { .. } | DropReceiver, DropSender) => false,
            // The table of locks in docs/algorithm.md#dependency.
            (Section | SharedSection, Section | SharedSection) => false,
            (SharedChange, SharedChange | SharedSection) | (SharedSection, SharedChange) => false,
            (LateJoin, LateJoin) => false,
            _ => true,
        }
    }
}

/// The object that stands for a thread's end. Machines leave the highest numbers to it.
#[must_use]
pub const fn thread_object(thread: ThreadId) -> ObjectId {
    ObjectId(u64::MAX - thread.0 as u64)
}

/// Accesses up to which a footprint is searched for duplicates.
const SHORT: usize = 32;

/// Fills a footprint with every access once, in constant time also when it becomes long.
#[derive(Clone, Debug, Default)]
pub struct Filler {
    /// The footprint's accesses, once it is too long to be searched.
    known: HashSet<(ObjectId, Access)>,
}

impl Filler {
    /// The footprint was cleared.
    pub fn clear(&mut self) {
        if !self.known.is_empty() {
            self.known.clear();
        }
    }

    /// As [`Footprint::touch_data`].
    pub fn touch(&mut self, footprint: &mut Footprint, object: ObjectId, access: Access) {
        if footprint.accesses.len() < SHORT {
            return footprint.touch_data(object, access);
        }
        if self.known.is_empty() {
            self.known.extend(footprint.accesses.iter().copied());
        }
        let written = access == Access::Read && self.known.contains(&(object, Access::Write));
        if !written && self.known.insert((object, access)) {
            footprint.accesses.push((object, access));
        }
    }
}

/// What one run of a thread from boundary to boundary touched.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// Accesses to objects, in no particular order, without duplicates.
    pub accesses: Vec<(ObjectId, Access)>,
    /// Threads that this run spawned or woke: their next run comes after it (never reversed).
    pub enables: Vec<ThreadId>,
    /// Threads whose end this run waited for (join): their last run comes before it (never
    /// reversed).
    pub joins: Vec<ThreadId>,
    /// Threads that waited at a barrier until this run came: the next runs of all of them, and of
    /// its own thread, come after the last runs of all of them (never reversed).
    pub meets: Vec<ThreadId>,
    /// Its thread slept, or waited with a timeout, until nobody else could run: it comes after
    /// everything before it (never reversed).
    pub by_time: bool,
}

impl Footprint {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.accesses.clear();
        self.enables.clear();
        self.joins.clear();
        self.meets.clear();
        self.by_time = false;
    }

    /// Records an access once.
    pub fn touch(&mut self, object: ObjectId, access: Access) {
        if !self.accesses.contains(&(object, access)) {
            self.accesses.push((object, access));
        }
    }

    /// Records an access to data once. A write stands for a read as well, since it depends on all
    /// that the read depends on.
    pub fn touch_data(&mut self, object: ObjectId, access: Access) {
        let stands = |&(o, a): &(ObjectId, Access)| o == object && a == Access::Write;
        match access {
            Access::Read if self.accesses.iter().any(stands) => {}
            Access::Write => match self.accesses.iter_mut().find(|a| **a == (object, Access::Read))
            {
                Some((_, read)) => *read = Access::Write,
                None => self.touch(object, Access::Write),
            },
            _ => self.touch(object, access),
        }
    }

    /// Whether the object parts depend on each other.
    #[must_use]
    pub fn depends_on(&self, other: &Self) -> bool {
        self.accesses.iter().any(|&(object, access)| {
            other.accesses.iter().any(|&(o, a)| o == object && access.depends_on(a))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Access;

    #[test]
    fn a_send_and_a_receive_meet_only_in_a_message_or_its_room() {
        let send = |number, room| Access::Send { number, room };
        let receive = |number| Access::Receive { number };
        for (one, other, dependent) in [
            (send(3, 0), receive(3), true),
            (send(3, 0), receive(2), false),
            (send(3, 0), receive(1), false),
            (send(3, 2), receive(1), true),
            (send(3, 2), receive(2), false),
            (send(0, 2), receive(u16::MAX - 1), true),
            (send(3, 0), send(4, 0), true),
            (receive(3), receive(4), true),
            (send(3, 0), Access::Read, true),
            (receive(3), Access::Read, true),
            (send(3, 0), Access::DropReceiver, true),
            (Access::DropSender, Access::DropSender, false),
            (Access::DropSender, send(3, 1), false),
            (Access::DropSender, receive(3), false),
            (Access::DropSender, Access::Read, true),
        ] {
            assert_eq!(one.depends_on(other), dependent, "{one:?} {other:?}");
            assert_eq!(other.depends_on(one), dependent, "{other:?} {one:?}");
        }
    }
}
