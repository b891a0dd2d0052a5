//! What the program's threads do, as those hear of it who look on ([`crate::scheduler::event`]).

use crate::machine::operation::AtomicOperation;
use crate::memory::arena::Region;
use lockred_protocol::hooks::{Order, RmwOp};
use lockred_protocol::sites::SiteId;
use lockred_search::discipline::Passing;
use lockred_search::footprint::{Access, ObjectId};

/// What the running thread has done; memory is reported before it is accessed.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// It has executed an atomic operation that the search orders.
    Atomic(Executed<'a>),
    /// It will look at a word, perhaps in vain, over and over.
    Looks(&'a AtomicOperation),
    /// It has executed a fence.
    Fence(Order),
    /// It accesses plain memory.
    Plain(Plain),
    /// It has got a block.
    Allocated {
        /// Where.
        block: usize,
        /// Bytes.
        size: usize,
    },
    /// It frees memory.
    Freed(Freed),
    /// It has acted on a channel that is known as a whole.
    Passed(ChannelAct),
    /// The message that it had offered was taken, or else withdrawn.
    Resumed {
        /// The channel.
        channel: usize,
        /// Its object in the search.
        object: ObjectId,
        /// Which.
        taken: bool,
    },
    /// It has created a thread.
    Created {
        /// Its number.
        child: u32,
        /// Where its memory is.
        region: Region,
    },
    /// It has seen the end of a thread.
    Joined {
        /// Its number.
        target: u32,
        /// Where its memory is.
        region: Region,
    },
    /// It has done something with a futex.
    Futex(usize, Futex<'a>),
    /// It has slept so many nanoseconds.
    Slept(u64),
    /// It has gone on by time where nobody else could run.
    ByTime,
    /// It has looked at a clock, late or not.
    Looked {
        /// Which.
        late: bool,
    },
    /// It has chosen a value.
    Chose {
        /// How reports call the choice.
        what: &'a str,
        /// Which.
        picked: usize,
        /// Of how many.
        of: u32,
    },
    /// It was about to park, and goes on for no reason.
    ParkedForNoReason(usize, SiteId),
    /// A word that its loop reads has changed, or nobody else can run.
    Changed,
    /// It was stopped before something that nobody sees, and goes on.
    WentOn,
    /// It will go no further.
    WaitsForGood,
    /// It ends the process.
    Exits(i32),
    /// It ends.
    Ends,
}

/// An atomic operation that was executed.
#[derive(Clone, Copy)]
pub struct Executed<'a> {
    /// Which.
    pub operation: &'a AtomicOperation,
    /// How it acted on its word.
    pub access: Access,
    /// If it is a read-modify-write, which.
    pub rmw: Option<RmwOp>,
    /// What the word held.
    pub old: u64,
    /// What it holds.
    pub new: u64,
    /// The word was written.
    pub wrote: bool,
    /// Reports show it.
    pub reported: bool,
    /// A loop goes round in vain, and has read the same in this step.
    pub repeated: bool,
    /// Accesses may race.
    pub watched: bool,
}

/// An access to plain memory.
#[derive(Clone, Copy)]
pub struct Plain {
    /// The first byte.
    pub address: usize,
    /// Bytes.
    pub size: usize,
    /// Where it is made.
    pub site: SiteId,
    /// It writes.
    pub writes: bool,
}

/// Memory that ends.
#[derive(Clone, Copy)]
pub struct Freed {
    /// The first byte.
    pub address: usize,
    /// Bytes.
    pub size: usize,
    /// It is a block of the heap; else what stands for a stack.
    pub block: bool,
    /// It is part of an act on a channel, whose parts nobody hears of.
    pub modelled: bool,
}

/// An act on a channel.
#[derive(Clone, Copy)]
pub struct ChannelAct {
    /// The channel.
    pub channel: usize,
    /// Its object in the search.
    pub object: ObjectId,
    /// The act.
    pub passing: Passing,
    /// Where.
    pub site: SiteId,
}

/// What a thread has done with a futex.
#[derive(Clone, Copy)]
pub enum Futex<'a> {
    /// It has compared the word.
    Compared,
    /// The word has another value: it does not wait.
    Differs {
        /// It would have waited with a timeout.
        timed: bool,
    },
    /// It goes on for no reason, as if it had never been in the queue.
    Returned,
    /// It has entered the queue.
    Enqueued {
        /// It waits with a timeout.
        timed: bool,
    },
    /// It leaves the queue, in which it waited with a timeout.
    Left,
    /// It was woken.
    Woken {
        /// It waited with a timeout.
        timed: bool,
    },
    /// It has timed out.
    TimedOut,
    /// It has woken these.
    Wakes(&'a [u32]),
}
