//! What threads know of accesses: weak happens-before as a part of states, without clocks
//! (docs/algorithm.md#unified-search).
//!
//! Only accesses to *watched* objects are kept, as *records*: of each thread, place and kind the
//! latest. For every thread, message and lock there is a row of bits, one for each record. A row
//! says which records are known to who has it, or learns it. What a thread learns of a lock depends
//! on the order of transactions, so that there is such a row for everything by which a later
//! transaction can come after others ([`Lessons`]). The rules read and write bits only, so equal
//! states have equal futures, races included.

mod channels;
mod judge;
mod watched;

use std::collections::BTreeMap;

use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::discipline::{Kind, Mode};
use crate::states::counted::CountSet;
use crate::states::unordered::Unordered;

use super::bits::Bits;
use super::interned::Table;
use channels::Passed;
pub(super) use judge::{Pair, Watch};
pub(super) use watched::Watched;

/// An access that later ones are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Record {
    pub(super) thread: ThreadId,
    pub(super) object: ObjectId,
    pub(super) site: u64,
    pub(super) access: Access,
    pub(super) kind: Kind,
    /// The counts that keep it apart from all that it may race with.
    pub(super) counted: CountSet,
}

/// The numbers of all records of a search.
#[derive(Debug, Default)]
pub(super) struct Records {
    numbers: Table<Record, u32>,
    all: Vec<Record>,
}

impl Records {
    fn number(&mut self, record: Record) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(record).or_insert(next);
        if number == next {
            self.all.push(record);
        }
        number
    }

    fn of(&self, number: u32) -> &Record {
        &self.all[number as usize]
    }
}

/// What an acquire of a lock, in a mode, learns from the transactions before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Lessons(BTreeMap<(ObjectId, Mode), Bits>);

impl Lessons {
    fn add(&mut self, other: &Self) {
        for (&key, bits) in &other.0 {
            self.0.entry(key).or_default().add(bits);
        }
    }

    /// A release of the lock in this mode left a row.
    fn released(&mut self, lock: ObjectId, mode: Mode, row: &Bits) {
        if row.is_empty() {
            return;
        }
        for acquire in [Mode::Exclusive, Mode::Shared] {
            if mode.excludes(acquire) {
                self.0.entry((lock, acquire)).or_default().add(row);
            }
        }
    }

    fn each(&mut self, change: &mut impl FnMut(&mut Bits)) {
        self.0.values_mut().for_each(change);
        self.0.retain(|_, bits| !bits.is_empty());
    }

    /// Removes what is in all of the others.
    fn take_away(&mut self, common: &Self) {
        for (key, bits) in &common.0 {
            if let Some(mine) = self.0.get_mut(key) {
                mine.take_away(bits);
            }
        }
        self.0.retain(|_, bits| !bits.is_empty());
    }

    fn keep(&mut self, other: &Self) {
        self.0.retain(|key, bits| {
            match other.0.get(key) {
                Some(theirs) => bits.keep(theirs),
                None => return false,
            }
            !bits.is_empty()
        });
    }
}

/// What one thread knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Own {
    /// Records.
    known: Bits,
    /// What its reads saw: what a fence acquires.
    read: Bits,
    /// What it knew at its last fence that releases.
    released: Bits,
    /// What acquires learn that come after its last transaction.
    lessons: Lessons,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Known {
    records: Bits,
    threads: Vec<Own>,
    /// Per object, what an acquiring read learns.
    messages: BTreeMap<ObjectId, Bits>,
    /// What acquires learn that come after such accesses.
    touched: BTreeMap<(ObjectId, Access), Lessons>,
    channels: BTreeMap<ObjectId, Passed>,
}

impl Known {
    /// Whether there is nothing to be known.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn own(&mut self, thread: ThreadId) -> &mut Own {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Own::default);
        }
        &mut self.threads[thread.index()]
    }

    /// Calls `change` for every row.
    fn each_row(&mut self, mut change: impl FnMut(&mut Bits)) {
        let change = &mut change;
        for own in &mut self.threads {
            [&mut own.known, &mut own.read, &mut own.released].into_iter().for_each(&mut *change);
            own.lessons.each(change);
        }
        self.messages.values_mut().for_each(&mut *change);
        self.messages.retain(|_, row| !row.is_empty());
        self.touched.values_mut().for_each(|lessons| lessons.each(change));
        self.touched.retain(|_, lessons| !lessons.0.is_empty());
        self.channels.values_mut().for_each(|passed| passed.each_row(change));
        self.channels.retain(|_, passed| !passed.is_empty());
    }

    /// Forgets what others know of accesses that counts keep apart, and those which some decrement
    /// has passed on.
    fn pass_on_counted(&mut self, records: &Records, unordered: &Unordered) {
        let counted = |number: &u32| records.of(*number).counted != CountSet::NONE;
        let (mut passed, mut kept) = (Bits::default(), Vec::new());
        for number in self.records.iter().filter(counted) {
            let record = records.of(number);
            let is_passed_on = |count: &ObjectId| {
                self.messages.get(count).is_some_and(|message| message.contains(number))
            };
            if unordered.counts(record.counted).iter().any(is_passed_on) {
                passed.insert(number);
            } else {
                kept.push((number, record.thread));
            }
        }
        if !passed.is_empty() {
            self.each_row(|row| row.take_away(&passed));
            self.records.take_away(&passed);
        }
        if kept.is_empty() {
            return;
        }
        let mut own: BTreeMap<ThreadId, (Bits, Bits)> = BTreeMap::new();
        let mut all = Bits::default();
        for &(number, thread) in &kept {
            let knows = self.own(thread);
            let (known, released) = own.entry(thread).or_default();
            known.insert(number);
            if knows.released.contains(number) {
                released.insert(number);
            }
            all.insert(number);
        }
        self.each_row(|row| row.take_away(&all));
        for (thread, (known, released)) in own {
            let knows = self.own(thread);
            knows.known.add(&known);
            knows.released.add(&released);
        }
    }

    /// Forgets what makes no difference any more. `living`: the threads that have begun and have
    /// not ended.
    pub(super) fn settle(&mut self, records: &Records, living: &[ThreadId], unordered: &Unordered) {
        self.pass_on_counted(records, unordered);
        // What all that live know, their children will know.
        let mut kept = self.records.clone();
        for number in self.records.iter() {
            let maker = records.of(number).thread;
            let mut others = living.iter().filter(|&&thread| thread != maker);
            let knows = |&thread: &ThreadId| {
                self.threads.get(thread.index()).is_some_and(|own| own.known.contains(number))
            };
            if others.all(knows) {
                kept.remove(number);
            }
        }
        if kept.is_empty() {
            *self = Self::default();
            return;
        }
        if kept != self.records {
            self.each_row(|row| row.keep(&kept));
            self.records = kept;
        }
        let mut common: Option<Lessons> = None;
        for &thread in living {
            let lessons = &self.own(thread).lessons;
            match &mut common {
                Some(common) => common.keep(lessons),
                None => common = Some(lessons.clone()),
            }
        }
        let common = common.unwrap_or_default();
        self.touched.values_mut().for_each(|lessons| lessons.take_away(&common));
        self.touched.retain(|_, lessons| !lessons.0.is_empty());
        self.channels.values_mut().for_each(|passed| passed.take_away(&common));
        self.channels.retain(|_, passed| !passed.is_empty());
        for (number, own) in (0..).map(ThreadId).zip(&mut self.threads) {
            if !living.contains(&number) {
                own.read = Bits::default();
                own.released = Bits::default();
                own.lessons.take_away(&common);
            }
        }
        while self.threads.last().is_some_and(|own| *own == Own::default()) {
            self.threads.pop();
        }
    }
}
