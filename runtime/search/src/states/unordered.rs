//! Accesses that neither a common lock nor the creation and joining of threads keeps apart.
//!
//! Happens-before belongs to an execution, and a state does not show by which of them it was
//! reached. What is the same in all of them is enough for most data: which locks were held (Savage
//! and others: Eraser, TOCS 1997), and what was before a thread was created or after it was joined.
//! Two accesses to an object, one of them plain and one a write, of different threads, are kept
//! apart if both held a lock, one of them exclusively, or if creation and joining order them. All
//! accesses of a search are compared, whatever executions they are from. If nothing is left, no
//! execution has a data race; what is left may race (or is ordered by an atomic variable, a queue,
//! a channel).
//!
//! Atomic accesses are compared in the same way. While all conflicting ones to an object are kept
//! apart, each of them is a both-mover: the thread that makes it has an exclusive right to the
//! object, which it was given by its creator, took by acquiring a lock, or by joining (the access
//! predicates of Flanagan and Qadeer, SoftMC 2003; nobody else can give such a right to a thread
//! that does nothing, their condition ii). Of two that are not kept apart a weaker memory could
//! show other values; two of different sizes may race.

use super::counted::{CountSet, CountSets, Guard};
use crate::core::chains::ByObject;
use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;
use crate::discipline::{Event, Kind, Mode, Ordering, Run, Value};
use crate::drive::transactional::Racer;

/// What is before a thread's next event by creation and joining alone. A thread's events are
/// counted in stretches, between its creations of threads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Past {
    /// The thread's own stretch.
    stretch: u32,
    /// Per thread, how many of its stretches are before.
    before: Vec<u32>,
    /// Counts of references of which the thread has made the last decrement, in order.
    last: Vec<ObjectId>,
}

impl Past {
    fn includes(&self, thread: ThreadId, stretch: u32) -> bool {
        self.before.get(thread.index()).is_some_and(|&stretches| stretch < stretches)
    }

    fn decrements_last(&mut self, count: ObjectId) {
        if let Err(place) = self.last.binary_search(&count) {
            self.last.insert(place, count);
        }
    }

    fn include(&mut self, thread: ThreadId, stretches: u32) {
        let index = thread.index();
        if self.before.len() <= index {
            self.before.resize(index + 1, 0);
        }
        self.before[index] = self.before[index].max(stretches);
    }
}

/// The past of a thread.
fn past(pasts: &mut Vec<Past>, thread: ThreadId) -> &mut Past {
    if pasts.len() <= thread.index() {
        pasts.resize_with(thread.index() + 1, Past::default);
    }
    &mut pasts[thread.index()]
}

/// Of accesses whose users cannot see weak values.
const TRUSTED: Ordering = Ordering { trusted: true, ..Ordering::RELAXED };

/// An access.
#[derive(Clone, PartialEq, Debug)]
struct Made {
    thread: ThreadId,
    past: Past,
    access: Access,
    kind: Kind,
    locks: Vec<(ObjectId, Mode)>,
}

/// What two accesses that are not kept apart may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pair {
    /// A data race.
    Race,
    /// Conflicting atomic accesses.
    Conflict {
        /// A weaker memory could show other values.
        weak: bool,
    },
}

/// What was found of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// These two accesses may race.
    Race(Racer, Racer),
    /// Operations on it conflict that nothing keeps apart.
    Conflict,
    /// Two decrements of a reference count are not kept apart, one of which may be the last.
    Decrements,
    /// Atomic operations on it are not kept apart, of which a weaker memory could show other values
    /// unless something else orders them.
    Weak,
}

impl Made {
    fn writes(&self) -> bool {
        !self.access.only_reads()
    }

    /// It is the use of a word that belongs to another operation.
    fn is_use(&self) -> bool {
        self.writes() && matches!(self.kind, Kind::Atomic(Value::Read | Value::Unused, _))
    }

    /// What it may be together with another one; `None` if nothing.
    fn pair(&self, other: &Self) -> Option<Pair> {
        if self.thread == other.thread || !self.access.depends_on(other.access) {
            return None;
        }
        let pair = match (self.kind, other.kind) {
            (Kind::Atomic(_, one), Kind::Atomic(_, two))
                if !one.are_mixed(self.access, two, other.access) =>
            {
                let weak = (one.weak || two.weak) && !(one.trusted && two.trusted);
                Pair::Conflict { weak }
            }
            _ => Pair::Race,
        };
        (!self.is_kept_apart(other)).then_some(pair)
    }

    fn is_kept_apart(&self, other: &Self) -> bool {
        let common = |&(lock, mode): &(ObjectId, Mode)| {
            other.locks.iter().any(|&(l, m)| l == lock && m.max(mode) == Mode::Exclusive)
        };
        self.past.includes(other.thread, other.past.stretch)
            || other.past.includes(self.thread, self.past.stretch)
            || self.locks.iter().any(common)
    }
}

/// An access that others are compared with.
#[derive(Debug)]
struct Kept {
    made: Made,
    /// Where the first one like it was made.
    site: u64,
    /// By which counts it is kept apart from those that it may race with.
    guard: Guard,
    /// Of it and some other one a weaker memory could show other values.
    weak: bool,
}

impl Kept {
    /// The two may race. Returns whether more is known of the other one by that.
    fn meet(&mut self, other: &mut Self) -> bool {
        match (&self.made.past.last[..], &other.made.past.last[..]) {
            (last @ [_, ..], []) => {
                self.guard = Guard::Nothing;
                other.guard.meet(last)
            }
            ([], last @ [_, ..]) => {
                self.guard.meet(last);
                other.guard.fail()
            }
            _ => {
                self.guard.fail();
                other.guard.fail()
            }
        }
    }

    /// By which counts it is kept apart from what it may race with; `None` if it may race with
    /// nothing, and shows no weak values.
    fn loose(&self, ignores_values: bool, sets: &mut CountSets) -> Option<CountSet> {
        let weak = self.weak && !ignores_values;
        let counted = if weak { CountSet::NONE } else { sets.of(&self.guard) };
        (weak || self.guard != Guard::Apart).then_some(counted)
    }
}

/// What was done to an object.
#[derive(Debug, Default)]
struct Object {
    /// Different accesses.
    made: Vec<Kept>,
    /// That it may race was reported.
    races: bool,
    /// That operations on it conflict was reported.
    conflicts: bool,
    /// That this is so of decrements was reported.
    decrements: bool,
    /// That a weaker memory could show other values was reported.
    weak: bool,
}

/// The accesses of a search.
#[derive(Debug, Default)]
pub(crate) struct Unordered {
    objects: ByObject<Object>,
    /// Operations on queues are compared, too.
    queues: bool,
    /// It does not matter any more of which operations a weaker memory could show other values.
    ignores_values: bool,
    counts: CountSets,
    /// Of each event of the transaction that was noted last, by which counts it is kept apart, if
    /// it may race with others, or show weak values with them.
    loose: Vec<Option<CountSet>>,
    /// An access that was made before turned out to be loose.
    loosened: bool,
}

impl Unordered {
    /// One that compares operations on queues of waiters, too.
    pub(crate) fn with_queues() -> Self {
        Self { queues: true, ..Self::default() }
    }

    /// Notes what a transaction did. `held`: the locks that its thread held before; `pasts`: of all
    /// threads, brought up to date. Tells each thing of every object once.
    ///
    /// O(events x different accesses of their objects).
    pub(crate) fn note(
        &mut self,
        run: &Run,
        held: &[(ObjectId, Mode)],
        pasts: &mut Vec<Past>,
        mut report: impl FnMut(ObjectId, Found),
    ) {
        self.loose.clear();
        self.loose.resize(run.events.len(), None);
        let Some(thread) = run.thread else { return };
        let mut locks = held.to_vec();
        let began = past(pasts, thread).stretch;
        for (number, event) in run.events.iter().enumerate() {
            match *event {
                Event::Acquire(lock, mode) => locks.push((lock, mode)),
                Event::Release(lock, mode) => {
                    if let Some(place) = locks.iter().rposition(|&held| held == (lock, mode)) {
                        locks.remove(place);
                    }
                }
                Event::Spawn(child) => {
                    let own = past(pasts, thread);
                    own.stretch += 1;
                    let (stretch, mut before) = (own.stretch, own.clone());
                    before.stretch = 0;
                    before.include(thread, stretch);
                    *past(pasts, child) = before;
                }
                Event::Join(joined) => {
                    let theirs = past(pasts, joined).clone();
                    let own = past(pasts, thread);
                    for (index, stretches) in (0..).zip(theirs.before) {
                        own.include(ThreadId(index), stretches);
                    }
                    own.include(joined, u32::MAX);
                }
                Event::Ends { from, to, mask } => {
                    let is_there = |count: &ObjectId| (from..to).contains(&(count.0 & mask));
                    pasts.iter_mut().for_each(|past| past.last.retain(|count| !is_there(count)));
                }
                Event::Last(count) => past(pasts, thread).decrements_last(count),
                Event::Data { object, access, kind, site } => {
                    if !access.only_reads() && kind != Kind::Plain {
                        // If that is a count, it is in use again.
                        pasts.iter_mut().for_each(|past| past.last.retain(|&last| last != object));
                        if matches!(kind, Kind::Atomic(Value::Written, _)) {
                            self.loosened |= self.counts.overwritten(object);
                        }
                    }
                    let mut past = past(pasts, thread).clone();
                    if matches!(kind, Kind::Atomic(_, ordering) if ordering.guarded) {
                        // Whom the transaction creates comes after all of it.
                        past.stretch = began;
                    }
                    let made = Made { thread, past, access, kind, locks: locks.clone() };
                    self.loose[number] = self.compare(object, made, site, &mut report);
                }
                Event::Queue { object, access } if self.queues => {
                    let kind = Kind::Atomic(Value::Updated, TRUSTED);
                    let past = past(pasts, thread).clone();
                    let made = Made { thread, past, access, kind, locks: locks.clone() };
                    self.compare(object, made, 0, &mut report);
                }
                _ => {}
            }
        }
    }

    /// Notes what a thread waits to do. (It sees every value that others leave behind.)
    pub(crate) fn note_waiting(
        &mut self,
        thread: ThreadId,
        accesses: &[(ObjectId, Access)],
        held: &[(ObjectId, Mode)],
        pasts: &mut Vec<Past>,
        mut report: impl FnMut(ObjectId, Found),
    ) {
        for &(object, access) in accesses {
            let kind = Kind::Atomic(Value::Updated, TRUSTED);
            let past = past(pasts, thread).clone();
            let made = Made { thread, past, access, kind, locks: held.to_vec() };
            self.compare(object, made, 0, &mut report);
        }
    }

    /// Compares an access with all others to the object. Returns by which counts it is kept apart
    /// if it is loose.
    fn compare(
        &mut self,
        object: ObjectId,
        made: Made,
        site: u64,
        report: &mut impl FnMut(ObjectId, Found),
    ) -> Option<CountSet> {
        let Object { made: all, races, conflicts, decrements, weak: shown } =
            self.objects.entry(object).or_default();
        if let Some(known) = all.iter().find(|known| known.made == made) {
            return known.loose(self.ignores_values, &mut self.counts);
        }
        let racer = |made: &Made, site| Racer { thread: made.thread, site, writes: made.writes() };
        let mut new = Kept { made, site, guard: Guard::Apart, weak: false };
        for other in all.iter_mut() {
            match new.made.pair(&other.made) {
                Some(Pair::Race) => {
                    self.loosened |= new.meet(other);
                    if !std::mem::replace(races, true) {
                        let (one, two) = (racer(&other.made, other.site), racer(&new.made, site));
                        report(object, Found::Race(one, two));
                    }
                }
                Some(Pair::Conflict { weak }) => {
                    if weak && !self.ignores_values {
                        new.weak = true;
                        self.loosened |= !std::mem::replace(&mut other.weak, true);
                        if !std::mem::replace(shown, true) {
                            report(object, Found::Weak);
                        }
                    }
                    // The word of a lock is used as the lock wants it: that is no operation of its
                    // own.
                    if new.made.is_use() || other.made.is_use() {
                        continue;
                    }
                    let both = new.made.access.decrements() && other.made.access.decrements();
                    let (reported, found) = match both {
                        true => (&mut *decrements, Found::Decrements),
                        false => (&mut *conflicts, Found::Conflict),
                    };
                    if !std::mem::replace(reported, true) {
                        report(object, found);
                    }
                }
                None => {}
            }
        }
        let loose = new.loose(self.ignores_values, &mut self.counts);
        all.push(new);
        loose
    }

    /// By which counts the event of this number, of the transaction that was noted last, is kept
    /// apart, if it may race with another one, or show weak values with it.
    pub(crate) fn loose(&self, event: usize) -> Option<CountSet> {
        self.loose.get(event).copied().flatten()
    }

    /// The counts of a set.
    pub(crate) fn counts(&self, set: CountSet) -> &[ObjectId] {
        self.counts.counts(set)
    }

    /// One of the counts came to zero although a thread had not passed on what it did to what they
    /// count: they keep nothing apart.
    pub(crate) fn does_not_count(&mut self, set: CountSet) {
        self.loosened |= self.counts.fail(set);
    }

    /// Weak values were seen: nothing more is to be found out of them.
    pub(crate) fn ignore_values(&mut self) {
        self.ignores_values = true;
    }

    /// Whether accesses that were made before turned out to be loose since this was last asked.
    pub(crate) fn take_loosened(&mut self) -> bool {
        std::mem::take(&mut self.loosened)
    }
}
