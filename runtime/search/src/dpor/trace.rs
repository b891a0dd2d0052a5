//! The execution under way as a trace: its runs, how they depend on each other, and which of them
//! race with a new one.
//!
//! Happens-before of runs (not of the program's memory model) is the transitive closure of program
//! order, dependency of footprints (docs/algorithm.md#dependency), and enabling (spawn, wake, the
//! end of a joined thread). It is kept as one vector clock a run. A new run costs, per access, one
//! step for each thread that touched the object, and per race O(T log depth + T^2).
//!
//! Reversibility (docs/algorithm.md#race-reversal). A run that waits for a lock does not race with
//! the run that released it, but with the one that took it; a race that is certainly not reversible
//! is passed over, and does not hide earlier ones. Where this cannot be known for sure
//! (reader-writer locks, other awaited conditions), the race is reversed *and* does not hide
//! earlier ones.

use crate::core::chains::{Chains, Entry, Position};
use crate::core::clock::Clock;
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::core::thread_set::ThreadSet;

/// One run.
#[derive(Default)]
struct Event {
    thread: Option<ThreadId>,
    /// It is its thread's run number `index`, counted from 1.
    index: u32,
    /// What happens before it, itself included.
    clock: Clock,
    enables: Vec<ThreadId>,
    /// Threads that had waited at a barrier for it, and their last runs.
    meets: Vec<(ThreadId, Position)>,
    /// Number of its first entry in the chains.
    entries: usize,
}

impl Event {
    /// The last runs of the others at the barrier, if it is this one that let `thread` go on there.
    fn met(&self, thread: ThreadId) -> &[(ThreadId, Position)] {
        let is_there =
            self.thread == Some(thread) || self.meets.iter().any(|&(met, _)| met == thread);
        if is_there { &self.meets } else { &[] }
    }
}

/// What a thread did so far.
#[derive(Default)]
struct History {
    /// Positions of its runs.
    runs: Vec<Position>,
    /// Positions of the runs that enabled it.
    enablers: Vec<Position>,
    /// Nodes at which it could run while it could not at the node before, and the other way round,
    /// in turn.
    toggles: Vec<Position>,
}

/// Whether two runs that race can be turned round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reversible {
    No,
    Maybe,
    Yes,
}

/// The access part of a run's footprint.
#[derive(Clone, Copy)]
pub(crate) struct Touched<'a> {
    /// Accesses that it made.
    pub(crate) real: &'a [(ObjectId, Access)],
    /// Accesses inherited from a sleeper (docs/algorithm.md#inherited-accesses).
    pub(crate) inherited: &'a [(ObjectId, Access)],
    /// See [`crate::core::footprint::Footprint::by_time`].
    pub(crate) by_time: bool,
}

impl Touched<'_> {
    fn iter(&self) -> impl Iterator<Item = (ObjectId, Access, bool)> + '_ {
        let real = self.real.iter().map(|&(object, access)| (object, access, false));
        real.chain(self.inherited.iter().map(|&(object, access)| (object, access, true)))
    }
}

/// The trace under way.
#[derive(Default)]
pub(crate) struct Trace {
    events: Vec<Event>,
    live: usize,
    /// The note says whether an access was not made but inherited from a sleeper that was woken
    /// (docs/algorithm.md#inherited-accesses).
    chains: Chains<bool>,
    threads: Vec<History>,
    /// Of the run that was `prepare`d: what happens before it without its own accesses, and with
    /// them.
    base: Clock,
    clock: Clock,
    covered: Clock,
    races: Vec<(Position, Reversible)>,
}

impl Trace {
    /// Number of runs; also the position of the node (state) after them.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// The thread that ran last.
    pub(crate) fn last_thread(&self) -> Option<ThreadId> {
        self.live.checked_sub(1).and_then(|last| self.events[last].thread)
    }

    /// Notes which threads can run at the node after all runs.
    pub(crate) fn arrive(&mut self, can_run: &ThreadSet) {
        let node = self.live as Position;
        if let Some(highest) = can_run.iter().last() {
            self.ensure(highest);
        }
        for (number, history) in self.threads.iter_mut().enumerate() {
            let could = history.toggles.len() % 2 == 1;
            if could != can_run.contains(ThreadId(number as u32)) {
                history.toggles.push(node);
            }
        }
    }

    /// Takes back the last run and everything noted after it.
    pub(crate) fn pop(&mut self) {
        self.live -= 1;
        let position = self.live as Position;
        let event = &mut self.events[self.live];
        if let Some(thread) = event.thread {
            self.threads[thread.index()].runs.pop();
        }
        for enabled in event.enables.drain(..) {
            self.threads[enabled.index()].enablers.pop();
        }
        for (met, _) in event.meets.drain(..) {
            self.threads[met.index()].enablers.pop();
        }
        self.chains.truncate(position);
        for history in &mut self.threads {
            while history.toggles.pop_if(|node| *node > position).is_some() {}
        }
    }

    /// Computes the clocks of a run of `thread` that would come next. `joins`: threads whose end it
    /// waited for.
    pub(crate) fn prepare(&mut self, thread: ThreadId, touched: Touched<'_>, joins: &[ThreadId]) {
        self.ensure(thread);
        let history = &self.threads[thread.index()];
        self.base.clear();
        let since = history.runs.last().map_or(0, |run| run + 1);
        let enablers = history.enablers.iter().rev().take_while(|&&enabler| enabler >= since);
        for &before in history.runs.last().into_iter().chain(enablers) {
            let before = &self.events[before as usize];
            self.base.join(&before.clock);
            for &(_, met) in before.met(thread) {
                self.base.join(&self.events[met as usize].clock);
            }
        }
        for joined in joins {
            // A thread without visible operations ends where it begins.
            if let Some(history) = self.threads.get(joined.index()) {
                for &run in history.runs.last().into_iter().chain(history.enablers.last()) {
                    self.base.join(&self.events[run as usize].clock);
                }
            }
        }
        if touched.by_time {
            for run in self.threads.iter().filter_map(|history| history.runs.last()) {
                self.base.join(&self.events[*run as usize].clock);
            }
        }
        self.clock.copy_from(&self.base);
        for (object, access, _) in touched.iter() {
            for (other, mut walk) in self.chains.threads(object) {
                if other == thread {
                    continue;
                }
                while let Some(entry) = walk.entry() {
                    let event = &self.events[entry.position as usize];
                    if event.index <= self.clock.of(other) {
                        break;
                    }
                    if access.depends_on(entry.access) {
                        self.clock.join(&event.clock);
                        break;
                    }
                    walk.past_equals();
                }
            }
        }
    }

    /// Appends the run that was `prepare`d.
    pub(crate) fn push(
        &mut self,
        thread: ThreadId,
        touched: Touched<'_>,
        enables: &[ThreadId],
        meets: &[ThreadId],
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
        event.thread = Some(thread);
        event.index = index;
        event.clock.copy_from(&self.clock);
        event.clock.set(thread, index);
        event.enables.clear();
        event.enables.extend_from_slice(enables);
        event.entries = self.chains.len();
        for enabled in enables {
            self.threads[enabled.index()].enablers.push(position);
        }
        event.meets.clear();
        for &met in meets {
            let history = &mut self.threads[met.index()];
            // Who waits has come.
            event.meets.extend(history.runs.last().map(|&run| (met, run)));
            history.enablers.push(position);
        }
        for (object, access, inherited) in touched.iter() {
            self.chains.push(object, access, inherited, thread, position);
        }
        self.live += 1;
    }

    /// Whether some other thread's decrement of the reference count comes before the last one, the
    /// run that was `prepare`d, only because it happened to.
    pub(crate) fn has_unordered_decrement(&self, thread: ThreadId, count: ObjectId) -> bool {
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

    /// Collects into `positions` the runs that race with the run of `thread` that was `prepare`d
    /// and may be reversed, the latest first.
    pub(crate) fn races(
        &mut self,
        thread: ThreadId,
        touched: Touched<'_>,
        positions: &mut Vec<Position>,
    ) {
        let mut races = std::mem::take(&mut self.races);
        races.clear();
        let pending = self.pending(thread, touched);
        let single = touched.real.len() + touched.inherited.len() == 1;
        for (object, access, inherited) in touched.iter() {
            for (other, mut walk) in self.chains.threads(object) {
                if other == thread {
                    continue;
                }
                while let Some(entry) = walk.entry() {
                    let event = &self.events[entry.position as usize];
                    if event.index <= self.base.of(other) {
                        break;
                    }
                    if !access.depends_on(entry.access) {
                        walk.past_equals();
                        continue;
                    }
                    let reversible = self.reversible(&pending, entry, other, access, inherited);
                    if reversible != Reversible::No {
                        races.push((entry.position, reversible));
                    }
                    if reversible == Reversible::Yes && single {
                        // The thread's earlier runs happen before this one. (With several accesses,
                        // another object may still make the verdict on this pair a careful one.)
                        break;
                    }
                    walk.on();
                }
            }
        }
        // The latest first; of two verdicts on one pair the careful one.
        races.sort_unstable_by_key(|&(run, verdict)| {
            (std::cmp::Reverse(run), verdict == Reversible::Yes)
        });
        races.dedup_by_key(|race| race.0);
        positions.clear();
        self.covered.clear();
        for &(position, reversible) in &races {
            let event = &self.events[position as usize];
            if event.thread.is_some_and(|other| self.covered.of(other) >= event.index) {
                continue;
            }
            positions.push(position);
            if reversible == Reversible::Yes {
                self.covered.join(&event.clock);
            }
        }
        self.races = races;
    }

    /// Fills `initials` with the threads that can begin what is to be explored instead of the run
    /// at `position`: the runs after it that do not happen after it, and then the run of `thread`
    /// that was `prepare`d (the weak initials of Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic
    /// partial order reduction, POPL 2014, section 4).
    pub(crate) fn initials(&self, position: Position, thread: ThreadId, initials: &mut ThreadSet) {
        initials.clear();
        for number in self.numbers() {
            let clock = match self.first_independent(position, number) {
                Some(run) => &self.events[run as usize].clock,
                // `thread` itself has not run since: its new run is its first.
                None if number == thread && !self.ran_after(position, thread) => &self.clock,
                None => continue,
            };
            if !self.preceded(position, number, clock) {
                initials.insert(number);
            }
        }
    }

    /// As `initials`, for what begins with the run of `thread` as early as it can: before the other
    /// runs that it depends on.
    pub(crate) fn initials_at_once(
        &self,
        position: Position,
        thread: ThreadId,
        touched: Touched<'_>,
        initials: &mut ThreadSet,
    ) {
        initials.clear();
        for number in self.numbers() {
            let Some(run) = self.first_independent(position, number) else {
                let first = number == thread && !self.ran_after(position, thread);
                if first && !self.preceded(position, number, &self.base) {
                    initials.insert(number);
                }
                continue;
            };
            let event = &self.events[run as usize];
            let later = self.base.of(number) < event.index
                && self.chains.made(event.entries, run).any(|(object, access)| {
                    touched.iter().any(|(o, a, _)| o == object && a.depends_on(access))
                });
            if !later && !self.preceded(position, number, &event.clock) {
                initials.insert(number);
            }
        }
    }

    /// Whether a run after `position` that does not happen after the run there, and is of another
    /// thread than `thread`, is in `clock`.
    fn preceded(&self, position: Position, thread: ThreadId, clock: &Clock) -> bool {
        self.numbers().any(|other| {
            other != thread
                && self
                    .first_independent(position, other)
                    .is_some_and(|run| clock.of(other) >= self.events[run as usize].index)
        })
    }

    fn numbers(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len() as u32).map(ThreadId)
    }

    /// Whether `thread`, at some node since it stands before the run that was `prepare`d, could not
    /// run.
    pub(crate) fn waited(&self, thread: ThreadId) -> bool {
        self.waited_since(thread, self.since(thread))
    }

    /// The first run of `thread` after `position`, if it does not happen after the run there. (If
    /// it does, so do all later ones.)
    fn first_independent(&self, position: Position, thread: ThreadId) -> Option<Position> {
        let runs = &self.threads[thread.index()].runs;
        let next = runs.partition_point(|&run| run <= position);
        let first = *runs.get(next)?;
        (!self.is_after(&self.events[first as usize].clock, position)).then_some(first)
    }

    fn ran_after(&self, position: Position, thread: ThreadId) -> bool {
        self.threads[thread.index()].runs.last().is_some_and(|&run| run > position)
    }

    /// Whether `clock` belongs to a run that happens after (or is) the one at `position`.
    fn is_after(&self, clock: &Clock, position: Position) -> bool {
        let event = &self.events[position as usize];
        event.thread.is_some_and(|thread| clock.of(thread) >= event.index)
    }

    fn pending(&self, thread: ThreadId, touched: Touched<'_>) -> Pending {
        let since = self.since(thread);
        let waited = self.waited_since(thread, since);
        let takes_lock = touched.real.iter().any(|&(_, access)| takes_lock(access));
        Pending { thread, since, waited, takes_lock }
    }

    /// The first node at which `thread` stood before its next run.
    fn since(&self, thread: ThreadId) -> Position {
        let history = &self.threads[thread.index()];
        let behind = |last: Option<&Position>| last.map_or(0, |position| position + 1);
        behind(history.runs.last()).max(behind(history.enablers.last()))
    }

    fn waited_since(&self, thread: ThreadId, since: Position) -> bool {
        let toggles = &self.threads[thread.index()].toggles;
        let toggled = toggles.partition_point(|&node| node <= since);
        toggled < toggles.len() || toggled.is_multiple_of(2)
    }

    /// Whether the run of `pending.thread` could have come before the run that made `entry`, were
    /// it not for their order.
    fn reversible(
        &self,
        pending: &Pending,
        entry: Entry<bool>,
        other: ThreadId,
        access: Access,
        inherited: bool,
    ) -> Reversible {
        let is_inherited = inherited || entry.note;
        if !is_inherited {
            // The lock was held until then.
            let released = match access {
                Access::Lock => matches!(entry.access, Access::Unlock | Access::ReadUnlock),
                Access::ReadLock => entry.access == Access::Unlock,
                _ => false,
            };
            if released {
                return Reversible::No;
            }
        }
        let exclusive = !is_inherited
            && access == Access::Lock
            && matches!(entry.access, Access::Lock | Access::TryLock | Access::Read);
        if entry.position >= pending.since {
            return self.reversible_while_pending(pending, entry.position, other, exclusive);
        }
        if is_inherited {
            return Reversible::Maybe;
        }
        match access {
            // The lock was free when it was taken.
            Access::Lock | Access::ReadLock if entry.access == Access::Lock => Reversible::Yes,
            Access::Lock | Access::ReadLock => Reversible::Maybe,
            _ if pending.takes_lock || pending.waited => Reversible::Maybe,
            _ => Reversible::Yes,
        }
    }

    /// As `reversible`, when the thread already stood before the same run at the node of the other
    /// one.
    fn reversible_while_pending(
        &self,
        pending: &Pending,
        position: Position,
        other: ThreadId,
        exclusive: bool,
    ) -> Reversible {
        let toggles = &self.threads[pending.thread.index()].toggles;
        let passed = toggles.partition_point(|&node| node <= position);
        if passed % 2 == 1 {
            return Reversible::Yes;
        }
        if !exclusive {
            return Reversible::Maybe;
        }
        // It waited for a lock that another thread held. Only if that came free by a run that does
        // not need the other one can it come first.
        let Some(&node) = toggles.get(passed) else { return Reversible::No };
        let freeing = &self.events[node as usize - 1];
        let index = self.events[position as usize].index;
        if freeing.clock.of(other) >= index { Reversible::No } else { Reversible::Yes }
    }

    fn ensure(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, History::default);
        }
    }
}

/// A run that is about to be judged against earlier ones.
struct Pending {
    thread: ThreadId,
    /// The first node at which the thread stood before this run.
    since: Position,
    /// It could not run at some node since then.
    waited: bool,
    /// It takes a lock.
    takes_lock: bool,
}

fn takes_lock(access: Access) -> bool {
    matches!(access, Access::Lock | Access::ReadLock)
}
