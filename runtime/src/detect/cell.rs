//! The shadow of one granule: which accesses to its eight bytes are still to be compared with, and
//! the comparison.
//!
//! This is FastTrack (Flanagan and Freund, PLDI 2009) with three departures. (1) Byte-precise:
//! every record carries a mask.
//! (2) Nothing is forgotten by replacement: a record leaves only for bytes where a later access,
//! ordered after it, makes up for it ([`Record::makes_up_for`]); so several unordered reads,
//! writes and atomic accesses stand side by side, and detection stays exact after a race too. (3)
//! Atomic accesses are recorded like plain ones: a plain access may race with them, and so may an
//! atomic one of another size.

use super::clock::Clock;
use super::record::Record;

/// Records that a cell holds by itself. Private data needs one or two (a write, and a read after a
/// release).
const INLINE: usize = 2;

/// The shadow of one granule. All zero is the cell of a granule that was never touched.
///
/// Invariants: a cell whose `generation` is not the detector's current one is empty, whatever it
/// holds; a record with mask 0 is unused; for each thread and kind at most one record has a given
/// byte.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Cell {
    /// The execution that the rest belongs to; 0 is never current.
    pub(super) generation: u32,
    /// Index plus one of its [`super::extra::Extra`]; 0 for none.
    pub(super) extra: u32,
    /// The first records. Unused ones may stand anywhere.
    pub(super) records: [Record; INLINE],
}

impl Cell {
    /// A granule that was never touched.
    pub(super) const EMPTY: Self =
        Self { generation: 0, extra: 0, records: [Record::UNUSED; INLINE] };

    /// The usual case, private data: all there is to compare with is an access by the same thread
    /// in the same epoch that makes up for `new`.
    #[inline]
    pub(super) fn is_known(&self, new: &Record) -> bool {
        let [only, none] = &self.records;
        none.mask() == 0 && only.covers(new)
    }
}

/// What the comparison of an access with the records of a cell found.
#[derive(Default)]
pub(super) struct Found {
    /// The record that it races with; a write if there is one.
    pub(super) race: Option<Record>,
    /// It is unordered with a conflicting atomic access, one of the two not being SeqCst.
    pub(super) weak_pair: bool,
    /// It need not be recorded: its thread did something at least as telling in the same epoch.
    pub(super) redundant: bool,
}

impl Found {
    /// Compares `new` with one record, which loses the bytes that `new` makes up for.
    #[inline]
    pub(super) fn compare(&mut self, old: &mut Record, new: &Record, clock: &Clock) {
        if old.mask() & new.mask() == 0 {
            return;
        }
        if old.thread() == new.thread() {
            if old.covers(new) {
                self.redundant = true;
                return;
            }
        } else if old.epoch() > clock.get(old.thread() as usize) {
            if old.races_with(new) {
                if self.race.is_none_or(|other| !other.kind().writes()) {
                    self.race = Some(*old);
                }
            } else if old.kind().is_weak_pair(new.kind()) {
                self.weak_pair = true;
            }
            return;
        }
        if new.makes_up_for(old) {
            old.forget(new.mask());
        }
    }
}

/// Puts `new` into a list of records of which some may be unused; false when there is no room.
#[inline]
pub(super) fn insert(records: &mut [Record], new: &Record) -> bool {
    let mut free = None;
    for (i, old) in records.iter_mut().enumerate() {
        if old.mask() == 0 {
            free = free.or(Some(i));
        } else if old.same_access(new) {
            *old = old.with(new.mask());
            return true;
        }
    }
    free.is_some_and(|i| {
        records[i] = *new;
        true
    })
}
