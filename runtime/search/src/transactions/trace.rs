//! The execution under way as a trace of transactions: their order, and which earlier ones race
//! with a new one.
//!
//! Two vector clocks a transaction: `order` over all dependencies, those inherited from woken
//! sleepers (inherited accesses) included, which race reversal uses; and `real` over what was
//! really touched, which weak happens-before uses (docs/algorithm.md#race-reversal,
//! docs/algorithm.md#weak-happens-before). Earlier dependent transactions are found by the chains
//! of each object and thread, the latest first.

use std::collections::BinaryHeap;

use crate::core::chains::{Chains, Position};
use crate::core::clock::Clock;
use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, Footprint, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::thin::Thin;
use crate::core::thread_set::ThreadSet;
use crate::discipline::Mode;

use super::ownership::Ownership;

/// One transaction.
#[derive(Default)]
pub(super) struct Event {
    pub(super) thread: ThreadId,
    /// It is its thread's transaction number `index`, counted from 1.
    pub(super) index: u32,
    order: Clock,
    pub(super) real: Clock,
    enables: Thin<ThreadId>,
    /// Threads that had waited at a barrier for it, and their last transactions.
    meets: Thin<(ThreadId, Position)>,
    /// Its part of the schedule.
    pub(super) schedule: (usize, usize),
    /// The number of its first entry in the chains.
    entries: usize,
}

impl Event {
    /// The last transactions of the others at the barrier, if it is this one that let `thread` go
    /// on there.
    fn met(&self, thread: ThreadId) -> &[(ThreadId, Position)] {
        let is_there = self.thread == thread || self.meets.iter().any(|&(met, _)| met == thread);
        if is_there { &self.meets } else { &[] }
    }
}

#[derive(Default)]
struct History {
    /// Positions of the thread's transactions.
    runs: Vec<Position>,
    /// Positions of the transactions that enabled it.
    enablers: Vec<Position>,
}

/// The access part of a transaction's footprint.
#[derive(Clone, Copy)]
pub(super) struct Touched<'a> {
    /// Accesses that it made.
    pub(super) real: &'a [(ObjectId, Access)],
    /// Accesses inherited from a sleeper.
    pub(super) inherited: &'a [(ObjectId, Access)],
    /// See [`Footprint::by_time`].
    pub(super) by_time: bool,
}

impl Touched<'_> {
    fn iter(&self) -> impl Iterator<Item = (ObjectId, Access, bool)> + '_ {
        let real = self.real.iter().map(|&(object, access)| (object, access, false));
        real.chain(self.inherited.iter().map(|&(object, access)| (object, access, true)))
    }
}

/// The trace under way.
#[derive(Default)]
pub(super) struct Trace {
    events: Vec<Event>,
    live: usize,
    /// The note says whether an access was inherited.
    chains: Chains<bool>,
    threads: Vec<History>,
    ownership: Ownership,
    /// Of the transaction that was `prepare`d: what comes before it without its own accesses, and
    /// with them.
    base: Clock,
    order: Clock,
    real: Clock,
    covered: Clock,
    candidates: BinaryHeap<Candidate>,
    firsts: Vec<Position>,
}

/// An earlier access that a new one depends on: where it was made, and by which chain of entries it
/// was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    position: Position,
    entry: u32,
    access: Access,
}

impl Trace {
    pub(super) fn clear(&mut self) {
        while self.live > 0 {
            self.pop();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live
    }

    pub(super) fn event(&self, position: usize) -> &Event {
        &self.events[position]
    }

    /// Locks that a transaction took or gave back.
    pub(super) fn locks(&self, position: usize) -> Vec<(ObjectId, Mode)> {
        let accesses = self.chains.made(self.events[position].entries, position as Position);
        let locks = accesses.filter_map(|(object, access)| match access {
            Access::Section | Access::Change => Some((object, Mode::Exclusive)),
            Access::SharedSection | Access::SharedChange => Some((object, Mode::Shared)),
            _ => None,
        });
        locks.collect()
    }

    pub(super) fn last_thread(&self) -> Option<ThreadId> {
        self.live.checked_sub(1).map(|last| self.events[last].thread)
    }

    /// What really comes before the transaction that was `prepare`d.
    pub(super) fn real(&self) -> &Clock {
        &self.real
    }

    /// The number of the thread's next transaction.
    pub(super) fn next_index(&self, thread: ThreadId) -> u32 {
        self.threads.get(thread.index()).map_or(0, |history| history.runs.len() as u32) + 1
    }

    /// Calls `visit` for every lock that is held after all transactions, in the order in which
    /// each thread took them.
    pub(super) fn for_each_held(&self, visit: impl FnMut(ThreadId, ObjectId, Mode)) {
        self.ownership.for_each_held(visit);
    }

    /// Takes back the last transaction.
    pub(super) fn pop(&mut self) {
        self.live -= 1;
        let position = self.live as Position;
        let event = &mut self.events[self.live];
        self.threads[event.thread.index()].runs.pop();
        for enabled in &event.enables {
            self.threads[enabled.index()].enablers.pop();
        }
        for (met, _) in &event.meets {
            self.threads[met.index()].enablers.pop();
        }
        self.chains.truncate(position);
        self.ownership.truncate(position);
    }

    /// Computes the clocks of a transaction of `thread` that would come next. `joins`: threads
    /// whose end it waited for before it took any lock.
    pub(super) fn prepare(&mut self, thread: ThreadId, touched: Touched<'_>, joins: &[ThreadId]) {
        self.ensure(thread);
        self.base.clear();
        self.real.clear();
        let history = &self.threads[thread.index()];
        let since = history.runs.last().map_or(0, |run| run + 1);
        let enablers = history.enablers.iter().rev().take_while(|&&enabler| enabler >= since);
        let joined = joins.iter().filter_map(|joined| self.threads.get(joined.index()));
        // A thread without operations ends where it begins.
        let joined = joined.flat_map(|history| [history.runs.last(), history.enablers.last()]);
        for &before in history.runs.last().into_iter().chain(enablers).chain(joined.flatten()) {
            let before = &self.events[before as usize];
            self.base.join(&before.order);
            self.real.join(&before.real);
            for &(_, met) in before.met(thread) {
                self.base.join(&self.events[met as usize].order);
                self.real.join(&self.events[met as usize].real);
            }
        }
        if touched.by_time {
            for run in self.threads.iter().filter_map(|history| history.runs.last()) {
                self.base.join(&self.events[*run as usize].order);
                self.real.join(&self.events[*run as usize].real);
            }
        }
        self.order.copy_from(&self.base);
        for (object, access, inherited) in touched.iter() {
            for (other, mut walk) in self.chains.threads(object) {
                if other == thread {
                    continue;
                }
                while let Some(entry) = walk.entry() {
                    let event = &self.events[entry.position as usize];
                    let ordered = event.index <= self.order.of(other);
                    let really = inherited || event.index <= self.real.of(other);
                    if ordered && really {
                        break;
                    }
                    if !access.depends_on(entry.access) {
                        walk.past_equals();
                        continue;
                    }
                    if !ordered {
                        self.order.join(&event.order);
                    }
                    if inherited {
                        break;
                    }
                    if !entry.note {
                        self.real.join(&event.real);
                        break;
                    }
                    walk.on();
                }
            }
        }
    }

    /// Appends the transaction that was `prepare`d.
    pub(super) fn push(
        &mut self,
        thread: ThreadId,
        touched: Touched<'_>,
        Footprint { enables, meets, .. }: &Footprint,
        changes: &[(ObjectId, Mode, bool)],
        schedule: (usize, usize),
    ) {
        if let Some(highest) = enables.iter().max() {
            self.ensure(*highest);
        }
        let position = self.live as Position;
        let history = &mut self.threads[thread.index()];
        history.runs.push(position);
        let index = history.runs.len() as u32;
        if self.events.len() == self.live {
            self.events.push(Event::default());
        }
        let event = &mut self.events[self.live];
        event.thread = thread;
        event.index = index;
        event.schedule = schedule;
        event.entries = self.chains.len();
        event.order.copy_from(&self.order);
        event.order.set(thread, index);
        event.real.copy_from(&self.real);
        event.real.set(thread, index);
        event.enables.clear();
        if !enables.is_empty() {
            event.enables.grow().extend_from_slice(enables);
        }
        for enabled in enables {
            self.threads[enabled.index()].enablers.push(position);
        }
        event.meets.clear();
        for &met in meets {
            let history = &mut self.threads[met.index()];
            // Who waits has come.
            event.meets.grow().extend(history.runs.last().map(|&run| (met, run)));
            history.enablers.push(position);
        }
        for (object, access, inherited) in touched.iter() {
            self.chains.push(object, access, inherited, thread, position);
        }
        for &(lock, mode, taken) in changes {
            self.ownership.push(lock, thread, mode, taken, position);
        }
        self.live += 1;
    }

    /// Whether some other thread's decrement of the reference count comes before the last one,
    /// which the transaction that was `prepare`d makes, only because it happened to.
    pub(super) fn has_unordered_decrement(&self, thread: ThreadId, count: ObjectId) -> bool {
        self.chains.threads(count).filter(|&(other, _)| other != thread).any(|(other, mut walk)| {
            while let Some(entry) = walk.entry() {
                if self.events[entry.position as usize].index <= self.base.of(other) {
                    return false;
                }
                if entry.access.decrements() && !entry.note {
                    return true;
                }
                walk.on();
            }
            false
        })
    }

    /// Collects into `positions` the transactions that race with the one of `thread` that was
    /// `prepare`d and may be reversed, the latest first (docs/algorithm.md#race-reversal). `need`:
    /// locks without which it would not have run. `awaits`: it waits for a value first; whether it
    /// could have run earlier is then not known, so that no race hides an earlier one.
    pub(super) fn races(
        &mut self,
        thread: ThreadId,
        touched: Touched<'_>,
        need: &[(ObjectId, Mode)],
        awaits: bool,
        positions: &mut Vec<Position>,
    ) {
        positions.clear();
        self.covered.clear();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for (object, access, _) in touched.iter() {
            for (other, walk) in self.chains.threads(object) {
                if other != thread
                    && let Some(candidate) = self.candidate(other, walk.number(), access)
                {
                    candidates.push(candidate);
                }
            }
        }
        while let Some(candidate) = candidates.pop() {
            let event = &self.events[candidate.position as usize];
            // What covers it covers all earlier ones of its thread.
            if self.covered.of(event.thread) >= event.index {
                continue;
            }
            let locked_out = self.is_locked_out(need, candidate.position);
            if !locked_out && positions.last() != Some(&candidate.position) {
                positions.push(candidate.position);
            }
            if awaits || (locked_out && !is_on(Fault::ReleaseShadows)) {
                let earlier = self.chains.previous(candidate.entry);
                if let Some(earlier) = self.candidate(event.thread, earlier, candidate.access) {
                    candidates.push(earlier);
                }
            } else {
                self.covered.join(&event.order);
            }
        }
        self.candidates = candidates;
    }

    /// The latest of `other`'s entries from `entry` back that `access` depends on, unless it comes
    /// before in any case.
    fn candidate(&self, other: ThreadId, entry: u32, access: Access) -> Option<Candidate> {
        let before = self.base.of(other);
        let mut walk = self.chains.walk(entry);
        while let Some(earlier) = walk.entry() {
            if self.events[earlier.position as usize].index <= before {
                return None;
            }
            if access.depends_on(earlier.access) {
                let position = earlier.position;
                return Some(Candidate { position, entry: walk.number(), access });
            }
            walk.past_equals();
        }
        None
    }

    /// Whether a needed lock was held before the transaction at `position`, and comes free only by
    /// it or after it.
    fn is_locked_out(&self, need: &[(ObjectId, Mode)], position: Position) -> bool {
        need.iter().any(|&(lock, mode)| {
            self.ownership.holders(lock, mode, position).any(|next_change| {
                next_change.is_none_or(|change| {
                    self.is_after(&self.events[change as usize].order, position)
                })
            })
        })
    }

    /// Fills `initials` with the threads that can begin what is to be explored instead of the
    /// transaction at `position`: the ones after it that do not come after it, and then the one of
    /// `thread` that was `prepare`d.
    pub(super) fn initials(
        &mut self,
        position: Position,
        thread: ThreadId,
        initials: &mut ThreadSet,
    ) {
        initials.clear();
        let mut firsts = std::mem::take(&mut self.firsts);
        firsts.clear();
        for number in (0..self.threads.len() as u32).map(ThreadId) {
            if let Some(first) = self.first_independent(position, number) {
                firsts.push(first);
            }
        }
        let precedes = |clock: &Clock, of: ThreadId| {
            firsts.iter().any(|&first| {
                let Event { thread: other, index, .. } = self.events[first as usize];
                other != of && clock.of(other) >= index
            })
        };
        for &first in &firsts {
            let Event { thread: number, order, .. } = &self.events[first as usize];
            if !precedes(order, *number) {
                initials.insert(*number);
            }
        }
        // If `thread` itself has not run since, its new transaction is its first.
        if !self.ran_after(position, thread) && !precedes(&self.order, thread) {
            initials.insert(thread);
        }
        self.firsts = firsts;
    }

    /// The first transaction of `thread` after `position`, if it does not come after the one
    /// there.
    fn first_independent(&self, position: Position, thread: ThreadId) -> Option<Position> {
        let runs = &self.threads[thread.index()].runs;
        let next = runs.partition_point(|&run| run <= position);
        let first = *runs.get(next)?;
        (!self.is_after(&self.events[first as usize].order, position)).then_some(first)
    }

    fn ran_after(&self, position: Position, thread: ThreadId) -> bool {
        self.threads[thread.index()].runs.last().is_some_and(|&run| run > position)
    }

    fn is_after(&self, clock: &Clock, position: Position) -> bool {
        let event = &self.events[position as usize];
        clock.of(event.thread) >= event.index
    }

    fn ensure(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, History::default);
        }
    }
}
