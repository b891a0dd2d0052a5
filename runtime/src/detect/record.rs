//! One remembered access to (part of) a granule, and which accesses conflict with or make up for
//! which.

use super::access::{AccessKind, By, StackId};
use lockred_protocol::sites::SiteId;
use lockred_search::footprint::Access;

/// Kind of an access in one byte: bit 0 write, bit 1 atomic, bit 2 "weak" (an atomic that is not
/// SeqCst) or "free" (a plain write that is a deallocation), bit 3 trusted (an atomic) or "birth"
/// (a plain write that is an allocation), bits 4 to 7 the flavour: non-zero for atomic operations
/// that commute with others of the same flavour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind(u8);

const WRITE: u8 = 1;
const ATOMIC: u8 = 2;
const WEAK: u8 = 4;
const FREE: u8 = 4;
const TRUSTED: u8 = 8;
const BIRTH: u8 = 8;
const FLAVOUR: u8 = 0xf0;

impl Kind {
    pub(super) const READ: Self = Self(0);
    pub(super) const WRITE: Self = Self(WRITE);
    pub(super) const FREE: Self = Self(WRITE | FREE);
    pub(super) const BIRTH: Self = Self(WRITE | BIRTH);

    /// An atomic access.
    #[inline]
    pub(super) fn atomic(write: bool, weak: bool, trusted: bool, access: Access) -> Self {
        let bit = |on: bool, bit: u8| if on { bit } else { 0 };
        Self(
            ATOMIC
                | bit(write, WRITE)
                | bit(weak, WEAK)
                | bit(trusted, TRUSTED)
                | flavour(access) << 4,
        )
    }

    #[inline]
    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Whether two accesses of one size to the same byte race when they are unordered: one writes,
    /// and not both are atomic.
    #[inline]
    const fn races_with(self, other: Self) -> bool {
        (self.0 | other.0) & WRITE != 0 && self.0 & other.0 & ATOMIC == 0
    }

    /// Whether two unordered accesses are atomic, conflict, and one of them is not SeqCst: their
    /// outcome may differ from every sequentially consistent one. Operations that commute are no
    /// conflict, whether or not both see each other.
    #[inline]
    pub(super) const fn is_weak_pair(self, other: Self) -> bool {
        let (both, any) = (self.0 & other.0, self.0 | other.0);
        let commute = self.0 & FLAVOUR == other.0 & FLAVOUR && both & FLAVOUR != 0;
        both & ATOMIC != 0 && any & WRITE != 0 && any & WEAK != 0 && both & TRUSTED == 0 && !commute
    }

    /// Whether, once `earlier` happens before an access of this kind and size, `earlier` need not
    /// be remembered: every later access that is unordered with `earlier` is unordered with this
    /// one too, and then a finding with `earlier` (race or weak pair) implies a finding with this
    /// one, a race counting for more than a weak pair.
    #[inline]
    const fn makes_up_for(self, earlier: Self) -> bool {
        if self.0 == earlier.0 {
            return true;
        }
        if !self.has(ATOMIC) {
            return self.has(WRITE) || !earlier.has(WRITE);
        }
        let flavour = self.0 & FLAVOUR;
        earlier.has(ATOMIC)
            && (self.has(WRITE) || !earlier.has(WRITE))
            && (self.has(WEAK) || !earlier.has(WEAK))
            && (!self.has(TRUSTED) || earlier.has(TRUSTED))
            && (flavour == 0 || flavour == earlier.0 & FLAVOUR)
    }

    /// Whether it is a plain write (or a deallocation).
    #[inline]
    pub(super) const fn is_plain_write(self) -> bool {
        self.has(WRITE) && !self.has(ATOMIC)
    }

    /// Whether it writes.
    #[inline]
    pub(super) const fn writes(self) -> bool {
        self.has(WRITE)
    }

    /// The kind as reports name it.
    pub(super) const fn public(self) -> AccessKind {
        match (self.has(ATOMIC), self.has(WRITE)) {
            (false, false) => AccessKind::Read,
            (false, true) if self.has(FREE) => AccessKind::Free,
            (false, true) if self.has(BIRTH) => AccessKind::Allocation,
            (false, true) => AccessKind::Write,
            (true, false) => AccessKind::AtomicRead,
            (true, true) => AccessKind::AtomicWrite,
        }
    }
}

/// A number below 16 that is equal and not 0 exactly for accesses whose values cannot tell anybody
/// in which order they came.
///
/// All reference-count operations share one: also the last decrement, which does depend on the
/// others, is no weak-memory observation, because read-modify-writes always act on the newest value
/// and the last owner acquires.
fn flavour(access: Access) -> u8 {
    match access {
        Access::RefInc | Access::RefDec | Access::RefDecToOne | Access::RefDecLast => 1,
        Access::ReadLock | Access::ReadUnlock => 2,
        // Families beyond those that fit share none: they then count as conflicting, which is the
        // cautious side.
        Access::Update { family, .. } if family < 13 => 3 + family,
        _ => 0,
    }
}

/// One access, restricted to the bytes of one granule in its mask (bit i is byte i; 0 marks an
/// unused record).
///
/// Two words, put together in registers: a record written field by field and copied whole stalls
/// the processor, as stores of bytes are not forwarded to a wider load.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Record {
    /// The thread's own clock component when it happened, and above it the site, for reports.
    when: u64,
    /// From below: the stack, for reports (30 bits); the size of an atomic access, as a power of
    /// two (2 bits); thread (16 bits), mask (8), kind (8). Atomic accesses of different sizes may
    /// race, and a mask loses bytes, so it does not tell the size.
    what: u64,
}

const STACK: u32 = (1 << SIZE) - 1;
const SIZE: u32 = 30;
const THREAD: u32 = 32;
const MASK: u32 = 48;
const KIND: u32 = 56;

impl Record {
    /// A record that is not used.
    pub(super) const UNUSED: Self = Self { when: 0, what: 0 };

    /// An access of no bytes by a thread in its `epoch`; of `size` bytes in the whole, if it is
    /// atomic.
    #[inline]
    pub(super) const fn new(epoch: u32, by: By, kind: Kind, size: usize) -> Self {
        let thread = (by.thread as u16) as u64;
        let size = if kind.has(ATOMIC) { size.trailing_zeros() as u64 & 3 } else { 0 };
        let stack = (by.stack.0 & STACK) as u64;
        Self {
            when: epoch as u64 | (by.site.0 as u64) << 32,
            what: stack | size << SIZE | thread << THREAD | (kind.0 as u64) << KIND,
        }
    }

    /// The thread's own clock component when it happened.
    #[inline]
    pub(super) const fn epoch(&self) -> u32 {
        self.when as u32
    }

    /// Where it is in the program.
    #[inline]
    pub(super) const fn site(&self) -> SiteId {
        SiteId((self.when >> 32) as u32)
    }

    /// Its recorded stack.
    #[inline]
    pub(super) const fn stack(&self) -> StackId {
        StackId(self.what as u32 & STACK)
    }

    /// The first byte and the number of bytes of the access, as far as it is in the granule at
    /// `granule`.
    pub(super) const fn bytes(&self, granule: usize) -> (usize, usize) {
        let first = granule + self.mask().trailing_zeros() as usize;
        if self.kind().has(ATOMIC) {
            let size = 1 << (self.what >> SIZE & 3);
            return (first / size * size, size);
        }
        (first, granule + 8 - self.mask().leading_zeros() as usize - first)
    }

    /// Whether both are atomic, of different sizes.
    #[inline]
    const fn is_of_another_size(&self, other: &Self) -> bool {
        self.kind().0 & other.kind().0 & ATOMIC != 0 && (self.what ^ other.what) >> SIZE & 3 != 0
    }

    /// Whether two accesses to the same byte race when they are unordered: one writes, and they are
    /// not atomic accesses of one size.
    #[inline]
    pub(super) const fn races_with(&self, other: &Self) -> bool {
        let mixed = self.is_of_another_size(other) && (self.kind().0 | other.kind().0) & WRITE != 0;
        mixed || self.kind().races_with(other.kind())
    }

    /// Whether, once `earlier` happens before this access, `earlier` need not be remembered in its
    /// bytes ([`Kind::makes_up_for`]).
    #[inline]
    pub(super) const fn makes_up_for(&self, earlier: &Self) -> bool {
        self.kind().makes_up_for(earlier.kind()) && !self.is_of_another_size(earlier)
    }

    /// Who.
    #[inline]
    pub(super) const fn thread(&self) -> u16 {
        (self.what >> THREAD) as u16
    }

    /// Which bytes of the granule.
    #[inline]
    pub(super) const fn mask(&self) -> u8 {
        (self.what >> MASK) as u8
    }

    /// How.
    #[inline]
    pub(super) const fn kind(&self) -> Kind {
        Kind((self.what >> KIND) as u8)
    }

    /// The access with these bytes as well.
    #[inline]
    pub(super) const fn with(self, bytes: u8) -> Self {
        Self { what: self.what | (bytes as u64) << MASK, ..self }
    }

    /// Forgets these bytes.
    #[inline]
    pub(super) const fn forget(&mut self, bytes: u8) {
        self.what &= !((bytes as u64) << MASK);
    }

    /// Whether remembering this access is as good as remembering `new` too.
    #[inline]
    pub(super) const fn covers(&self, new: &Self) -> bool {
        self.epoch() == new.epoch()
            && self.thread() == new.thread()
            && new.mask() & !self.mask() == 0
            && self.makes_up_for(new)
    }

    /// Whether both are the same access but for the bytes.
    #[inline]
    pub(super) const fn same_access(&self, other: &Self) -> bool {
        self.when == other.when && (self.what ^ other.what) & !(0xff << MASK) == 0
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("epoch", &self.epoch())
            .field("site", &self.site())
            .field("stack", &self.stack())
            .field("thread", &self.thread())
            .field("mask", &self.mask())
            .field("kind", &self.kind())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockred_search::footprint::Access;

    fn all_kinds() -> Vec<Kind> {
        let accesses = [
            Access::Read,
            Access::RefDec,
            Access::ReadLock,
            Access::Update { family: 1, acquires: false, releases: false },
        ];
        let mut all = vec![Kind::READ, Kind::WRITE, Kind::FREE, Kind::BIRTH];
        for code in 0..8 {
            for access in accesses {
                all.push(Kind::atomic(code & 1 != 0, code & 2 != 0, code & 4 != 0, access));
            }
        }
        all
    }

    fn all_records() -> Vec<Record> {
        let by = By { thread: 0, site: SiteId(1), stack: StackId(1) };
        let of = |kind| [1, 2].map(|size| Record::new(1, by, kind, size).with(0xff));
        all_kinds().into_iter().flat_map(of).collect()
    }

    #[test]
    fn what_makes_up_for_an_access_finds_all_that_it_would_have_found() {
        for a in all_records() {
            for b in all_records().iter().filter(|b| a.makes_up_for(b)) {
                for c in &all_records() {
                    assert!(!b.races_with(c) || a.races_with(c), "{a:?} {b:?} {c:?}");
                    let found = a.races_with(c) || a.kind().is_weak_pair(c.kind());
                    assert!(!b.kind().is_weak_pair(c.kind()) || found, "{a:?} {b:?} {c:?}");
                }
            }
        }
    }

    #[test]
    fn atomic_accesses_of_two_sizes_race_if_one_writes() {
        let by = By { thread: 0, site: SiteId(1), stack: StackId(1) };
        let atomic = |write, size| {
            let kind = Kind::atomic(write, false, true, Access::RefDec);
            Record::new(1, by, kind, size).with(1)
        };
        assert!(atomic(true, 1).races_with(&atomic(true, 8)));
        assert!(atomic(true, 4).races_with(&atomic(false, 2)));
        assert!(!atomic(false, 4).races_with(&atomic(false, 2)));
        assert!(!atomic(true, 4).races_with(&atomic(true, 4)));
        assert!(!atomic(true, 4).makes_up_for(&atomic(true, 2)));
    }

    #[test]
    fn making_up_is_as_generous_as_it_may_be() {
        // Same code word, or a write over anything plain: without these, cells would grow without
        // need.
        assert!(Kind::WRITE.makes_up_for(Kind::READ) && Kind::WRITE.makes_up_for(Kind::FREE));
        let store = Kind::atomic(true, true, false, Access::Write);
        let load = Kind::atomic(false, false, false, Access::Read);
        assert!(store.makes_up_for(load) && !load.makes_up_for(store));
        assert!(!store.makes_up_for(Kind::READ) && !store.makes_up_for(Kind::WRITE));
    }
}
