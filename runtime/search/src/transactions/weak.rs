//! Weak happens-before: which accesses are ordered for a real reason, and the data races among
//! those that are not.
//!
//! See docs/algorithm.md#weak-happens-before. Edges: program order; spawn and join; a releasing
//! write to the acquiring read that sees it; and from a release of a lock to an acquire in a later
//! transaction exactly if the two transactions are ordered in the trace. So it does not depend on
//! the order in which independent critical sections happened to run: two conflicting plain accesses
//! that it does not order are a data race, in some linearisation of the same trace. So are two
//! atomic ones of different sizes: one is to a part of the object that the other is to, and
//! acquires nothing from it.
//!
//! Everything is kept on stacks that go back with the trace. Per acquire and per access O(threads).

use crate::core::chains::{ByObject, Chains, Position};
use crate::core::clock::Clock;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::discipline::{Event, Kind, Mode, Ordering, Run, Value};

use super::channels::Channels;
use super::fences::Fences;
use super::trace::Trace;

/// What is noted about an access: when its thread made it, and where.
#[derive(Clone, Copy)]
struct Note {
    /// The number of its thread's event.
    epoch: u32,
    site: u64,
    plain: bool,
    /// Of an atomic operation.
    ordering: Ordering,
}

/// A conflicting pair of operations that weak happens-before does not order; the later one is of
/// the transaction judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unordered {
    pub(super) object: ObjectId,
    /// The transaction of the earlier one.
    pub(super) position: Position,
    pub(super) earlier: (ThreadId, u64, Access),
    /// When the earlier one was made: the number of its thread's event.
    pub(super) epoch: u32,
    pub(super) later: (u64, Access),
    /// The number of the later one among the events of its transaction.
    pub(super) event: usize,
    /// One of them is plain, or they are atomic and of different sizes: a data race. (Else they are
    /// operations on a queue.)
    pub(super) race: bool,
}

/// A clock that a release left.
struct Left {
    /// Number of the transaction among its thread's.
    index: u32,
    mode: Mode,
    clock: Clock,
}

/// A clock that was valid from some transaction on.
struct Dated {
    position: Position,
    clock: Clock,
}

/// Clocks of a thread: where its transactions ended, and where it was started.
#[derive(Default)]
struct Times(Vec<Dated>);

impl Times {
    fn truncate(&mut self, position: Position, spare: &mut Vec<Clock>) {
        while let Some(last) = self.0.pop_if(|last| last.position >= position) {
            spare.push(last.clock);
        }
    }
}

/// Weak happens-before of the trace under way.
#[derive(Default)]
pub(super) struct Weak {
    accesses: Chains<Note>,
    threads: Vec<Times>,
    /// Per lock and thread, the clocks that its releases left.
    releases: ByObject<Vec<Vec<Left>>>,
    /// Per atomic object, what an acquiring read would acquire.
    messages: ByObject<Times>,
    channels: Channels,
    fences: Fences,
    /// Conflicting atomic operations were not ordered, and not all sequentially consistent.
    weak_values: bool,
    /// What to take back.
    log: Vec<(Position, Logged)>,
    now: Clock,
    /// The number of the event that is judged.
    number: usize,
    spare: Vec<Clock>,
}

#[derive(Clone, Copy)]
enum Logged {
    Thread(ThreadId),
    Release(ObjectId, ThreadId),
    Message(ObjectId),
}

impl Weak {
    /// Takes back everything at `position` and after it.
    pub(super) fn truncate(&mut self, position: Position) {
        self.accesses.truncate(position);
        self.channels.truncate(position);
        self.fences.truncate(position);
        while let Some((_, logged)) = self.log.pop_if(|(at, _)| *at >= position) {
            match logged {
                Logged::Thread(thread) => {
                    self.threads[thread.index()].truncate(position, &mut self.spare);
                }
                Logged::Message(object) => {
                    if let Some(times) = self.messages.get_mut(&object) {
                        times.truncate(position, &mut self.spare);
                    }
                }
                Logged::Release(lock, thread) => {
                    let threads = self.releases.get_mut(&lock);
                    let left = threads.and_then(|threads| threads[thread.index()].pop());
                    self.spare.extend(left.map(|left| left.clock));
                }
            }
        }
    }

    /// Judges the events of the transaction of `thread` that `trace` has prepared and that comes
    /// next, at `position`; collects the conflicting pairs that are not ordered.
    pub(super) fn judge(
        &mut self,
        trace: &Trace,
        thread: ThreadId,
        position: Position,
        run: &Run,
        unordered: &mut Vec<Unordered>,
    ) {
        unordered.clear();
        let index = trace.next_index(thread);
        self.start(thread);
        self.fences.begin(thread);
        for (number, event) in run.events.iter().enumerate() {
            self.number = number;
            // What an access is to larger blocks is no act of its own: what it releases goes with
            // it.
            let same = matches!(event, Event::Data { access, .. } if access.is_of_part());
            if !same {
                self.tick(thread);
            }
            match *event {
                Event::Acquire(lock, mode) => self.acquire(trace, thread, lock, mode),
                Event::Release(lock, mode) => self.release(thread, index, position, lock, mode),
                Event::Data { object, access, kind, site } => {
                    let note = Note {
                        epoch: self.now.of(thread),
                        site,
                        plain: kind == Kind::Plain,
                        ordering: kind.ordering(),
                    };
                    self.learn(object, access, kind);
                    self.check(thread, object, access, note, unordered);
                    self.accesses.push(object, access, note, thread, position);
                    self.pass(position, object, kind);
                }
                Event::Queue { object, access } => {
                    let ordering = Ordering::RELAXED;
                    let note = Note { epoch: self.now.of(thread), site: 0, plain: false, ordering };
                    self.check(thread, object, access, note, unordered);
                    self.accesses.push(object, access, note, thread, position);
                }
                Event::Meet => self.meet(&run.footprint.meets, position),
                Event::Fail(..) | Event::Notice(_) | Event::Last(_) | Event::Ends { .. } => {}
                Event::Fence(ordering) => self.fences.fence(ordering, &mut self.now),
                Event::Pass(channel, passing) => {
                    let now = &mut self.now;
                    self.channels.pass(channel, passing, (thread, position), now);
                }
                Event::Resume(channel, taken) => {
                    self.channels.resume(channel, taken, thread, &mut self.now);
                }
                Event::Spawn(started) => self.keep(started, position),
                Event::Join(ended) => {
                    if let Some(last) =
                        self.threads.get(ended.index()).and_then(|times| times.0.last())
                    {
                        self.now.join(&last.clock);
                    }
                }
            }
        }
        self.fences.end(thread, position);
        self.keep(thread, position);
    }

    /// Whether all that `thread` does from the node `node` on (so many transactions are before it)
    /// is after the event of this number of `other`.
    pub(super) fn knows(
        &self,
        thread: ThreadId,
        node: Position,
        other: ThreadId,
        epoch: u32,
    ) -> bool {
        let times = self.threads.get(thread.index()).map_or(&[][..], |times| &times.0);
        let before = times.partition_point(|dated| dated.position < node);
        times[..before].last().is_some_and(|dated| dated.clock.of(other) >= epoch)
    }

    fn start(&mut self, thread: ThreadId) {
        self.now.clear();
        if let Some(last) = self.threads.get(thread.index()).and_then(|times| times.0.last()) {
            self.now.join(&last.clock);
        }
    }

    fn tick(&mut self, thread: ThreadId) {
        let next = self.now.of(thread) + 1;
        self.now.set(thread, next);
    }

    /// Keeps the present clock as the latest of `thread`.
    fn keep(&mut self, thread: ThreadId, position: Position) {
        let clock = self.copy();
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Times::default);
        }
        self.threads[thread.index()].0.push(Dated { position, clock });
        self.log.push((position, Logged::Thread(thread)));
    }

    fn copy(&mut self) -> Clock {
        let mut clock = self.spare.pop().unwrap_or_default();
        clock.copy_from(&self.now);
        clock
    }

    /// The last thread has come to a barrier: all know what each of them knew when it came.
    fn meet(&mut self, others: &[ThreadId], position: Position) {
        for met in others {
            if let Some(came) = self.threads[met.index()].0.last() {
                self.now.join(&came.clock);
            }
        }
        others.iter().for_each(|&met| self.keep(met, position));
    }

    fn acquire(&mut self, trace: &Trace, thread: ThreadId, lock: ObjectId, mode: Mode) {
        let Some(threads) = self.releases.get(&lock) else { return };
        if is_on(Fault::NoLockEdges) {
            return;
        }
        for (number, lefts) in threads.iter().enumerate() {
            let other = ThreadId(number as u32);
            if other == thread {
                continue;
            }
            let mut before = lefts.partition_point(|left| left.index <= trace.real().of(other));
            if is_on(Fault::AllLockEdges) {
                before = lefts.len();
            }
            let mut orders = lefts[..before].iter().rev().filter(|left| left.mode.excludes(mode));
            if let Some(left) = orders.next() {
                self.now.join(&left.clock);
            }
        }
    }

    fn release(
        &mut self,
        thread: ThreadId,
        index: u32,
        position: Position,
        lock: ObjectId,
        mode: Mode,
    ) {
        let clock = self.copy();
        let threads = self.releases.entry(lock).or_default();
        if threads.len() <= thread.index() {
            threads.resize_with(thread.index() + 1, Vec::new);
        }
        threads[thread.index()].push(Left { index, mode, clock });
        self.log.push((position, Logged::Release(lock, thread)));
    }

    /// Compares an access with all earlier ones of other threads that conflict and are not ordered
    /// before it.
    fn check(
        &mut self,
        thread: ThreadId,
        object: ObjectId,
        access: Access,
        note: Note,
        unordered: &mut Vec<Unordered>,
    ) {
        if access == Access::Create {
            // Who allocates a block again has freed it: a use that is not ordered before that is a
            // race with the deallocation.
            return;
        }
        for (other, mut walk) in self.accesses.threads(object) {
            // An access that races with another one is not reported a second time, as a use of the
            // block.
            let reported = |pair: &Unordered| {
                pair.race && pair.earlier.0 == other && pair.later.0 == note.site
            };
            if other == thread || access == Access::Use && unordered.iter().any(reported) {
                continue;
            }
            while let Some(entry) = walk.entry() {
                if entry.note.epoch <= self.now.of(other) {
                    break;
                }
                let queue = access.is_on_queue();
                let mixed = note.ordering.are_mixed(access, entry.note.ordering, entry.access);
                let race = note.plain || entry.note.plain || mixed;
                let guarded = note.ordering.guarded || entry.note.ordering.guarded;
                if (race || queue || guarded) && access.depends_on(entry.access) {
                    unordered.push(Unordered {
                        object,
                        position: entry.position,
                        earlier: (other, entry.note.site, entry.access),
                        epoch: entry.note.epoch,
                        later: (note.site, access),
                        event: self.number,
                        race,
                    });
                }
                if !race
                    && note.ordering.shows_weak_values(entry.note.ordering)
                    && access.depends_on(entry.access)
                {
                    self.weak_values = true;
                }
                walk.on();
            }
        }
    }

    /// Whether some conflicting atomic operations, not ordered and not all sequentially consistent,
    /// were seen since the last time that this was asked.
    pub(super) fn take_weak_values(&mut self) -> bool {
        std::mem::take(&mut self.weak_values)
    }

    /// Takes over what an acquiring read sees.
    fn learn(&mut self, object: ObjectId, access: Access, kind: Kind) {
        if let Kind::Atomic(Value::Read | Value::Updated, ordering) = kind
            && !access.is_of_part()
            && let Some(seen) = self.messages.get(&object).and_then(|times| times.0.last())
        {
            if ordering.acquires {
                self.now.join(&seen.clock);
            }
            if !access.counts() {
                self.fences.read(&seen.clock);
            }
        }
    }

    /// Leaves clocks at an atomic object: release sequences end with a store by anyone and go on
    /// through updates.
    fn pass(&mut self, position: Position, object: ObjectId, kind: Kind) {
        let Kind::Atomic(value, ordering) = kind else { return };
        if matches!(value, Value::Read | Value::Unused) {
            return;
        }
        let mut clock = self.spare.pop().unwrap_or_default();
        clock.clear();
        let seen = self.messages.get(&object).and_then(|times| times.0.last());
        if value == Value::Updated
            && let Some(seen) = seen
        {
            clock.copy_from(&seen.clock);
        }
        if ordering.releases {
            clock.join(&self.now);
        } else {
            clock.join(self.fences.released());
        }
        self.messages.entry(object).or_default().0.push(Dated { position, clock });
        self.log.push((position, Logged::Message(object)));
    }
}
