//! The monitor: asked before and notified after every operation of a transaction; it knows the
//! movers and ends transactions.
//!
//! A transaction is R* N? L*: right movers (and both movers), at most one non-mover, left movers
//! (docs/algorithm.md#movers-and-boundaries). The monitor keeps the phase, the locks that the
//! thread holds, and what the transaction did; what it sees weakens the discipline.

use crate::core::choice::Choice;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, ObjectId, thread_object};
use crate::core::machine::{Chooser, ThreadId};
use crate::core::picks::Picks;

use super::Discipline;
use super::operation::{Effect, Kind, Mode, Operation, Ordering, Passing, Value};
use super::run::{Event, Run, Wanted};

/// Transactions longer than this are cut (condition C of the papers: no run is endless).
const LONGEST: u32 = 10_000;

/// Whether an operation may be executed now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Go {
    /// It is executed, as part of the transaction.
    On,
    /// The transaction ends before it.
    Boundary,
    /// It cannot proceed: the thread waits before it.
    Blocked,
}

/// Lipton's classes, as far as they matter for phases: both movers pass in either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mover {
    Right,
    Left,
    Both,
    Non,
}

/// The monitor of one transaction under way.
pub struct TransactionMonitor<'a> {
    pub(crate) discipline: &'a mut Discipline,
    pub(crate) run: &'a mut Run,
    /// Locks that the thread holds.
    pub(crate) held: &'a mut Vec<(ObjectId, Mode)>,
    pub(crate) picks: &'a mut Picks,
    /// Gets the choices that lead here, operation by operation.
    pub(crate) schedule_log: &'a mut dyn FnMut(Choice),
    pub(crate) thread: ThreadId,
    /// No other thread was ever started.
    pub(crate) alone: bool,
}

impl TransactionMonitor<'_> {
    /// Asked before each operation; `can_proceed` is false if it would wait. After `Go::On` the
    /// machine executes it and calls `after`; else it leaves the thread before it.
    pub fn before(&mut self, operation: &Operation, can_proceed: bool) -> Go {
        // What a waiter holds besides its lock is noted when it waits: only then is its lock known
        // for sure.
        if !matches!(operation, Operation::Wait { .. }) {
            self.note_waiting(operation);
        }
        let cut = match *operation {
            Operation::Acquire(lock, _) => {
                !is_on(Fault::CyclesIgnored)
                    && self.held.iter().any(|&(held, _)| self.discipline.is_cyclic(held, lock))
            }
            // What comes before an abort is seen by others, who never come after it.
            Operation::Await { .. } | Operation::Abort | Operation::Awake => true,
            Operation::Pass(_, passing) => passing.may_wait(),
            _ => false,
        };
        let late = self.run.post
            && match self.mover(operation) {
                Mover::Right => true,
                Mover::Non => !is_on(Fault::TwoNonMovers),
                Mover::Left | Mover::Both => false,
            };
        let boundary = cut || late || self.run.closed || self.is_too_long();
        if boundary && !self.run.first {
            return Go::Boundary;
        }
        if !can_proceed {
            self.run.blocked = Some(match *operation {
                Operation::Acquire(lock, mode) => Wanted::Lock(lock, mode),
                Operation::Join(thread) => Wanted::End(thread),
                Operation::Await { object, access, .. } => Wanted::Value(object, access),
                Operation::Pass(channel, passing) => Wanted::Value(channel, self.passes(passing)),
                _ => return Go::Boundary,
            });
            return Go::Blocked;
        }
        self.run.count_choice();
        (self.schedule_log)(Choice::Thread(self.thread));
        Go::On
    }

    /// Called after each operation.
    pub fn after(&mut self, operation: &Operation, effect: Effect<'_>) {
        let mover = self.mover(operation);
        let mut commits = matches!(mover, Mover::Left | Mover::Non);
        match *operation {
            Operation::Acquire(lock, mode) => self.acquired(lock, mode),
            Operation::TryAcquire(lock, mode) => {
                if !is_on(Fault::TryUnobserved) {
                    self.discipline.observe(lock);
                }
                let acquired = effect == Effect::Tried(true);
                self.run.touch_lock(lock, mode, i32::from(acquired), acquired);
                if acquired {
                    self.held.push((lock, mode));
                    self.run.push(Event::Acquire(lock, mode));
                } else {
                    self.run.push(Event::Fail(lock, mode));
                }
            }
            Operation::Release(lock, mode) => self.released(lock, mode),
            Operation::Downgrade(lock) => self.downgraded(lock),
            Operation::Data { object, access, kind, site } => {
                let (writes, plain) = (access != Access::Read, kind == Kind::Plain);
                self.check_locks(object, writes, plain);
                let access = self.seen(object, access);
                if mover == Mover::Non || !is_on(Fault::ProtectedDropped) {
                    self.run.touch(object, access);
                }
                self.run.push(Event::Data { object, access, kind, site });
            }
            Operation::Await { object, access, kind, site } => {
                self.check_locks(object, access != Access::Read, false);
                self.run.awaits = true;
                self.run.touch(object, access);
                self.run.push(Event::Data { object, access, kind, site });
            }
            Operation::Pass(channel, passing) => {
                let access = self.passes(passing);
                self.discipline.check_locks(channel, access != Access::Read, false, self.held);
                self.run.awaits |= passing.may_wait();
                self.run.touch(channel, access);
                self.run.footprint.enables.extend(passing.wakes());
                self.run.push(Event::Pass(channel, passing));
            }
            Operation::Resume { channel, taken } => self.run.push(Event::Resume(channel, taken)),
            Operation::Wait { queue, lock, in_order } => {
                self.note_waiting(operation);
                // First, so that the lock orders it.
                let access = if in_order { Access::EnqueueLast } else { Access::Enqueue };
                self.touch_queue(queue, access);
                self.released(lock, Mode::Exclusive);
                self.run.closed = true;
            }
            Operation::Leave(queue) => {
                self.touch_queue(queue, Access::Leave);
                self.run.closed = true;
            }
            Operation::Notify(queue) => {
                let (woken, others) = match effect {
                    Effect::Woke { waiters, others } => (waiters, others),
                    _ => (&[][..], false),
                };
                let none = woken.is_empty() && !others;
                let access = if none { Access::WakeNone } else { Access::Wake };
                self.touch_queue(queue, access);
                self.run.footprint.enables.extend(woken.iter().map(|&(thread, _)| thread));
                // It enables, like spawn, unless the woken cannot move before the notifier gives
                // back their lock.
                commits |= others
                    || !is_on(Fault::NotifyBoth)
                        && woken.iter().any(|&(_, lock)| !self.holds(lock));
            }
            Operation::Arrive(barrier, access) => {
                self.touch_queue(barrier, access);
                if let Effect::Met(others) = effect {
                    self.run.footprint.meets.extend_from_slice(others);
                    self.run.push(Event::Meet);
                }
                self.run.closed = true;
            }
            Operation::Spawn(thread) => {
                self.run.footprint.enables.push(thread);
                self.run.push(Event::Spawn(thread));
                self.alone = false;
                commits = true;
            }
            Operation::Join(thread) => {
                if self.run.here.is_empty() {
                    self.run.footprint.joins.push(thread);
                } else {
                    self.run.touch(thread_object(thread), Access::LateJoin);
                }
                self.run.push(Event::Join(thread));
            }
            Operation::Fence(ordering) => self.run.push(Event::Fence(ordering)),
            Operation::Abort | Operation::Awake | Operation::Local => {}
        }
        self.run.first = false;
        self.run.length += 1;
        self.run.post |= commits;
    }

    /// Asked before a thread goes on that has gone round a loop in vain; until one of the objects
    /// changes that the round has read it waits (`can_proceed` is false). As `before`.
    pub fn before_round(&mut self, round: &[ObjectId], can_proceed: bool) -> Go {
        for &(lock, _) in self.held.iter() {
            self.discipline.hold_for_good(lock);
        }
        if !self.run.first {
            return Go::Boundary;
        }
        if !can_proceed {
            self.run.blocked = Some(Wanted::Change);
            for &object in round {
                self.run.footprint.touch(object, Access::Read);
            }
            return Go::Blocked;
        }
        self.run.count_choice();
        (self.schedule_log)(Choice::Thread(self.thread));
        Go::On
    }

    /// Called after it.
    pub fn after_round(&mut self, round: &[ObjectId]) {
        self.run.awaits = true;
        for &object in round {
            self.run.footprint.touch(object, Access::Read);
            self.run.push(Event::Notice(object));
        }
        self.run.first = false;
        self.run.length += 1;
        self.run.post = true;
    }

    /// Called when the thread goes no further, without having ended.
    pub fn waits_for_good(&mut self) {
        for &(lock, _) in self.held.iter() {
            self.discipline.hold_for_good(lock);
        }
    }

    /// Called when a thread ends: the one that runs, or one that it started and that has nothing to
    /// do.
    pub fn ended(&mut self, thread: ThreadId) {
        if !is_on(Fault::JoinNeverReversed) {
            self.run.footprint.touch(thread_object(thread), Access::End);
        }
        if thread == self.thread {
            for &(lock, _) in self.held.iter() {
                self.discipline.hold_for_good(lock);
            }
        }
    }

    /// A plain access outside of any operation of its own: it belongs to what was executed last,
    /// and no boundary may come before it. For machines that do not stop at plain accesses. What
    /// the search does then is right until the first data race, which is reported. Returns whether
    /// this was new: if not, the same to the wholes of which the object is a part is not, either.
    pub fn plain(&mut self, object: ObjectId, access: Access, site: u64) -> bool {
        if self.run.is_recent(object, access) {
            return false;
        }
        self.run.touch(object, access);
        self.run.push_plain(Event::Data { object, access, kind: Kind::Plain, site });
        true
    }

    /// What was executed last uses the memory of an object (a lock's word), as an atomic operation
    /// that orders nothing: plain accesses to it race with that.
    pub fn uses(&mut self, object: ObjectId, access: Access, site: u64) {
        let ordering = Ordering { trusted: true, ..Ordering::RELAXED };
        let kind = Kind::Atomic(Value::Read, ordering);
        self.run.push(Event::Data { object, access, kind, site });
    }

    /// What was executed last is the last decrement of a count of references, and acquires what the
    /// others have released.
    pub fn last(&mut self, count: ObjectId) {
        self.run.push_plain(Event::Last(count));
    }

    /// The memory ends that was accessed as objects whose numbers, under the mask, are in the
    /// range, and whoever accesses it later is reported for that, and goes no further. So it need
    /// not be known whether the end is ordered before such an access. (For machines that report
    /// accesses to freed memory.)
    pub fn ends(&mut self, objects: std::ops::Range<u64>, mask: u64) {
        let (from, to) = (objects.start, objects.end);
        self.run.push_plain(Event::Ends { from, to, mask });
    }

    /// From here on, the thread may look at an object, over and over, or write the value that it
    /// has: an atomic access that orders nothing. `weak`: under a weak memory model it may see a
    /// stale value.
    pub fn looks(&mut self, object: ObjectId, access: Access, weak: bool, site: u64) {
        let ordering = Ordering { weak, trusted: !weak, ..Ordering::RELAXED };
        let kind = Kind::Atomic(Value::Unused, ordering);
        self.run.push(Event::Data { object, access, kind, site });
    }

    /// What was executed last was possible because nobody else could run
    /// ([`crate::core::footprint::Footprint::by_time`]).
    pub fn by_time(&mut self) {
        self.run.footprint.by_time = true;
    }

    /// What was executed last makes `thread` able to run.
    pub fn enables(&mut self, thread: ThreadId) {
        self.run.footprint.enables.push(thread);
    }

    /// Operations on the queue are seen by others in more ways than the discipline knows (timeouts,
    /// …).
    pub fn expose(&mut self, queue: ObjectId) {
        self.discipline.refute(queue);
    }

    /// What the machine reports objects and operations as has changed: the search starts again.
    pub fn renamed(&mut self) {
        self.discipline.grown = true;
    }

    /// Whether the lock's state is seen by tries.
    #[must_use]
    pub fn is_observed(&self, lock: ObjectId) -> bool {
        self.discipline.is_observed(lock)
    }

    /// Locks that the thread holds.
    #[must_use]
    pub fn held(&self) -> &[(ObjectId, Mode)] {
        self.held
    }

    fn mover(&self, operation: &Operation) -> Mover {
        let unless = |non: bool, mover| if non { Mover::Non } else { mover };
        let discipline = &self.discipline;
        match *operation {
            Operation::Acquire(lock, _) => unless(discipline.is_observed(lock), Mover::Right),
            Operation::Release(lock, _) | Operation::Downgrade(lock) => {
                unless(discipline.is_observed(lock), Mover::Left)
            }
            Operation::Data { object, kind, .. }
                if kind.is_guarded() || discipline.hides_atomics() =>
            {
                unless(discipline.is_seen(object), Mover::Both)
            }
            Operation::Wait { queue, lock, .. } => {
                let seen = discipline.is_seen(queue) || discipline.is_observed(lock);
                unless(seen, Mover::Left)
            }
            Operation::Notify(queue) => unless(discipline.is_seen(queue), Mover::Both),
            Operation::Arrive(barrier, _) => unless(discipline.is_seen(barrier), Mover::Left),
            Operation::Spawn(_) => Mover::Left,
            Operation::Join(_) => Mover::Right,
            Operation::Resume { .. }
            | Operation::Fence(_)
            | Operation::Awake
            | Operation::Local => Mover::Both,
            Operation::TryAcquire(..)
            | Operation::Leave(_)
            | Operation::Data { .. }
            | Operation::Await { .. }
            | Operation::Pass(..)
            | Operation::Abort => Mover::Non,
        }
    }

    /// Learns from where the thread is going to wait, if it comes to that.
    fn note_waiting(&mut self, operation: &Operation) {
        let own = match *operation {
            Operation::Acquire(lock, mode) => {
                let again = self.held.iter().any(|&(l, m)| l == lock && m.excludes(mode));
                if again {
                    self.discipline.hold_for_good(lock);
                }
                return self.discipline.nest(self.thread, self.held, lock);
            }
            Operation::Pass(_, passing) if !passing.may_wait() => return,
            Operation::Join(_)
            | Operation::Await { .. }
            | Operation::Pass(..)
            | Operation::Arrive(..) => None,
            Operation::Wait { lock, .. } => Some(lock),
            _ => return,
        };
        for &(lock, _) in self.held.iter() {
            if Some(lock) != own {
                self.discipline.hold_for_good(lock);
            }
        }
    }

    fn is_too_long(&self) -> bool {
        self.run.length >= LONGEST && !is_on(Fault::NoCut)
    }

    fn holds(&self, lock: ObjectId) -> bool {
        self.held.iter().any(|&(held, _)| held == lock)
    }

    fn acquired(&mut self, lock: ObjectId, mode: Mode) {
        if self.run.here.is_empty() || !self.discipline.is_held_for_good(lock) {
            self.run.require(lock, mode);
        }
        self.held.push((lock, mode));
        self.run.here.push((lock, mode));
        let observed = self.discipline.is_observed(lock);
        self.run.touch_lock(lock, mode, 1, observed);
        self.run.push(Event::Acquire(lock, mode));
    }

    fn released(&mut self, lock: ObjectId, mode: Mode) {
        if let Some(place) = self.held.iter().rposition(|&held| held == (lock, mode)) {
            self.held.remove(place);
        }
        let observed = self.discipline.is_observed(lock);
        self.run.touch_lock(lock, mode, -1, observed);
        self.run.push(Event::Release(lock, mode));
    }

    fn downgraded(&mut self, lock: ObjectId) {
        self.released(lock, Mode::Exclusive);
        self.held.push((lock, Mode::Shared));
        let observed = self.discipline.is_observed(lock);
        self.run.touch_lock(lock, Mode::Shared, 1, observed);
        self.run.push(Event::Acquire(lock, Mode::Shared));
    }

    /// How others see an access: decrements of a reference count commute unless it matters who is
    /// the last.
    fn seen(&self, object: ObjectId, access: Access) -> Access {
        let matters = self.discipline.is_unprotected(object);
        if access.decrements() && matters { Access::Write } else { access }
    }

    /// How others see an act on a channel. States do not show the numbers of messages.
    fn passes(&self, passing: Passing) -> Access {
        match passing.access() {
            Access::Read => Access::Read,
            access if !self.discipline.is_by_locks() => access,
            _ => Access::Write,
        }
    }

    /// Checks an access against the locks that protect its object. What a thread does before there
    /// are others counts for nothing (docs/algorithm.md#stateful-search).
    fn check_locks(&mut self, object: ObjectId, writes: bool, plain: bool) {
        if !self.alone {
            self.discipline.check_locks(object, writes, plain, self.held);
        }
    }

    fn touch_queue(&mut self, object: ObjectId, access: Access) {
        self.check_locks(object, true, true);
        self.run.touch(object, access);
        self.run.push(Event::Queue { object, access });
    }
}

impl Chooser for TransactionMonitor<'_> {
    fn choose(&mut self, of: u32) -> u32 {
        let picked = self.picks.pick(of);
        // A choice is never rolled back.
        self.run.closed = true;
        self.run.count_choice();
        (self.schedule_log)(Choice::Value { picked, of });
        picked
    }
}
