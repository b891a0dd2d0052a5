//! What a transaction learns and teaches, and which of its accesses race with records.

use std::ops::Range;

use crate::core::fault::{Fault, is_on};
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::discipline::{Event, Kind, Mode, Ordering, Passing, Run, Value};

use crate::states::counted::CountSet;
use crate::states::unordered::Unordered;

use super::super::bits::Bits;
use super::super::settings::Pairs;
use super::super::sharing::Sharing;
use super::super::summary::{enable, unnumbered};
use super::channels::{Carried, of};
use super::{Known, Lessons, Record, Records, Watched};

/// The access that comes first in tables.
const FIRST: Access = Access::Read;

/// Two accesses that race; the later one is of the transaction that was judged.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Pair {
    pub(in super::super) earlier: Record,
    pub(in super::super) later: Record,
}

/// What is watched, and how.
pub(in super::super) struct Watch<'a> {
    pub(in super::super) watched: &'a Watched,
    pub(in super::super) pairs: Pairs,
    pub(in super::super) records: &'a mut Records,
    pub(in super::super) sharing: &'a mut Sharing,
    /// Which accesses are loose.
    pub(in super::super) unordered: &'a Unordered,
    /// Two atomic accesses were found that nothing orders, and of which a weaker memory could show
    /// other values.
    pub(in super::super) weak_values: bool,
    /// Sets of counts of which one came to zero although a thread had not passed on what it did to
    /// what they count.
    pub(in super::super) failed: Vec<CountSet>,
}

/// A transaction that is being judged.
struct Judge<'a, 'w> {
    known: &'a mut Known,
    watch: &'a mut Watch<'w>,
    run: &'a Run,
    thread: ThreadId,
    /// What its thread knows.
    now: Bits,
    /// What its acquires learn.
    order: Lessons,
    /// What its releases left.
    left: Vec<(ObjectId, Mode, Bits)>,
    pairs: &'a mut Vec<Pair>,
}

impl Known {
    /// Goes on to what is known after the transaction, which begins where this was known; collects
    /// the pairs that race.
    ///
    /// O(events x (records of the object + threads)), and O(rows) for each new record.
    pub(in super::super) fn judge(
        &mut self,
        run: &Run,
        watch: &mut Watch<'_>,
        pairs: &mut Vec<Pair>,
    ) {
        pairs.clear();
        let Some(thread) = run.thread else { return };
        let watched = watch.watched;
        let is_watched = |event: &Event| match event {
            Event::Data { object, .. } => watched.contains(object),
            _ => false,
        };
        if watched.is_empty() || self.is_empty() && !run.events.iter().any(is_watched) {
            return;
        }
        let order = self.lessons_before(thread, run);
        let now = std::mem::take(&mut self.own(thread).known);
        let mut judge =
            Judge { known: self, watch, run, thread, now, order, left: Vec::new(), pairs };
        judge.go();
    }

    /// What acquires of the transaction learn from the transactions that it comes after.
    fn lessons_before(&mut self, thread: ThreadId, run: &Run) -> Lessons {
        let footprint = &run.footprint;
        let mut order = self.own(thread).lessons.clone();
        for &joined in &footprint.joins {
            order.add(&self.own(joined).lessons.clone());
        }
        if footprint.by_time {
            self.threads.iter().for_each(|own| order.add(&own.lessons));
        }
        for &(object, access) in &footprint.accesses {
            if is_on(Fault::TraceOrderForgotten) {
                break;
            }
            let touched = self.touched.range((object, FIRST)..);
            for (&(_, other), lessons) in touched.take_while(|(key, _)| key.0 == object) {
                if access.depends_on(other) && !enable(access, other) {
                    order.add(lessons);
                }
            }
            let Some(passed) = self.channels.get(&object) else { continue };
            match access {
                Access::Receive { number } => {
                    let mine = |carried: &&Carried| carried.number as u16 == number;
                    let message = passed.sends.iter().find(mine);
                    message.into_iter().for_each(|carried| order.add(&carried.lessons));
                }
                Access::Send { .. } => {
                    let receive = |number: u32| Access::Receive { number: number as u16 };
                    let rooms = passed.receives.iter();
                    rooms
                        .filter(|carried| access.depends_on(receive(carried.number)))
                        .for_each(|carried| order.add(&carried.lessons));
                }
                _ => {}
            }
        }
        order
    }
}

impl Judge<'_, '_> {
    fn go(&mut self) {
        let events = &self.run.events;
        let mut next = 0;
        while let Some(event) = events.get(next) {
            let number = next;
            next += 1;
            match *event {
                Event::Acquire(lock, mode) => self.acquire(lock, mode),
                Event::Release(lock, mode) => self.left.push((lock, mode, self.now.clone())),
                Event::Data { object, access, kind, site } => {
                    self.learn(object, access, kind);
                    self.access(number, (object, access, kind, site));
                    // What it is to larger blocks is no act of its own: what it releases goes with
                    // it.
                    while let Some(&Event::Data { object, access, kind, site }) = events.get(next)
                        && access.is_of_part()
                    {
                        self.access(next, (object, access, kind, site));
                        next += 1;
                    }
                    self.pass_on(object, kind);
                }
                Event::Meet => self.meet(),
                Event::Fence(ordering) => self.fence(ordering),
                Event::Pass(channel, passing) => self.pass(channel, passing),
                Event::Resume(channel, taken) => self.resume(channel, taken),
                Event::Spawn(started) => self.known.own(started).known = self.now.clone(),
                Event::Join(ended) => self.now.add(&self.known.own(ended).known.clone()),
                Event::Ends { from, to, mask } => self.ends(&(from..to), mask),
                Event::Last(count) => self.last(count),
                Event::Queue { .. } | Event::Fail(..) | Event::Notice(_) => {}
            }
        }
        self.end();
    }

    fn acquire(&mut self, lock: ObjectId, mode: Mode) {
        if is_on(Fault::NoLockEdges) {
            return;
        }
        if let Some(row) = self.order.0.get(&(lock, mode)) {
            self.now.add(row);
        }
    }

    /// Takes over what an acquiring read sees.
    fn learn(&mut self, object: ObjectId, access: Access, kind: Kind) {
        if let Kind::Atomic(Value::Read | Value::Updated, ordering) = kind
            && !access.is_of_part()
            && let Some(seen) = self.known.messages.get(&object)
        {
            if ordering.acquires {
                self.now.add(seen);
            }
            if !access.counts() {
                let seen = seen.clone();
                self.known.own(self.thread).read.add(&seen);
            }
        }
    }

    /// Leaves what the thread releases at an atomic object: release sequences end with a store by
    /// anyone and go on through updates.
    fn pass_on(&mut self, object: ObjectId, kind: Kind) {
        let Kind::Atomic(value, ordering) = kind else { return };
        if matches!(value, Value::Read | Value::Unused) {
            return;
        }
        let released = if ordering.releases {
            self.now.clone()
        } else {
            self.known.own(self.thread).released.clone()
        };
        let message = self.known.messages.entry(object).or_default();
        if value == Value::Written && !is_on(Fault::StoresPassOn) {
            *message = released;
        } else {
            message.add(&released);
        }
        if message.is_empty() {
            self.known.messages.remove(&object);
        }
    }

    fn fence(&mut self, ordering: Ordering) {
        let own = self.known.own(self.thread);
        if ordering.acquires {
            self.now.add(&own.read);
        }
        if ordering.releases {
            own.released = self.now.clone();
        }
    }

    /// The last thread has come to a barrier: all know what each of them knew when it came.
    fn meet(&mut self) {
        for &met in &self.run.footprint.meets {
            self.now.add(&self.known.own(met).known.clone());
        }
        for &met in &self.run.footprint.meets {
            self.known.own(met).known = self.now.clone();
        }
    }

    /// Compares an access, the event of this number, with the records that conflict and are not
    /// known, and keeps it.
    fn access(
        &mut self,
        number: usize,
        (object, access, kind, site): (ObjectId, Access, Kind, u64),
    ) {
        let Some(counted) = self.watch.unordered.loose(number) else { return };
        if !self.watch.watched.contains(&object) {
            return;
        }
        let values = self.watch.watched.has_values_of(&object);
        let later = Record { thread: self.thread, object, site, access, kind, counted };
        let mut covered = Bits::default();
        for number in self.known.records.iter() {
            let earlier = *self.watch.records.of(number);
            if earlier.object != object {
                continue;
            }
            let knows = self.now.contains(number);
            if !knows && earlier.thread != self.thread {
                if self.is_race(&earlier, &later) {
                    self.pairs.push(Pair { earlier, later });
                }
                self.watch.weak_values |= values && shows_weak_values(&earlier, &later);
            }
            if self.watch.pairs == Pairs::First
                && later.stands_for(&earlier, knows)
                && !(values && later.is_stronger(&earlier))
            {
                covered.insert(number);
            }
        }
        // Of what counts keep apart it matters only that there is something.
        let kept = if counted == CountSet::NONE { later } else { later.any_counted() };
        let number = self.watch.records.number(kept);
        if self.known.records.contains(number) {
            covered.insert(number);
        }
        if !covered.is_empty() {
            self.forget(&covered);
        }
        self.known.records.insert(number);
        self.now.insert(number);
    }

    fn is_race(&self, earlier: &Record, later: &Record) -> bool {
        let (one, other) = (earlier.kind.ordering(), later.kind.ordering());
        let mixed = other.are_mixed(later.access, one, earlier.access);
        let race = earlier.kind == Kind::Plain || later.kind == Kind::Plain || mixed;
        // Who allocates a block again has freed it: a use that is not ordered before that is a race
        // with the deallocation. An access that races with another one is not reported a second
        // time, as a use of the block.
        let reported =
            |pair: &Pair| pair.earlier.thread == earlier.thread && pair.later.site == later.site;
        let again = match later.access {
            Access::Create => true,
            Access::Use => self.pairs.iter().any(reported),
            _ => false,
        };
        race && !again && later.access.depends_on(earlier.access)
    }

    /// The thread has made the last decrement of a count: all that others did to what it counts was
    /// passed on, or the count does not keep it apart.
    fn last(&mut self, count: ObjectId) {
        for number in self.known.records.iter() {
            let record = self.watch.records.of(number);
            let is_of = self.watch.unordered.counts(record.counted).contains(&count);
            if is_of && record.thread != self.thread && !self.now.contains(number) {
                self.watch.failed.push(record.counted);
            }
        }
    }

    /// Memory ends: nobody can race with what was done there any more.
    fn ends(&mut self, objects: &Range<u64>, mask: u64) {
        let records = &self.watch.records;
        let is_there = |number: &u32| objects.contains(&(records.of(*number).object.0 & mask));
        let mut gone = Bits::default();
        self.known.records.iter().filter(is_there).for_each(|number| {
            gone.insert(number);
        });
        if !gone.is_empty() {
            self.forget(&gone);
        }
    }

    /// Removes records.
    fn forget(&mut self, numbers: &Bits) {
        self.known.each_row(|row| row.take_away(numbers));
        self.known.records.take_away(numbers);
        self.now.take_away(numbers);
        self.order.each(&mut |row| row.take_away(numbers));
        self.left.iter_mut().for_each(|(_, _, row)| row.take_away(numbers));
    }

    fn pass(&mut self, channel: ObjectId, passing: Passing) {
        let passed = self.known.channels.entry(channel).or_default();
        match passing {
            Passing::Send { number, capacity } => {
                if let Some(first) = number.checked_sub(capacity).filter(|_| capacity > 0)
                    && let Some(carried) = of(&passed.receives, first)
                {
                    self.now.add(&carried.row);
                }
                if capacity != Passing::UNBOUNDED {
                    let filled = i64::from(number) - i64::from(capacity.max(1));
                    passed.receives.retain(|carried| i64::from(carried.number) > filled);
                }
                let row = self.now.clone();
                passed.sends.push(Carried { number, row, lessons: Lessons::default() });
            }
            Passing::Receive { number, wakes } => {
                if let Some(carried) = of(&passed.sends, number) {
                    self.now.add(&carried.row);
                }
                passed.sends.retain(|carried| carried.number > number);
                let row = self.now.clone();
                if let Some(sender) = wakes {
                    passed.answers.insert(sender, row.clone());
                }
                passed.receives.push(Carried { number, row, lessons: Lessons::default() });
            }
            Passing::Close { .. } => passed.closed.add(&self.now),
            Passing::DropSender => passed.dropped_senders.add(&self.now),
            Passing::DropReceiver { .. } => {
                passed.sends.drain(..).for_each(|carried| self.now.add(&carried.row));
                passed.closed.add(&self.now);
            }
            Passing::Fail => self.now.add(&passed.closed),
            Passing::Closed => {
                self.now.add(&passed.closed);
                self.now.add(&passed.dropped_senders);
            }
            Passing::Peek => {}
        }
    }

    fn resume(&mut self, channel: ObjectId, taken: bool) {
        let Some(passed) = self.known.channels.get_mut(&channel) else { return };
        let answer = passed.answers.remove(&self.thread);
        let row = if taken { answer.as_ref() } else { Some(&passed.closed) };
        if let Some(row) = row {
            self.now.add(row);
        }
    }

    /// Leaves what comes after the transaction learns from it.
    fn end(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        for (lock, mode, row) in &self.left {
            order.released(*lock, *mode, row);
        }
        let own = self.known.own(self.thread);
        own.known = std::mem::take(&mut self.now);
        let footprint = &self.run.footprint;
        if !order.0.is_empty() {
            for &(object, access) in &footprint.accesses {
                if self.watch.sharing.leaves_out(object) {
                    continue;
                }
                let touched = self.known.touched.entry((object, unnumbered(access)));
                touched.or_default().add(&order);
            }
            for event in &self.run.events {
                if let Event::Pass(channel, passing) = event {
                    self.carry(*channel, *passing, &order);
                }
            }
            for &enabled in &footprint.enables {
                self.known.own(enabled).lessons.add(&order);
            }
        }
        for &met in &footprint.meets {
            order.add(&self.known.own(met).lessons.clone());
        }
        for &met in &footprint.meets {
            self.known.own(met).lessons = order.clone();
        }
        self.known.own(self.thread).lessons = order;
    }

    /// What the message, or the room for one, carries of the order of transactions.
    fn carry(&mut self, channel: ObjectId, passing: Passing, order: &Lessons) {
        let Some(passed) = self.known.channels.get_mut(&channel) else { return };
        let (row, number) = match passing {
            Passing::Send { number, .. } => (&mut passed.sends, number),
            Passing::Receive { number, .. } => (&mut passed.receives, number),
            _ => return,
        };
        if let Some(carried) = row.iter_mut().find(|carried| carried.number == number) {
            carried.lessons = order.clone();
        }
    }
}

/// Whether a weaker memory could show other values of two accesses that nothing orders. (If one of
/// them is plain, that is a race.)
fn shows_weak_values(earlier: &Record, later: &Record) -> bool {
    let plain = earlier.kind == Kind::Plain || later.kind == Kind::Plain;
    !plain
        && later.access.depends_on(earlier.access)
        && later.kind.ordering().shows_weak_values(earlier.kind.ordering())
}

impl Record {
    /// What stands for all accesses of the thread that the same counts keep apart.
    const fn any_counted(self) -> Self {
        let Self { thread, counted, .. } = self;
        let (object, access) = (ObjectId(u64::MAX), Access::Read);
        Self { thread, object, site: 0, access, kind: Kind::Plain, counted }
    }

    /// Whether a weaker memory may show more of an earlier record than of this one.
    fn is_stronger(&self, earlier: &Self) -> bool {
        let (own, other) = (self.kind.ordering(), earlier.kind.ordering());
        !own.weak && other.weak || own.trusted && !other.trusted
    }

    /// Whether every race with an earlier record is one with this one as well, or one of this one
    /// with it. `knows`: the thread of this one knows the earlier one.
    fn stands_for(&self, earlier: &Self, knows: bool) -> bool {
        let part = self.access.is_of_part();
        let kind = self.kind == Kind::Plain
            || earlier.kind != Kind::Plain
                && part == earlier.access.is_of_part()
                && self.kind.ordering().internal <= earlier.kind.ordering().internal;
        let access = match self.access {
            Access::Write => !part,
            access => access == earlier.access,
        };
        let writes = self.access == Access::Write;
        let counted = self.counted == CountSet::NONE;
        counted && kind && access && (self.thread == earlier.thread || writes && knows)
    }
}
