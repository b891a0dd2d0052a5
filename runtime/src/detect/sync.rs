//! Release sequences: what an acquiring read of some bytes would synchronise with.
//!
//! C++20 [intro.races]: a release sequence is a release operation and the read-modify-writes that
//! follow it in modification order; any other store ends it. Under an interleaved execution a load
//! reads the last store, so every byte just remembers the joined clocks of the release operations
//! whose sequences contain its last store. A relaxed store after a release fence releases the
//! clock of the fence. Words of different sizes are different objects, though they may share bytes:
//! an operation takes, and goes on with, what operations of its own size have released.

use super::clock::Clock;
use lockred_search::footprint::Access;

/// Some bytes of a granule, as a part of an atomic word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// Which bytes.
    pub(super) mask: u8,
    /// Bytes of the word.
    pub(super) size: u8,
}

impl Part {
    /// The bytes that both have, if they are parts of words of one size; else none.
    const fn common(self, other: Self) -> u8 {
        if self.size == other.size { self.mask & other.mask } else { 0 }
    }
}

/// The releases that one kind of operation contributed to some bytes of a granule.
#[derive(Debug)]
struct Release {
    part: Part,
    /// How the contributing operations act on the object. Decides who takes the release.
    access: Access,
    clock: Clock,
}

/// The releases to be seen by reads of one granule. Invariant: no entry has an empty mask or an
/// empty clock, and no two have the same part and access.
#[derive(Debug, Default)]
pub(super) struct Releases(Vec<Release>);

/// Whether an operation of this kind depends on operations of every kind: then it is ordered after
/// all that came before it for a real reason, and whatever comes after it is ordered after it.
fn depends_on_all(access: Access) -> bool {
    use Access::*;
    !matches!(
        access,
        Read | Update { .. }
            | RefInc
            | RefDec
            | RefDecToOne
            | ReadLock
            | ReadUnlock
            | Enqueue
            | WakeNone
    )
}

impl Releases {
    /// Joins into `clock` what a read of `part` by an operation of kind `access` takes: nothing
    /// from operations that it commutes with.
    #[inline]
    pub(super) fn take(&self, part: Part, access: Access, clock: &mut Clock) {
        for release in &self.0 {
            if release.part.common(part) != 0 && access.depends_on(release.access) {
                clock.join(&release.clock);
            }
        }
    }

    /// Whether there is nothing to take anywhere.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes get a value that continues no release sequence. Their clocks go to `spare`, for reuse.
    pub(super) fn end(&mut self, mask: u8, spare: &mut Vec<Clock>) {
        let mut i = 0;
        while i < self.0.len() {
            self.0[i].part.mask &= !mask;
            if self.0[i].part.mask == 0 {
                spare.push(self.0.swap_remove(i).clock);
            } else {
                i += 1;
            }
        }
    }

    /// A store: ends the sequences of its bytes and heads one of its own, unless `clock` is empty.
    pub(super) fn store(
        &mut self,
        part: Part,
        access: Access,
        clock: &Clock,
        spare: &mut Vec<Clock>,
    ) {
        // The usual case, a lock word: the same bytes again.
        if let [only] = &mut self.0[..]
            && only.part == part
            && !clock.is_empty()
        {
            only.access = access;
            only.clock.copy_from(clock);
            return;
        }
        self.end(part.mask, spare);
        self.add(part, access, clock, spare);
    }

    /// A read-modify-write: continues the sequences of its bytes and heads one of its own, unless
    /// `clock` is empty.
    pub(super) fn update(
        &mut self,
        part: Part,
        access: Access,
        clock: &Clock,
        spare: &mut Vec<Clock>,
    ) {
        if depends_on_all(access) {
            // What was released before is now taken by whoever depends on this operation: by all.
            self.merge(part, spare);
            self.add(part, Access::Write, clock, spare);
        } else {
            self.add(part, access, clock, spare);
        }
    }

    /// Releases within `part` become releases of a kind that everybody takes; those that reach
    /// beyond it are split.
    fn merge(&mut self, part: Part, spare: &mut Vec<Clock>) {
        let mut i = 0;
        while i < self.0.len() {
            let common = self.0[i].part.common(part);
            if common == 0 || self.0[i].access == Access::Write {
                i += 1;
                continue;
            }
            let clock = std::mem::take(&mut self.0[i].clock);
            self.add(Part { mask: common, ..part }, Access::Write, &clock, spare);
            self.0[i].part.mask &= !common;
            if self.0[i].part.mask == 0 {
                self.0.swap_remove(i);
                spare.push(clock);
            } else {
                self.0[i].clock = clock;
                i += 1;
            }
        }
    }

    fn add(&mut self, part: Part, access: Access, clock: &Clock, spare: &mut Vec<Clock>) {
        if clock.is_empty() {
            return;
        }
        if let Some(same) = self.0.iter_mut().find(|r| r.part == part && r.access == access) {
            same.clock.join(clock);
            return;
        }
        let mut copy = spare.pop().unwrap_or_default();
        copy.copy_from(clock);
        self.0.push(Release { part, access, clock: copy });
    }
}
