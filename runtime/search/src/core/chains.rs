//! For every object and thread, the thread's accesses to the object in the execution under way, the
//! latest first.
//!
//! Race reversal and clocks ask for the last access that depends on a given one. Each entry links
//! to the thread's previous access to the object, and to the last one before it of another kind, so
//! that a row of equal accesses is passed in one step. Entries are removed in the opposite order of
//! their arrival; the memory is kept and bounded by the longest execution.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::core::footprint::{Access, ObjectId};
use crate::core::machine::ThreadId;

/// Position of a run in the execution under way, counted from 0 at the root.
pub(crate) type Position = u32;

const NONE: u32 = u32::MAX;

/// An access that a run made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<N> {
    /// The run.
    pub(crate) position: Position,
    pub(crate) access: Access,
    /// What the owner of the chains notes about the access.
    pub(crate) note: N,
    thread: ThreadId,
    slot: u32,
    previous: u32,
    previous_other: u32,
}

#[derive(Default)]
struct Slot {
    object: Option<ObjectId>,
    /// Per thread, its latest entry.
    heads: Vec<u32>,
    entries: u32,
}

/// Tables by object.
pub(crate) type ByObject<T> = HashMap<ObjectId, T, BuildHasherDefault<ObjectHasher>>;

/// Sets of objects.
pub(crate) type Objects = HashSet<ObjectId, BuildHasherDefault<ObjectHasher>>;

/// The chains of all objects and threads.
pub(crate) struct Chains<N> {
    by_object: ByObject<u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    entries: Vec<Entry<N>>,
}

impl<N> Default for Chains<N> {
    fn default() -> Self {
        Self {
            by_object: HashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<N: Copy> Chains<N> {
    /// Appends an access of the run at `position`, the latest run.
    pub(crate) fn push(
        &mut self,
        object: ObjectId,
        access: Access,
        note: N,
        thread: ThreadId,
        position: Position,
    ) {
        let slot = self.slot(object);
        let place = &mut self.slots[slot as usize];
        if place.heads.len() <= thread.index() {
            place.heads.resize(thread.index() + 1, NONE);
        }
        let previous = place.heads[thread.index()];
        let previous_other = match self.entries.get(previous as usize) {
            Some(entry) if entry.access == access => entry.previous_other,
            _ => previous,
        };
        place.heads[thread.index()] = self.entries.len() as u32;
        place.entries += 1;
        let entry = Entry { position, access, note, thread, slot, previous, previous_other };
        self.entries.push(entry);
    }

    /// Removes the accesses of the run at `position` and of later ones.
    pub(crate) fn truncate(&mut self, position: Position) {
        while let Some(entry) = self.entries.pop_if(|entry| entry.position >= position) {
            let place = &mut self.slots[entry.slot as usize];
            place.heads[entry.thread.index()] = entry.previous;
            place.entries -= 1;
            if place.entries == 0
                && let Some(object) = place.object.take()
            {
                self.by_object.remove(&object);
                self.free.push(entry.slot);
            }
        }
    }

    /// Number of entries; those that are pushed from now on have at least this number.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the run at `position`, whose first entry has the number `first`, accessed.
    pub(crate) fn made(
        &self,
        first: usize,
        position: Position,
    ) -> impl Iterator<Item = (ObjectId, Access)> {
        let row = self.entries[first..].iter().take_while(move |entry| entry.position == position);
        row.filter_map(|entry| {
            self.slots[entry.slot as usize].object.map(|object| (object, entry.access))
        })
    }

    /// The accesses to `object`, thread by thread.
    pub(crate) fn threads(
        &self,
        object: ObjectId,
    ) -> impl Iterator<Item = (ThreadId, Walk<'_, N>)> {
        let heads = self.by_object.get(&object).map(|&slot| &self.slots[slot as usize].heads);
        heads.into_iter().flatten().enumerate().filter(|&(_, &head)| head != NONE).map(
            |(thread, &head)| (ThreadId(thread as u32), Walk { entries: &self.entries, at: head }),
        )
    }

    /// A walk that begins at the entry of this number.
    pub(crate) fn walk(&self, number: u32) -> Walk<'_, N> {
        Walk { entries: &self.entries, at: number }
    }

    /// The number of the thread's entry for the same object before the one of this number.
    pub(crate) fn previous(&self, number: u32) -> u32 {
        self.entries.get(number as usize).map_or(NONE, |entry| entry.previous)
    }

    fn slot(&mut self, object: ObjectId) -> u32 {
        if let Some(&slot) = self.by_object.get(&object) {
            return slot;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize].object = Some(object);
        self.by_object.insert(object, slot);
        slot
    }
}

/// A walk along one chain, to earlier accesses.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a, N> {
    entries: &'a [Entry<N>],
    at: u32,
}

impl<N: Copy> Walk<'_, N> {
    /// The access where the walk stands.
    pub(crate) fn entry(&self) -> Option<Entry<N>> {
        self.entries.get(self.at as usize).copied()
    }

    /// The number of the entry where the walk stands.
    pub(crate) fn number(&self) -> u32 {
        self.at
    }

    /// Goes on to the access before it.
    pub(crate) fn on(&mut self) {
        self.at = self.entry().map_or(NONE, |entry| entry.previous);
    }

    /// Goes on to the last access before it that is of another kind.
    pub(crate) fn past_equals(&mut self) {
        self.at = self.entry().map_or(NONE, |entry| entry.previous_other);
    }
}

/// Multiplicative hashing: object numbers are addresses or small numbers, and nobody chooses them
/// to collide.
#[derive(Default)]
pub(crate) struct ObjectHasher(u64);

impl Hasher for ObjectHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
