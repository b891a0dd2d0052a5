//! What a transaction did: its footprint, the locks that it depends on, and its events in order.

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, Filler, Footprint, ObjectId, thread_object};
use crate::core::machine::ThreadId;

use super::operation::{Kind, Mode, Ordering, Passing, Value};

/// An act that matters for weak happens-before (docs/algorithm.md#weak-happens-before).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Acquire(ObjectId, Mode),
    Release(ObjectId, Mode),
    /// Tried a lock in vain.
    Fail(ObjectId, Mode),
    Data {
        object: ObjectId,
        access: Access,
        kind: Kind,
        site: u64,
    },
    /// Entered, or notified, a queue.
    Queue {
        object: ObjectId,
        access: Access,
    },
    /// Came to a barrier as the last one.
    Meet,
    Spawn(ThreadId),
    Join(ThreadId),
    Fence(Ordering),
    Pass(ObjectId, Passing),
    /// Went on because what a round of a loop had read may have changed. No access: the round made
    /// that.
    Notice(ObjectId),
    /// Made the last decrement of a count of references: it knows what all others did before
    /// theirs.
    Last(ObjectId),
    /// Memory ends: that of objects whose numbers, under the mask, are in this range. To access it
    /// later is an error of its own.
    Ends {
        from: u64,
        to: u64,
        mask: u64,
    },
    /// Goes on after a message that was taken, or else that the channel was closed for.
    Resume(ObjectId, bool),
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Lock(ObjectId, Mode),
    End(ThreadId),
    /// That data has some value, to access it.
    Value(ObjectId, Access),
    /// That something changes that a round of a loop has read.
    Change,
}

/// A lock that a transaction took or gave back.
#[derive(Clone, Copy, Debug)]
struct Taken {
    lock: ObjectId,
    /// The strongest mode among its operations.
    mode: Mode,
    /// Times taken less times given back: exclusively, and shared.
    balance: (i32, i32),
    /// Tries see it.
    observed: bool,
}

impl Taken {
    /// In which mode it is taken, or else was given back, on the whole. A lock that was downgraded
    /// is taken, shared.
    const fn change(&self) -> Option<(Mode, bool)> {
        match self.balance {
            (0, 0) => None,
            (1.., _) => Some((Mode::Exclusive, true)),
            (_, 1..) => Some((Mode::Shared, true)),
            (..0, _) => Some((Mode::Exclusive, false)),
            (0, _) => Some((Mode::Shared, false)),
        }
    }
}

/// One transaction, finished or under way. Reused.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) thread: Option<ThreadId>,
    /// What it touched. Complete when it was `seal`ed.
    pub(crate) footprint: Footprint,
    /// Locks whose being taken would have made it roll back.
    pub(crate) need: Vec<(ObjectId, Mode)>,
    pub(crate) events: Vec<Event>,
    /// For each event, the number of choices of the schedule up to it.
    choices_at: Vec<usize>,
    /// Choices made.
    choices: usize,
    /// Locks whose state it changed on the whole: taken (or given back).
    pub(crate) changes: Vec<(ObjectId, Mode, bool)>,
    /// It begins with waiting for a value.
    pub(crate) awaits: bool,
    /// An object that nothing but its first operation touches, which touches it in any state:
    /// reading or writing, as its value is. Known when it was `seal`ed.
    pub(crate) fixed: Option<ObjectId>,
    /// What it waits for: the thread stands before an operation that cannot proceed.
    pub(crate) blocked: Option<Wanted>,
    /// Locks that it took.
    pub(super) here: Vec<(ObjectId, Mode)>,
    locks: Vec<Taken>,
    pub(super) first: bool,
    /// It has committed: a left mover or a non-mover was executed.
    pub(super) post: bool,
    /// Nothing may follow.
    pub(super) closed: bool,
    /// Operations executed.
    pub(super) length: u32,
    filler: Filler,
    /// Number of events, in all transactions, that are no plain accesses, from 1.
    synced: u64,
    /// Plain accesses, and when they were made.
    recent: Vec<(u64, ObjectId, Access)>,
}

/// Plain accesses that are remembered.
const RECENT: usize = 256;

impl Run {
    /// Begins a transaction of `thread`.
    pub(crate) fn begin(&mut self, thread: ThreadId) {
        self.thread = Some(thread);
        self.footprint.clear();
        self.need.clear();
        self.events.clear();
        self.choices_at.clear();
        self.choices = 0;
        self.changes.clear();
        self.awaits = false;
        self.fixed = None;
        self.blocked = None;
        self.here.clear();
        self.locks.clear();
        self.first = true;
        self.post = false;
        self.closed = false;
        self.length = 0;
        self.synced += 1;
        self.filler.clear();
    }

    /// Whether it took locks that it holds where it is blocked.
    pub(crate) fn holds_new_locks(&self) -> bool {
        !self.here.is_empty()
    }

    /// Whether its thread has run at all, if only to its first operation.
    pub(crate) const fn has_run(&self) -> bool {
        self.choices > 0
    }

    /// A choice of the schedule was made.
    pub(super) fn count_choice(&mut self) {
        self.choices += 1;
    }

    /// Records an access once. Constant time, also in long transactions.
    pub(super) fn touch(&mut self, object: ObjectId, access: Access) {
        self.filler.touch(&mut self.footprint, object, access);
    }

    /// Whether the transaction has done the same to a plain object since its last event of another
    /// kind: then nobody can tell whether it does it again. Remembers it.
    pub(super) fn is_recent(&mut self, object: ObjectId, access: Access) -> bool {
        let slot = (object.0 ^ object.0 >> 6) as usize % RECENT;
        if self.recent.len() < RECENT {
            self.recent.resize(RECENT, (0, object, access));
        }
        let recent = &mut self.recent[slot];
        let known = recent.0 == self.synced && recent.1 == object;
        let stands = recent.2 == access
            || matches!(
                (recent.2, access),
                (Access::Write, Access::Read)
                    | (Access::WritePart, Access::ReadPart)
                    | (Access::Create, Access::Use)
            );
        if known && stands {
            return true;
        }
        *recent = (self.synced, object, access);
        false
    }

    /// Adds a plain access.
    pub(super) fn push_plain(&mut self, event: Event) {
        self.events.push(event);
        self.choices_at.push(self.choices);
    }

    pub(super) fn push(&mut self, event: Event) {
        self.synced += 1;
        self.push_plain(event);
    }

    /// Fills in what the transaction touched and waited for before its event of this number, which
    /// counts if it is an atomic read. Returns the number of choices up to that event, itself
    /// included.
    pub(crate) fn cut_before(&self, last: usize, footprint: &mut Footprint) -> usize {
        footprint.clear();
        let mut holds = false;
        // What it waits for has to happen, even if nothing else that the event conflicts with has
        // to; and what an atomic operation reads has to be the same, as it may acquire that.
        let reads = matches!(
            self.events.get(last),
            Some(Event::Data { kind: Kind::Atomic(Value::Read | Value::Updated, _), .. })
        );
        let end = if reads || self.awaits && last == 0 { last + 1 } else { last };
        for event in &self.events[..end] {
            match *event {
                Event::Acquire(lock, mode) => {
                    holds = true;
                    footprint.touch(lock, lock_access(mode, false));
                }
                Event::Fail(lock, mode) => footprint.touch(lock, lock_access(mode, false)),
                Event::Release(lock, mode) => {
                    let taken = footprint.accesses.contains(&(lock, lock_access(mode, false)));
                    footprint.touch(lock, lock_access(mode, !taken));
                }
                Event::Data { object, access, .. } | Event::Queue { object, access } => {
                    footprint.touch(object, access);
                }
                Event::Join(thread) if holds => {
                    footprint.touch(thread_object(thread), Access::LateJoin);
                }
                Event::Join(thread) => footprint.joins.push(thread),
                Event::Pass(channel, passing) => footprint.touch(channel, passing.access()),
                Event::Notice(object) => footprint.touch(object, Access::Read),
                Event::Spawn(_) | Event::Meet | Event::Fence(_) => {}
                Event::Resume(..) | Event::Last(_) | Event::Ends { .. } => {}
            }
        }
        self.choices_at[last]
    }

    /// Operations executed so far.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    pub(super) fn touch_lock(&mut self, lock: ObjectId, mode: Mode, by: i32, observed: bool) {
        let by = match mode {
            Mode::Exclusive => (by, 0),
            Mode::Shared => (0, by),
        };
        match self.locks.iter_mut().find(|taken| taken.lock == lock) {
            Some(taken) => {
                taken.mode = taken.mode.max(mode);
                taken.balance.0 += by.0;
                taken.balance.1 += by.1;
                taken.observed |= observed;
            }
            None => self.locks.push(Taken { lock, mode, balance: by, observed }),
        }
    }

    pub(super) fn require(&mut self, lock: ObjectId, mode: Mode) {
        self.need.push((lock, mode));
    }

    /// Completes the footprint: the transaction has ended or is blocked.
    pub(crate) fn seal(&mut self) {
        for taken in &self.locks {
            let change = taken.change();
            let changed = (change.is_some() || taken.observed) && !is_on(Fault::ChangeAsSection);
            self.footprint.touch(taken.lock, lock_access(taken.mode, changed));
            self.changes.extend(change.map(|(mode, taken_now)| (taken.lock, mode, taken_now)));
        }
        match self.blocked {
            Some(Wanted::Lock(lock, mode)) => self.footprint.touch(lock, lock_access(mode, false)),
            Some(Wanted::Value(object, access)) => self.footprint.touch(object, access),
            Some(Wanted::End(_) | Wanted::Change) | None => {}
        }
        self.fixed = self.find_fixed();
    }

    /// What only the first operation touches. It is an atomic one on a word that the thread's own
    /// state names, so that its access depends on nothing but that word; where it waits for a
    /// value, or the transaction is blocked, that is not sure.
    fn find_fixed(&self) -> Option<ObjectId> {
        let (Some(first), false, None) = (self.events.first(), self.awaits, self.blocked) else {
            return None;
        };
        let &Event::Data { object, access, kind: Kind::Atomic(..), .. } = first else {
            return None;
        };
        let touches =
            |event: &Event| matches!(event, Event::Data { object: other, .. } if *other == object);
        let alone = !self.events[1..].iter().any(touches);
        (alone && matches!(access, Access::Read | Access::Write)).then_some(object)
    }
}

/// How a transaction acts on a lock: whether it changes its state on the whole.
#[must_use]
pub const fn lock_access(mode: Mode, changed: bool) -> Access {
    match (mode, changed) {
        (Mode::Exclusive, true) => Access::Change,
        (Mode::Exclusive, false) => Access::Section,
        (Mode::Shared, true) => Access::SharedChange,
        (Mode::Shared, false) => Access::SharedSection,
    }
}
