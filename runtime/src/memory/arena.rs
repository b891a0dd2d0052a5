//! The arena: the program's heap and stacks at fixed addresses, one region a thread.
//!
//! A region is [`REGION_BYTES`] of address space: the heap grows up from its base (after the
//! states of [`crate::memory::validity`]), the thread's stack down from its end, with a guard below
//! it. Which region a thread gets depends on its path in the spawn tree alone (who created it, as
//! its how-many-th child), so addresses depend neither on the interleaving nor on the process.

use crate::session::files::fatal;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A region's index. Region 0 is main's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Region(pub u32);

/// Base address of the arena: far from where Linux puts executables, libraries and stacks.
const BASE: usize = 0x1000_0000_0000;
/// Address space of one region.
pub const REGION_BYTES: usize = 1 << 32;
/// Number of regions.
const REGIONS: u32 = 1024;
/// Regions below this number are for main and its own children, by ordinal; the others go by a hash
/// of the path.
const DIRECT: u32 = 512;
/// Smallest stack; a thread that asks for more gets more.
pub const STACK_BYTES: usize = 16 << 20;
/// Largest stack. Heaps end above where it could.
pub const MAX_STACK_BYTES: usize = 1 << 30;
const PAGE: usize = 4096;
/// Bytes below a stack that nobody may touch.
pub const GUARD_BYTES: usize = 512 << 10;
/// As many of them as are lent to the runtime's own functions, where a stack ends inside of them
/// ([`crate::faults::overflow`]).
const LENT_BYTES: usize = GUARD_BYTES - (64 << 10);

impl Region {
    /// Main's region.
    pub const MAIN: Self = Self(0);

    /// Lowest address.
    pub const fn base(self) -> usize {
        BASE + self.0 as usize * REGION_BYTES
    }

    /// One past the highest address: where the stack begins.
    pub const fn end(self) -> usize {
        self.base() + REGION_BYTES
    }

    /// Whether an address lies where the region's stack is.
    pub const fn is_stack(self, address: usize) -> bool {
        address < self.end() && address >= self.end() - MAX_STACK_BYTES
    }

    /// The region that an address lies in.
    pub fn of_address(address: usize) -> Option<Self> {
        let index = address.checked_sub(BASE)? / REGION_BYTES;
        (index < REGIONS as usize).then_some(Self(index as u32))
    }
}

/// The whole arena's address range.
pub const fn range() -> std::ops::Range<usize> {
    BASE..BASE + REGIONS as usize * REGION_BYTES
}

/// Which regions belong to which threads. Outlives executions: a thread that was seen in one has
/// the same region in all.
#[derive(Debug, Default)]
pub struct Regions {
    /// By parent's region and ordinal among its children; main's first children are left out.
    children: HashMap<(Region, u32), Region>,
    used: HashSet<Region>,
}

impl Regions {
    /// Whose the regions are that do not follow from the ordinal alone: parent, ordinal, region.
    pub fn hashed(&self) -> Vec<(u32, u32, u32)> {
        let of = |(&(parent, ordinal), &region): (&(Region, u32), &Region)| {
            (parent.0, ordinal, region.0)
        };
        self.children.iter().map(of).collect()
    }

    /// As [`Regions::hashed`] reported in another process.
    pub fn of_hashed(hashed: &[(u32, u32, u32)]) -> Self {
        let children: HashMap<_, _> = hashed
            .iter()
            .map(|&(parent, ordinal, region)| ((Region(parent), ordinal), Region(region)))
            .collect();
        let used = children.values().copied().collect();
        Self { children, used }
    }

    /// Region of the `ordinal`th (from 0) child of the thread in region `parent`; `None` when there
    /// are no more.
    pub fn of_child(&mut self, parent: Region, ordinal: u32) -> Option<Region> {
        if parent == Region::MAIN && ordinal + 1 < DIRECT {
            return Some(Region(ordinal + 1));
        }
        if let Some(region) = self.children.get(&(parent, ordinal)) {
            return Some(*region);
        }
        // Where it is free, the same region in every process.
        let path = u64::from(parent.0) << 32 | u64::from(ordinal);
        let mixed = path.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let others = REGIONS - DIRECT;
        let first = (mixed >> 40) as u32 % others;
        let mut candidates = (0..others).map(|probe| Region(DIRECT + (first + probe) % others));
        let region = candidates.find(|region| !self.used.contains(region))?;
        self.used.insert(region);
        self.children.insert((parent, ordinal), region);
        Some(region)
    }
}

/// Sizes of the stacks of regions that are mapped in this process; 0 of those that are not.
/// Outlives executions, and is read by signal handlers.
static STACKS: [AtomicUsize; REGIONS as usize] = [const { AtomicUsize::new(0) }; REGIONS as usize];

/// Maps a region unless it is mapped, with a stack of at least `stack` bytes. Says why, where the
/// machine does not give it.
pub fn ensure(region: Region, stack: usize) -> Result<(), String> {
    let known = &STACKS[region.0 as usize];
    let wanted = stack.clamp(STACK_BYTES, MAX_STACK_BYTES).next_multiple_of(PAGE);
    let before = known.load(Ordering::Relaxed);
    if before == 0 {
        map(region)?;
    }
    if before < wanted {
        if before != 0 {
            let end = region.end() - before;
            protect(end - GUARD_BYTES, GUARD_BYTES, libc::PROT_READ | libc::PROT_WRITE);
        }
        protect(region.end() - wanted - GUARD_BYTES, GUARD_BYTES, libc::PROT_NONE);
        known.store(wanted, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether an address lies in the guard of a stack.
pub fn is_guard(address: usize) -> bool {
    guard(address).is_some()
}

/// Where the stack ends in whose guard the address lies.
fn guard(address: usize) -> Option<usize> {
    let region = Region::of_address(address)?;
    let stack = STACKS[region.0 as usize].load(Ordering::Relaxed);
    let end = region.end() - stack;
    (stack != 0 && (end - GUARD_BYTES..end).contains(&address)).then_some(end)
}

/// Lends the upper part of the guard in which an address lies.
pub fn lend(address: usize) {
    if let Some(end) = guard(address) {
        protect(end - LENT_BYTES, LENT_BYTES, libc::PROT_READ | libc::PROT_WRITE);
    }
}

/// Takes it back.
pub fn take_back(address: usize) {
    if let Some(end) = guard(address) {
        protect(end - LENT_BYTES, LENT_BYTES, libc::PROT_NONE);
    }
}

/// Blocks of this size and more are not gone through byte by byte where their pages were never
/// touched.
pub const LARGE: usize = 1 << 20;

/// Clears memory of the arena. `is_imaged`: whether there is an image of a part of it
/// ([`crate::machine::root`]).
pub fn clear(address: usize, length: usize, is_imaged: impl FnOnce() -> bool) {
    let (first, end) = (address.next_multiple_of(PAGE), (address + length) / PAGE * PAGE);
    let fill = |from: usize, to: usize| {
        // SAFETY: the caller gives up what is in its own, mapped memory.
        unsafe { std::ptr::write_bytes(from as *mut u8, 0, to - from) };
    };
    // Pages of an image that are dropped read as what they were at the root.
    if length < LARGE || is_imaged() {
        return fill(address, address + length);
    }
    fill(address, first);
    fill(end, address + length);
    // SAFETY: whole pages of private memory inside of that: they are dropped, and read as zeros
    // from then on.
    if unsafe { libc::madvise(first as *mut _, end - first, libc::MADV_DONTNEED) } != 0 {
        fill(first, end);
    }
}

/// Calls `visit` with the parts of a piece of the arena that may have been touched in this process.
pub fn touched(address: usize, length: usize, mut visit: impl FnMut(usize, usize)) {
    if length < LARGE {
        return visit(address, length);
    }
    let first = address / PAGE * PAGE;
    let mut resident = vec![0_u8; (address + length - first).div_ceil(PAGE)];
    let pages = resident.len() * PAGE;
    // SAFETY: the pages are mapped, and there is a byte for each.
    let known = unsafe { libc::mincore(first as *mut _, pages, resident.as_mut_ptr()) } == 0;
    if !known {
        return visit(address, length);
    }
    let is_there = |page: &u8| page & 1 != 0;
    let mut page = 0;
    while page < resident.len() {
        let run = resident[page..].iter().take_while(|p| is_there(p)).count();
        if run > 0 {
            let from = (first + page * PAGE).max(address);
            let to = (first + (page + run) * PAGE).min(address + length);
            visit(from, to - from);
        }
        page += run.max(1);
    }
}

fn map(region: Region) -> Result<(), String> {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces an existing mapping.
    let got = unsafe {
        libc::mmap(
            region.base() as *mut _,
            REGION_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            -1,
            0,
        )
    };
    if got as usize == region.base() {
        return Ok(());
    }
    match address_space() {
        Some(limit) if got == libc::MAP_FAILED => Err(too_little(limit)),
        _ => fatal("the address range of the program's memory is occupied"),
    }
}

/// The limit of this process's address space in bytes, if there is one.
fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a place for the result.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// What to say where that is too little.
fn too_little(limit: u64) -> String {
    let (limit, region) = (limit >> 20, REGION_BYTES >> 20);
    format!(
        "the address space is limited to {limit} MiB (`ulimit -v`), and lockred reserves {region} MiB of it for each thread"
    )
}

fn protect(address: usize, length: usize, protection: i32) {
    // SAFETY: the pages lie inside a region that this module mapped, between heap and stack, where
    // nothing lives.
    let result = unsafe { libc::mprotect(address as *mut _, length, protection) };
    if result != 0 {
        fatal("cannot protect a stack's guard");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_s_children_get_regions_in_order_and_grandchildren_stable_ones() {
        let mut regions = Regions::default();
        assert_eq!(regions.of_child(Region::MAIN, 0), Some(Region(1)));
        assert_eq!(regions.of_child(Region::MAIN, 5), Some(Region(6)));
        let grandchild = regions.of_child(Region(1), 0).unwrap();
        assert!(grandchild.0 >= DIRECT);
        assert_eq!(regions.of_child(Region(1), 0), Some(grandchild));
        assert_eq!(Regions::default().of_child(Region(1), 0), Some(grandchild));
    }

    #[test]
    fn no_two_threads_share_a_region_and_there_is_an_end_of_them() {
        let mut regions = Regions::default();
        let mut seen = HashSet::new();
        let given = (0..).map_while(|ordinal| regions.of_child(Region(7), ordinal));
        assert!(given.inspect(|region| assert!(seen.insert(*region))).count() >= 256);
    }

    #[test]
    fn of_large_pieces_only_touched_pages_are_gone_through_and_cleared_ones_are_zero() {
        let region = Region(990);
        ensure(region, 0).unwrap();
        let (address, length) = (region.base() + 100, 64 << 20);
        let at = |offset: usize| (address + offset) as *mut u8;
        let parts = || {
            let mut parts = Vec::new();
            touched(address, length, |from, bytes| parts.push((from - region.base(), bytes)));
            parts
        };
        assert_eq!(parts(), []);
        // SAFETY: mapped, and this test's.
        unsafe {
            at(0).write(1);
            at(9 * PAGE).write(2);
            at(length - 1).write(3);
        }
        let last = (64 << 20, 100);
        assert_eq!(parts(), [(100, PAGE - 100), (9 * PAGE, PAGE), last]);
        clear(address, length, || false);
        assert_eq!(parts(), [(100, PAGE - 100), last]);
        // SAFETY: as above.
        let read = unsafe { [at(0).read(), at(9 * PAGE).read(), at(length - 1).read()] };
        assert_eq!(read, [0, 0, 0]);
    }

    #[test]
    fn a_limit_of_the_address_space_is_named_as_what_it_is() {
        let reported = too_little(8_000_000 << 10);
        assert!(reported.contains("limited to 7812 MiB (`ulimit -v`)"), "{reported}");
        assert!(reported.contains("reserves 4096 MiB"), "{reported}");
    }

    #[test]
    fn addresses_lead_back_to_their_region() {
        assert_eq!(Region::of_address(Region(3).base()), Some(Region(3)));
        assert_eq!(Region::of_address(Region(3).end() - 1), Some(Region(3)));
        assert_eq!(Region::of_address(BASE - 1), None);
        assert_eq!(Region::of_address(range().end), None);
    }
}
