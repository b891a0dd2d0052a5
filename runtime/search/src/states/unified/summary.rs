//! Summaries: what can still be executed from a state, and what of it a transaction before it races
//! with (docs/algorithm.md#unified-search).
//!
//! A summary is a set of entries, one for each object, access and thread: the thread may make the
//! access in some continuation, and it comes after all that the threads in `after` did before the
//! state, by program order, creation, wake-up, join or barrier. Summaries and footprints are kept
//! once and known by numbers; `pass` and `unite` are remembered by pairs of numbers.

use std::rc::Rc;

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, Footprint, ObjectId};
use crate::core::machine::ThreadId;

use super::interned::{Interned, Table};

/// A summary, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct SummaryId(u32);

impl SummaryId {
    /// Nothing can be executed.
    pub(super) const EMPTY: Self = Self(0);
}

/// A footprint and its thread, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct FootId(u32);

/// A set of threads below 64. (With more, all threads are explored, and nobody asks.)
pub(super) type Threads = u64;

/// The set of one thread.
pub(super) const fn only(thread: ThreadId) -> Threads {
    if thread.0 < 64 { 1 << thread.0 } else { 0 }
}

fn set(threads: &[ThreadId]) -> Threads {
    threads.iter().fold(0, |set, &thread| set | only(thread))
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Entry {
    pub(super) object: ObjectId,
    pub(super) access: Access,
    pub(super) thread: ThreadId,
    pub(super) after: Threads,
}

impl Entry {
    const fn key(&self) -> (ObjectId, Access, ThreadId) {
        (self.object, self.access, self.thread)
    }
}

/// What a transaction did, as far as summaries are about it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Foot {
    thread: ThreadId,
    /// In order.
    pub(super) accesses: Vec<(ObjectId, Access)>,
    enables: Threads,
    joins: Threads,
    meets: Threads,
    by_time: bool,
}

/// An act on a channel without the number of its message, which states do not show. Nothing but the
/// dependency of a send and a receive is about numbers, and these are never reversed.
pub(super) const fn unnumbered(access: Access) -> Access {
    match access {
        Access::Send { .. } => Access::Send { number: 0, room: 0 },
        Access::Receive { .. } => Access::Receive { number: 0 },
        other => other,
    }
}

/// Whether the accesses are a send and a receive, of which the one enables the other.
pub(super) const fn enable(one: Access, other: Access) -> bool {
    matches!(
        (one, other),
        (Access::Send { .. }, Access::Receive { .. })
            | (Access::Receive { .. }, Access::Send { .. })
    )
}

/// Whether the order of two accesses to an object may have to be reversed.
fn races(one: Access, other: Access) -> bool {
    one.depends_on(other) && !enable(one, other)
}

impl Foot {
    fn new(thread: ThreadId, footprint: &Footprint) -> Self {
        let accesses = footprint.accesses.iter();
        let mut accesses: Vec<_> =
            accesses.map(|&(object, access)| (object, unnumbered(access))).collect();
        accesses.sort_unstable();
        accesses.dedup();
        Self {
            thread,
            accesses,
            enables: set(&footprint.enables),
            joins: set(&footprint.joins),
            meets: set(&footprint.meets),
            by_time: footprint.by_time,
        }
    }

    fn races_with(&self, entry: &Entry) -> bool {
        let first = self.accesses.partition_point(|&(object, _)| object < entry.object);
        let accesses = self.accesses[first..].iter();
        let mut same = accesses.take_while(|&&(object, _)| object == entry.object);
        same.any(|&(_, access)| races(access, entry.access))
    }

    /// What comes before the transaction comes before the entry, too, if it comes after this.
    fn put_before(&self, after: &mut Threads) {
        let own = only(self.thread);
        if *after & self.enables != 0 {
            *after |= own;
        }
        if self.meets != 0 && *after & (self.meets | own) != 0 {
            *after |= self.meets | own;
        }
        if *after & own != 0 {
            *after |= self.joins;
            if self.by_time {
                *after = Threads::MAX;
            }
        }
    }
}

/// All summaries and footprints of a search.
#[derive(Debug)]
pub(super) struct Summaries {
    feet: Interned<Foot>,
    sets: Interned<[Entry]>,
    passed: Table<(FootId, SummaryId), (SummaryId, Threads)>,
    united: Table<(SummaryId, SummaryId), SummaryId>,
    scratch: Vec<Entry>,
}

/// Results that are remembered; beyond that they are computed again.
const REMEMBERED: usize = 1 << 22;

impl Default for Summaries {
    fn default() -> Self {
        let mut sets: Interned<[Entry]> = Interned::default();
        sets.number(&[], || Rc::new([]));
        Self {
            feet: Interned::default(),
            sets,
            passed: Table::default(),
            united: Table::default(),
            scratch: Vec::new(),
        }
    }
}

impl Summaries {
    /// The number of what a thread did.
    pub(super) fn foot(&mut self, thread: ThreadId, footprint: &Footprint) -> FootId {
        let foot = Foot::new(thread, footprint);
        FootId(self.feet.number(&foot, || Rc::new(foot.clone())))
    }

    /// The part of a footprint that is about these objects.
    pub(super) fn part(&mut self, foot: FootId, mut of: impl FnMut(ObjectId) -> bool) -> FootId {
        let mut part = Foot::clone(self.foot_of(foot));
        part.accesses.retain(|&(object, _)| of(object));
        FootId(self.feet.number(&part, || Rc::new(part.clone())))
    }

    /// What has this number.
    pub(super) fn foot_of(&self, foot: FootId) -> &Foot {
        self.feet.value(foot.0)
    }

    /// The entries of a summary.
    pub(super) fn entries(&self, summary: SummaryId) -> &[Entry] {
        self.sets.value(summary.0)
    }

    /// What can be executed from a state from which the transaction leads to a state with this
    /// summary, as far as it is known by that; and the threads whose accesses race with the
    /// transaction.
    ///
    /// O(accesses + entries x accesses to one object) when it is asked for the first time.
    pub(super) fn pass(&mut self, foot: FootId, summary: SummaryId) -> (SummaryId, Threads) {
        if let Some(&passed) = self.passed.get(&(foot, summary)) {
            return passed;
        }
        let what = Rc::clone(self.feet.value(foot.0));
        let own = only(what.thread);
        let mut wanted = 0;
        let mut entries = std::mem::take(&mut self.scratch);
        entries.clear();
        for entry in self.entries(summary) {
            let mut entry = *entry;
            if entry.after & own == 0 && what.races_with(&entry) {
                wanted |= only(entry.thread);
            }
            what.put_before(&mut entry.after);
            entries.push(entry);
        }
        if is_on(Fault::ConflictsOrder) {
            let conflicts = |entry: &&mut Entry| wanted & only(entry.thread) != 0;
            entries.iter_mut().filter(conflicts).for_each(|entry| entry.after |= own);
        }
        let after = if what.by_time { Threads::MAX } else { own | what.joins };
        let made = what.accesses.iter();
        entries.extend(made.map(|&(object, access)| Entry {
            object,
            access,
            thread: what.thread,
            after,
        }));
        let result = (self.keep(&mut entries), wanted);
        self.scratch = entries;
        if self.passed.len() >= REMEMBERED {
            self.passed.clear();
        }
        self.passed.insert((foot, summary), result);
        result
    }

    /// What can be executed by the one or the other.
    pub(super) fn unite(&mut self, one: SummaryId, other: SummaryId) -> SummaryId {
        if one == other || other == SummaryId::EMPTY {
            return one;
        }
        if one == SummaryId::EMPTY {
            return other;
        }
        let pair = if one.0 < other.0 { (one, other) } else { (other, one) };
        if let Some(&united) = self.united.get(&pair) {
            return united;
        }
        let mut entries = std::mem::take(&mut self.scratch);
        entries.clear();
        entries.extend_from_slice(self.entries(one));
        entries.extend_from_slice(self.entries(other));
        let united = self.keep(&mut entries);
        self.scratch = entries;
        if self.united.len() >= REMEMBERED {
            self.united.clear();
        }
        self.united.insert(pair, united);
        united
    }

    /// The number of a set of entries; of those for the same object, access and thread one is left,
    /// which comes after what all of them come after.
    fn keep(&mut self, entries: &mut Vec<Entry>) -> SummaryId {
        entries.sort_unstable();
        entries.dedup_by(|later, earlier| {
            let same = earlier.key() == later.key();
            if same && is_on(Fault::ConflictsOrder) {
                earlier.after |= later.after;
            } else if same {
                earlier.after &= later.after;
            }
            same
        });
        SummaryId(self.sets.number(entries, || Rc::from(&entries[..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: ObjectId = ObjectId(1);

    fn foot(summaries: &mut Summaries, thread: u32, access: Access) -> FootId {
        let mut footprint = Footprint::default();
        footprint.touch(X, access);
        summaries.foot(ThreadId(thread), &footprint)
    }

    #[test]
    fn who_depends_on_the_transaction_is_wanted() {
        let summaries = &mut Summaries::default();
        let (read, write) = (foot(summaries, 0, Access::Read), foot(summaries, 1, Access::Write));
        let (after_read, none) = summaries.pass(read, SummaryId::EMPTY);
        assert_eq!(none, 0);
        let (both, wanted) = summaries.pass(write, after_read);
        assert_eq!(wanted, only(ThreadId(0)));
        assert_eq!(summaries.entries(both).len(), 2);
        let another = foot(summaries, 2, Access::Read);
        assert_eq!(summaries.pass(another, after_read).1, 0);
    }

    #[test]
    fn who_was_created_is_not_reversed_with_what_came_before() {
        let summaries = &mut Summaries::default();
        let child = foot(summaries, 1, Access::Write);
        let after = summaries.pass(child, SummaryId::EMPTY).0;
        let mut footprint = Footprint::default();
        footprint.enables.push(ThreadId(1));
        let spawn = summaries.foot(ThreadId(0), &footprint);
        let (after, wanted) = summaries.pass(spawn, after);
        assert_eq!(wanted, 0);
        let parent = foot(summaries, 0, Access::Write);
        assert_eq!(summaries.pass(parent, after).1, 0);
        let stranger = foot(summaries, 2, Access::Write);
        assert_eq!(summaries.pass(stranger, after).1, only(ThreadId(1)));
    }

    #[test]
    fn of_two_ways_the_weaker_order_is_left() {
        let summaries = &mut Summaries::default();
        let child = foot(summaries, 1, Access::Write);
        let alone = summaries.pass(child, SummaryId::EMPTY).0;
        let mut footprint = Footprint::default();
        footprint.enables.push(ThreadId(1));
        let spawn = summaries.foot(ThreadId(0), &footprint);
        let spawned = summaries.pass(spawn, alone).0;
        assert_ne!(spawned, alone);
        assert_eq!(summaries.unite(spawned, alone), alone);
    }
}
