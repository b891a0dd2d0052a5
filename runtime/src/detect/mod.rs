//! The data-race detector: C11 happens-before over one interleaved execution, exact to the byte.
//!
//! Happens-before is computed with vector clocks (`clock`, `thread`), one component a thread,
//! counting *epochs*: stretches of a thread between two of its releases. Every granule (8 aligned
//! bytes) has a shadow cell (`cell`, `shadow`) with the accesses that a later one could still race
//! with, and, if atomic operations act on it, what they released (`sync`, `extra`).
//!
//! The memory model is C++20's, with these choices:
//! - A load reads the last store of the interleaving, so what it synchronises with is known when it
//!   executes.
//! - A plain write to an atomic's memory ends its release sequences, as the value read later is not
//!   a release's.
//! - **Commuting operations synchronise with nobody they commute with.** The search runs only one
//!   order of two operations whose footprints commute (reference counts, readers of a lock, updates
//!   with unused results), so an edge between them would hide the races of the other order. The
//!   last decrement depends on the others and takes their releases; so does an exclusive acquire
//!   with the shared releases. An edge that C++ gives two commuting operations whose order is
//!   forced by something else (a relaxed flag, say) is given up with it: no interface of a
//!   reference count or lock promises it.
//! - Consume does not exist. Non-atomic accesses to overlapping bytes of atomics of other sizes are
//!   judged byte by byte.
//! - **Atomic accesses of different sizes to a common byte, one of them a write, have to be
//!   ordered** (std's documentation of atomics: such unordered accesses are undefined behaviour, as
//!   are atomic and plain ones). They are operations on different objects, so an atomic read
//!   acquires nothing from a write of another size: what would order the two is what nobody may
//!   rely on.

mod access;
mod advice;
mod cell;
mod channels;
mod clock;
mod extra;
mod record;
mod shadow;
mod sync;
mod thread;

#[cfg(test)]
mod tests;

pub use access::{AccessInfo, AccessKind, Atomic, By, Race, StackId};

use advice::Event;
use cell::{Cell, Found};
use extra::Extras;
use lockred_protocol::hooks::Order;
use lockred_search::footprint::Access;
use record::{Kind, Record};
use shadow::{GRANULE, Shadow};
use std::collections::HashMap;
use std::ops::Range;
use sync::Part;
use thread::Thread;

/// Detects data races of one execution after the other.
///
/// Call it at every access, in execution order. Each call that is an access answers with a race of
/// it with an earlier access, if there is any (one, also when there are several). Threads are
/// indices in creation order: 0 exists from the start, others are made by [`Detector::spawn`];
/// calls for a thread that does not exist panic. Cost of an access: proportional to the granules it
/// covers and the accesses remembered there (one or two where data is private), a join of clocks
/// for acquires and releases.
#[derive(Debug)]
pub struct Detector {
    shadow: Shadow,
    extras: Extras,
    /// The threads of this execution are the first `live`; the others keep their memory.
    threads: Vec<Thread>,
    live: usize,
    /// Number of this execution; cells of others are empty.
    generation: u32,
    weak_pair: bool,
    /// What went through known channels, by their addresses.
    channels: HashMap<usize, channels::Passed>,
    /// What it was notified of synchronisation in this execution, if that is kept.
    events: Option<Vec<Event>>,
}

/// Bytes of an access in the granule at `granule`, as a mask; the access is `addr..=last`.
#[inline]
fn mask(granule: usize, addr: usize, last: usize) -> u8 {
    let from = addr.saturating_sub(granule);
    let to = (last - granule).min(GRANULE - 1);
    (0xffu8 << from) & (0xffu8 >> (GRANULE - 1 - to))
}

/// The same bytes, as a part of an atomic word of `size` bytes.
#[inline]
fn part(granule: usize, addr: usize, last: usize, size: usize) -> Part {
    Part { mask: mask(granule, addr, last), size: size as u8 }
}

/// The granules that `addr..addr + size` touches, and the last byte. `size` is not 0.
#[inline]
fn granules(addr: usize, size: usize) -> (impl Iterator<Item = usize>, usize) {
    let last = addr.saturating_add(size - 1);
    // Half open: an inclusive range costs a flag at every step.
    ((addr / GRANULE..last / GRANULE + 1).map(|g| g * GRANULE), last)
}

impl Detector {
    /// Largest number of threads in one execution.
    pub const MAX_THREADS: u32 = 1 << 16;

    /// A detector for addresses anywhere, fastest in these disjoint ranges (arena, globals).
    ///
    /// # Panics
    /// When there is no address space for their shadow, five times their size.
    #[must_use]
    pub fn new(ranges: &[Range<usize>]) -> Self {
        let shadow = Shadow::new(ranges);
        let (extras, threads) = (Extras::default(), Vec::new());
        let mut new = Self {
            shadow,
            extras,
            threads,
            live: 0,
            generation: 0,
            weak_pair: false,
            channels: HashMap::new(),
            events: None,
        };
        new.reset();
        new
    }

    /// Begins a new execution with thread 0 alone, all memory untouched. Constant time.
    pub fn reset(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.shadow.forget();
            self.generation = 1;
        }
        self.shadow.tidy();
        self.extras.reset();
        self.channels.clear();
        if let Some(events) = &mut self.events {
            events.clear();
        }
        self.weak_pair = false;
        self.live = 0;
        self.start(0);
    }

    fn start(&mut self, thread: u32) -> &mut Thread {
        let index = thread as usize;
        assert!(thread < Self::MAX_THREADS && index == self.live, "thread {thread} out of turn");
        self.live += 1;
        if self.threads.len() < self.live {
            self.threads.push(Thread::default());
        }
        self.threads[index].start(index);
        &mut self.threads[index]
    }

    /// `parent` creates `child`, which must be the next index.
    ///
    /// # Panics
    /// When it is not, or is not below [`Self::MAX_THREADS`].
    pub fn spawn(&mut self, parent: u32, child: u32) {
        self.keep(Event::Spawn(parent, child));
        self.start(child);
        let parent = parent as usize;
        let [made, maker] = self
            .threads
            .get_disjoint_mut([child as usize, parent])
            .expect("two threads that exist");
        made.clock.join(&maker.clock);
        maker.next_epoch(parent);
    }

    /// `joiner` has seen the end of `ended`.
    pub fn join(&mut self, joiner: u32, ended: u32) {
        self.keep(Event::Join(joiner, ended));
        let [joiner, ended] = self
            .threads
            .get_disjoint_mut([joiner as usize, ended as usize])
            .expect("two threads that exist");
        joiner.clock.join(&ended.clock);
    }

    /// Whether everything that any thread did so far happens before what `thread` does next: then
    /// nothing that it does can race until it creates a thread. O(threads).
    #[must_use]
    pub fn is_behind_all(&self, thread: u32) -> bool {
        let clock = &self.threads[thread as usize].clock;
        let others = self.threads[..self.live].iter().enumerate();
        others
            .filter(|&(other, _)| other != thread as usize)
            .all(|(other, its)| its.clock.get(other) <= clock.get(other))
    }

    /// A fence of `thread`.
    #[inline]
    pub fn fence(&mut self, thread: u32, order: Order) {
        self.keep(Event::Fence(thread, order));
        self.threads[thread as usize].fence(thread as usize, order);
    }

    /// A plain read of any size and alignment.
    #[inline]
    pub fn read(&mut self, by: By, addr: usize, size: usize) -> Option<Race> {
        self.access(Kind::READ, by, addr, size)
    }

    /// A plain write of any size and alignment.
    #[inline]
    pub fn write(&mut self, by: By, addr: usize, size: usize) -> Option<Race> {
        self.access(Kind::WRITE, by, addr, size)
    }

    /// The memory is given back to the allocator: conflicts like a write.
    pub fn freed(&mut self, by: By, addr: usize, size: usize) -> Option<Race> {
        self.access(Kind::FREE, by, addr, size)
    }

    /// A block of memory comes into being, for which the eight bytes at `addr` stand, which no
    /// program has: conflicts like a write with every [use](Self::uses) of it.
    pub fn born(&mut self, by: By, addr: usize) {
        self.access(Kind::BIRTH, by, addr, GRANULE);
    }

    /// A block for which the eight bytes at `addr` stand is accessed, or freed.
    pub fn uses(&mut self, by: By, addr: usize) -> Option<Race> {
        self.access(Kind::READ, by, addr, GRANULE)
    }

    /// The memory begins a new life (allocated again at the same address, a stack given to another
    /// thread): what happened to it before is forgotten.
    pub fn allocated(&mut self, addr: usize, size: usize) {
        if size == 0 {
            return;
        }
        let (granules, last) = granules(addr, size);
        for granule in granules {
            let bytes = mask(granule, addr, last);
            let cell = self.shadow.cell(granule);
            if cell.generation != self.generation {
                continue;
            }
            cell.records.iter_mut().for_each(|r| r.forget(bytes));
            if cell.extra != 0 {
                let (extra, spare) = self.extras.get(cell.extra);
                extra.records.retain_mut(|r| {
                    r.forget(bytes);
                    r.mask() != 0
                });
                extra.releases.end(bytes, spare);
            }
        }
    }

    /// An atomic load, or a compare-exchange that failed.
    pub fn atomic_read(&mut self, by: By, addr: usize, size: usize, op: Atomic) -> Option<Race> {
        self.keep(Event::Read(by, addr, size, op));
        self.take(by, addr, size, op);
        let weak = op.order != Order::SeqCst;
        self.access(Kind::atomic(false, weak, op.trusted, op.access), by, addr, size)
    }

    /// An atomic operation that is left out, though it may be made from now on, over and over: it
    /// reads, or writes the value that is there, and orders nothing. `weak`: it may see a stale
    /// value.
    pub fn look(
        &mut self,
        by: By,
        addr: usize,
        size: usize,
        access: Access,
        weak: bool,
    ) -> Option<Race> {
        let writes = access == Access::Write;
        self.access(Kind::atomic(writes, weak, !weak, access), by, addr, size)
    }

    /// An atomic store.
    pub fn atomic_write(&mut self, by: By, addr: usize, size: usize, op: Atomic) -> Option<Race> {
        self.keep(Event::Write(by, addr, size, op));
        let weak = op.order != Order::SeqCst;
        let race = self.access(Kind::atomic(true, weak, op.trusted, op.access), by, addr, size);
        self.give(by, addr, size, op, false);
        race
    }

    /// An atomic read-modify-write, or a compare-exchange that succeeded.
    pub fn atomic_rmw(&mut self, by: By, addr: usize, size: usize, op: Atomic) -> Option<Race> {
        self.keep(Event::Update(by, addr, size, op));
        self.take(by, addr, size, op);
        let weak = op.order != Order::SeqCst;
        let race = self.access(Kind::atomic(true, weak, op.trusted, op.access), by, addr, size);
        self.give(by, addr, size, op, true);
        race
    }

    /// Whether two conflicting atomic accesses that happens-before leaves unordered occurred in
    /// this execution, of which one was not SeqCst (commuting and trusted pairs excepted): values
    /// may then differ from those under sequential consistency. After a race the answer may be
    /// false although there was one.
    #[must_use]
    pub fn saw_unordered_weak_pair(&self) -> bool {
        self.weak_pair
    }

    /// The synchronisation of an atomic read.
    fn take(&mut self, by: By, addr: usize, size: usize, op: Atomic) {
        let thread = &mut self.threads[by.thread as usize];
        let into = if op.order.acquires() { &mut thread.clock } else { &mut thread.read };
        let (granules, last) = granules(addr, size.max(1));
        for granule in granules {
            let cell = self.shadow.cell(granule);
            if cell.generation == self.generation && cell.extra != 0 {
                let releases = &self.extras.get(cell.extra).0.releases;
                releases.take(part(granule, addr, last, size), op.access, into);
            }
        }
    }

    /// The synchronisation of an atomic write. Its access is recorded already, so cells are of this
    /// generation.
    fn give(&mut self, by: By, addr: usize, size: usize, op: Atomic, continues: bool) {
        let index = by.thread as usize;
        let released = self.threads[index].released(op.order);
        let (granules, last) = granules(addr, size.max(1));
        for granule in granules {
            let bytes = part(granule, addr, last, size);
            let cell = self.shadow.cell(granule);
            if released.is_empty() && cell.extra == 0 {
                continue;
            }
            let (extra, spare) = self.extras.ensure(&mut cell.extra);
            if continues {
                extra.releases.update(bytes, op.access, released, spare);
            } else {
                extra.releases.store(bytes, op.access, released, spare);
            }
        }
        if op.order.releases() {
            self.threads[index].next_epoch(index);
        }
    }

    /// Compares with what is remembered, and remembers. A plain write ends the release sequences of
    /// its bytes.
    #[inline]
    fn access(&mut self, kind: Kind, by: By, addr: usize, size: usize) -> Option<Race> {
        if size == 0 {
            return None;
        }
        let epoch = self.threads[by.thread as usize].clock.get(by.thread as usize);
        let new = Record::new(epoch, by, kind, size);
        let granule = addr & !(GRANULE - 1);
        if size <= GRANULE - (addr - granule) {
            // So are nearly all.
            let earlier =
                self.access_granule(granule, new.with(mask(granule, addr, addr + size - 1)));
            return earlier.map(|earlier| report(granule, &earlier, by, kind, addr, size));
        }
        self.access_many(new, kind, by, addr, size)
    }

    /// The same, where it is in several granules.
    #[inline(never)]
    fn access_many(
        &mut self,
        new: Record,
        kind: Kind,
        by: By,
        addr: usize,
        size: usize,
    ) -> Option<Race> {
        let mut race = None;
        let (granules, last) = granules(addr, size);
        for granule in granules {
            let part = new.with(mask(granule, addr, last));
            if let Some(earlier) = self.access_granule(granule, part)
                && race.is_none()
            {
                race = Some(report(granule, &earlier, by, kind, addr, size));
            }
        }
        race
    }

    /// The part of an access that is in one granule. Answers the access that it races with.
    #[inline]
    fn access_granule(&mut self, granule: usize, new: Record) -> Option<Record> {
        let cell = self.shadow.cell(granule);
        if cell.generation != self.generation {
            *cell = Cell { generation: self.generation, records: [new, Record::UNUSED], extra: 0 };
            return None;
        }
        if cell.extra == 0 && cell.is_known(&new) {
            return None;
        }
        self.compare_granule(granule, new)
    }

    /// The same, where something else is remembered.
    #[inline(never)]
    fn compare_granule(&mut self, granule: usize, new: Record) -> Option<Record> {
        let cell = self.shadow.cell(granule);
        let clock = &self.threads[new.thread() as usize].clock;
        let mut found = Found::default();
        for old in &mut cell.records {
            found.compare(old, &new, clock);
        }
        if cell.extra != 0 {
            let (extra, spare) = self.extras.get(cell.extra);
            for old in &mut extra.records {
                found.compare(old, &new, clock);
            }
            extra.records.retain(|r| r.mask() != 0);
            if new.kind().is_plain_write() && !extra.releases.is_empty() {
                extra.releases.end(new.mask(), spare);
            }
        }
        if !found.redundant && !cell::insert(&mut cell.records, &new) {
            let records = &mut self.extras.ensure(&mut cell.extra).0.records;
            if !cell::insert(records, &new) {
                records.push(new);
            }
        }
        self.weak_pair |= found.weak_pair;
        found.race
    }
}

#[cold]
fn report(granule: usize, old: &Record, by: By, kind: Kind, addr: usize, size: usize) -> Race {
    let (first, length) = old.bytes(granule);
    Race {
        earlier: AccessInfo {
            thread: u32::from(old.thread()),
            site: old.site(),
            kind: old.kind().public(),
            addr: first,
            size: length,
            stack: old.stack(),
        },
        later: AccessInfo {
            thread: by.thread,
            site: by.site,
            kind: kind.public(),
            addr,
            size,
            stack: by.stack,
        },
    }
}
