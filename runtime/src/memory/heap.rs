//! The program's allocator: one heap a region, all of its state inside the arena so that a snapshot
//! covers it.
//!
//! A block is a 16-byte header, its payload, and at least [`RED_ZONE`] bytes that nobody may
//! access; which bytes are the payload's is in [`crate::memory::validity`]. Sizes of places are
//! rounded to classes (four steps a power of two). A thread reuses only blocks that it allocated
//! and freed itself, first in first out and only after a quarantine: so which address an
//! allocation gets depends on the thread's own history alone, and freed addresses stay dead for a
//! while. Blocks freed by other threads are not reused within the execution. All operations are
//! O(1), but for the states of the payload.
//!
//! With [`Reuse::AtOnce`] a thread gets the block of a class that it freed last, whoever had
//! allocated it, as from the caches that real allocators have for each thread: addresses come back,
//! and depend on the thread's own history still.

use crate::memory::arena::{REGION_BYTES, Region};
use crate::memory::validity::{self, GRANULE, HEAP_BYTES, STATE_BYTES};

/// Bytes that are kept dead in a class before its oldest block is handed out again.
const QUARANTINE_BYTES: usize = 1 << 20;
/// Bytes after a payload that belong to nobody, at least.
const RED_ZONE: usize = 16;
const HEADER: usize = GRANULE;
const CLASSES: usize = 128;

/// When freed memory is handed out again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reuse {
    /// After the quarantine.
    #[default]
    Late,
    /// The next time that the thread which freed it asks for as much.
    AtOnce,
}

/// Head of a region's heap, after the states: its allocator.
#[repr(C)]
struct Heap {
    /// Where fresh memory begins.
    next: usize,
    classes: [Class; CLASSES],
}

/// The dead blocks of one size class, linked through the first word of their payloads.
#[repr(C)]
#[derive(Clone, Copy)]
struct Class {
    oldest: usize,
    newest: usize,
    count: usize,
}

/// What precedes a payload.
#[repr(C)]
struct Header {
    /// Bytes of the payload, as asked for.
    size: u32,
    /// Bytes from the payload's beginning to the end of the place, as rounded to the class.
    capacity: u32,
    /// Not 0: it was freed.
    freed: u32,
    /// Not 0: the block may be handed out again (over-aligned ones are not).
    reusable: u16,
    /// The thread that allocated it, counted from 1, if others have to come after that
    /// ([`crate::monitor::births`]); else 0.
    maker: u16,
}

/// Why a block cannot be freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadFree {
    /// It was freed before.
    Twice,
    /// It is no block of this allocator.
    Foreign,
}

/// A block, alive or dead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Where its payload begins.
    pub start: usize,
    /// Bytes that were asked for.
    pub size: usize,
    /// Whether it was freed.
    pub freed: bool,
}

/// The head of a region's heap.
const fn heap(region: Region) -> *mut Heap {
    (region.base() + STATE_BYTES) as *mut Heap
}

/// Where the first header may be.
const fn first(region: Region) -> usize {
    (region.base() + STATE_BYTES + size_of::<Heap>()).next_multiple_of(GRANULE)
}

/// Makes the heap of a region empty.
///
/// # Safety
/// The region must be mapped, and nothing in it be in use.
pub unsafe fn reset(region: Region) {
    let heap = heap(region);
    // SAFETY: the region is mapped and large enough, and nobody uses it. Fresh memory is zeroed:
    // then there is nothing to forget.
    unsafe {
        validity::forget(first(region), (*heap).next.max(first(region)));
        (*heap).next = first(region);
        (*heap).classes = [Class { oldest: 0, newest: 0, count: 0 }; CLASSES];
    }
}

/// The part of a region that the heap has used so far: its states, and its head with the blocks.
///
/// # Safety
/// The region's heap must have been reset once.
pub unsafe fn used(region: Region) -> [std::ops::Range<usize>; 2] {
    // SAFETY: the caller promises that the heap exists.
    let next = unsafe { (*heap(region)).next };
    [validity::states(first(region), next), heap(region) as usize..next]
}

/// What was allocated after `end`, which was the end of the used part once, is to be put back to
/// what it was then.
///
/// # Safety
/// The region's heap must have been reset once, and the blocks there not be in use any more.
pub unsafe fn forget_after(region: Region, end: usize) {
    // SAFETY: by the caller's promise.
    unsafe { validity::forget(end, (*heap(region)).next.max(end)) };
}

/// Class and rounded size of a request.
fn class_of(size: usize) -> (usize, usize) {
    let size = size.max(16);
    if size <= 64 {
        let rounded = size.next_multiple_of(16);
        return (rounded / 16 - 1, rounded);
    }
    let power = (size - 1).ilog2() as usize; // 2^power < size <= 2^(power + 1)
    let step = 1_usize << (power - 2);
    let rounded = size.next_multiple_of(step);
    let quarter = (rounded - (1 << power)) / step - 1;
    (4 + (power - 6) * 4 + quarter, rounded)
}

/// Allocates from a region's heap; `None` when it is full. `align` is a power of two.
///
/// # Safety
/// The region's heap must have been reset once, and only the running thread may use it.
pub unsafe fn allocate(region: Region, size: usize, align: usize, reuse: Reuse) -> Option<usize> {
    if size > REGION_BYTES / 2 || align > REGION_BYTES / 4 {
        return None;
    }
    let heap = heap(region);
    let (class, capacity) = class_of(size + RED_ZONE);
    let reusable = align <= HEADER;
    // SAFETY: the heap and every linked block lie in mapped regions and were written by this
    // module.
    unsafe {
        let dead = &raw mut (*heap).classes[class];
        let enough = reuse == Reuse::AtOnce || (*dead).count * capacity > QUARANTINE_BYTES;
        let block = if reusable && (*dead).count > 0 && enough {
            let block = (*dead).oldest;
            (*dead).oldest = *(block as *const usize);
            (*dead).count -= 1;
            block
        } else {
            let block = ((*heap).next + HEADER).next_multiple_of(align.max(HEADER));
            let end = block.checked_add(capacity)?;
            if end > region.base() + HEAP_BYTES {
                return None;
            }
            (*heap).next = end;
            block
        };
        header(block).write(Header {
            size: size as u32,
            capacity: capacity as u32,
            freed: 0,
            reusable: u16::from(reusable),
            maker: 0,
        });
        validity::give(block, size, capacity);
        Some(block)
    }
}

/// Bytes that may be used at `block`, if it is a live block.
pub fn size(block: usize) -> Result<usize, BadFree> {
    let header = live(block)?;
    // SAFETY: `live` has checked that a header of ours lies there.
    Ok(unsafe { (*header).size as usize })
}

/// Frees a block on behalf of the thread in `region`; returns its size.
pub fn free(region: Region, block: usize, reuse: Reuse) -> Result<usize, BadFree> {
    let header = live(block)?;
    // SAFETY: `live` has checked the header; the payload of a block that is being freed is
    // nobody's, and has room for a word.
    unsafe {
        (*header).freed = 1;
        (*header).maker = 0;
        let size = (*header).size as usize;
        validity::take(block, size);
        let own = Region::of_address(block) == Some(region);
        if (*header).reusable != 0 && (own || reuse == Reuse::AtOnce) {
            let class = class_of((*header).capacity as usize).0;
            let dead = &raw mut (*heap(region)).classes[class];
            let link = block as *mut usize;
            *link = 0;
            if (*dead).count == 0 {
                (*dead).oldest = block;
                (*dead).newest = block;
            } else if reuse == Reuse::AtOnce {
                *link = (*dead).oldest;
                (*dead).oldest = block;
            } else {
                *((*dead).newest as *mut usize) = block;
                (*dead).newest = block;
            }
            (*dead).count += 1;
        }
        Ok(size)
    }
}

/// The block that an address lies in, or else the nearest one, in the heap of a mapped region.
pub fn near(address: usize) -> Option<Block> {
    let region = Region::of_address(address)?;
    // SAFETY: only mapped regions have addresses that programs know.
    unsafe {
        let next = (*heap(region)).next;
        let before = validity::header_before(address.min(next - 1), first(region));
        let before = before.map(|header| described(header as *const Header));
        let behind = validity::header_after(address, next);
        let behind = behind.map(|header| described(header as *const Header));
        match (before, behind) {
            (Some(before), Some(behind)) => {
                let after = address.saturating_sub(before.start + before.size);
                let nearer = address >= before.start && after <= behind.start - address;
                Some(if nearer || address < before.start { before } else { behind })
            }
            (before, behind) => before.or(behind),
        }
    }
}

/// Whose block an address is in, looked for at `hint` first.
pub fn block_of(address: usize, hint: usize) -> Option<Block> {
    let region = Region::of_address(address)?;
    let holds = |block: &Block| (block.start..block.start + block.size).contains(&address);
    // SAFETY: only mapped regions have addresses that programs know; a header that the states tell
    // of was written by this module.
    unsafe {
        let header = hint.wrapping_sub(HEADER);
        if (first(region)..=address).contains(&header) && validity::is_header(header) {
            let block = described(header as *const Header);
            if holds(&block) {
                return Some(block);
            }
        }
        let header = validity::header_before(address, first(region))?;
        Some(described(header as *const Header)).filter(holds)
    }
}

/// Other threads have to come after this one's allocation of a block, which it has just got.
pub fn set_maker(block: usize, thread: u32) {
    // SAFETY: a header of ours precedes every block.
    unsafe { (*header(block)).maker = (thread as u16).saturating_add(1) };
}

/// Whether [`set_maker`] was said of a block, and with another thread.
pub fn is_of_another(block: usize, thread: u32) -> bool {
    // SAFETY: as above.
    let maker = unsafe { (*header(block)).maker };
    maker != 0 && maker != (thread as u16).saturating_add(1)
}

/// Calls `visit` with every live block of a region's heap.
///
/// # Safety
/// The region's heap must have been reset once.
pub unsafe fn for_each_live(region: Region, mut visit: impl FnMut(Block)) {
    // SAFETY: by the caller's promise; headers were written by this module.
    unsafe {
        let next = (*heap(region)).next;
        let mut at = first(region) - GRANULE;
        while let Some(header) = validity::header_after(at, next) {
            let block = described(header as *const Header);
            if !block.freed {
                visit(block);
            }
            at = header;
        }
    }
}

/// The block of a header.
///
/// # Safety
/// A header lies there.
unsafe fn described(header: *const Header) -> Block {
    // SAFETY: by the caller's promise.
    let Header { size, freed, .. } = unsafe { header.read() };
    Block { start: header as usize + HEADER, size: size as usize, freed: freed != 0 }
}

fn header(block: usize) -> *mut Header {
    (block - HEADER) as *mut Header
}

/// The header of a live block.
fn live(block: usize) -> Result<*mut Header, BadFree> {
    let region = Region::of_address(block).ok_or(BadFree::Foreign)?;
    // SAFETY: `used` reads the head of a heap; only threads' regions have addresses that programs
    // know.
    let [_, used] = unsafe { used(region) };
    if !block.is_multiple_of(HEADER) || block < first(region) + HEADER || block >= used.end {
        return Err(BadFree::Foreign);
    }
    let header = header(block);
    // SAFETY: the header would lie inside the used part of a mapped region.
    unsafe {
        if !validity::is_header(header as usize) {
            Err(BadFree::Foreign)
        } else if (*header).freed == 0 {
            Ok(header)
        } else {
            Err(BadFree::Twice)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena;

    /// A region that no other test uses, mapped and empty.
    fn region(number: u32) -> Region {
        let region = Region(number);
        arena::ensure(region, 0).unwrap();
        // SAFETY: just mapped, used by one test.
        unsafe { reset(region) };
        region
    }

    #[test]
    fn classes_hold_what_they_promise() {
        let mut last = 0;
        for size in 1..100_000 {
            let (class, rounded) = class_of(size);
            assert!(rounded >= size && rounded % 16 == 0 && class < CLASSES, "{size}");
            assert!(class >= last, "{size}");
            assert_eq!(class_of(rounded), (class, rounded), "{size}");
            last = class;
        }
        assert!(class_of(REGION_BYTES / 2).0 < CLASSES);
    }

    #[test]
    fn blocks_are_aligned_disjoint_and_reused_only_after_the_quarantine() {
        let region = region(1000);
        // SAFETY: the region is this test's.
        let allocate = |size, align| unsafe { allocate(region, size, align, Reuse::Late) }.unwrap();
        let first = allocate(100, 1);
        let second = allocate(100, 256);
        assert!(first.is_multiple_of(16) && second.is_multiple_of(256));
        assert!(second >= first + size(first).unwrap());
        let big = QUARANTINE_BYTES / 2 - RED_ZONE;
        let blocks = [allocate(big, 8), allocate(big, 8), allocate(big, 8)];
        for block in blocks {
            free(region, block, Reuse::Late).unwrap();
        }
        assert_eq!(allocate(big, 8), blocks[0], "the oldest dead block comes back first");
        assert!(!blocks.contains(&allocate(big, 8)), "the rest is in quarantine");
    }

    #[test]
    fn with_reuse_the_last_dead_block_of_a_class_comes_back_whoever_allocated_it() {
        let (region, other) = (region(1002), self::region(1003));
        // SAFETY: the regions are this test's.
        let allocate = |region, size| unsafe { allocate(region, size, 8, Reuse::AtOnce) }.unwrap();
        let (first, second) = (allocate(region, 24), allocate(region, 20));
        for block in [first, second] {
            free(other, block, Reuse::AtOnce).unwrap();
        }
        assert_ne!(allocate(region, 24), first, "another thread has freed it");
        assert_ne!(allocate(other, 100), first, "another class");
        assert_eq!([allocate(other, 17), allocate(other, 24)], [second, first]);
        assert_ne!(allocate(other, 24), first);
    }

    #[test]
    fn the_block_that_is_meant_is_the_nearest_one() {
        let region = region(1004);
        // SAFETY: the region is this test's.
        let allocate = |size| unsafe { allocate(region, size, 8, Reuse::Late) }.unwrap();
        let (first, second) = (allocate(24), allocate(40));
        assert_eq!(second - first, 64, "24 bytes, 8 of padding, a red zone, a header");
        let near = |address| near(address).map(|block| block.start);
        assert_eq!([near(first), near(first + 23), near(first + 40)], [Some(first); 3]);
        assert_eq!([near(second - 1), near(second + 39), near(second + 5000)], [Some(second); 3]);
        assert_eq!(near(first - 1), Some(first));
        free(region, first, Reuse::Late).unwrap();
        let mut live = Vec::new();
        // SAFETY: as above.
        unsafe { for_each_live(region, |block| live.push((block.start, block.size))) };
        assert_eq!(live, [(second, 40)]);
    }

    #[test]
    fn accesses_are_allowed_to_the_byte() {
        let region = region(1005);
        // SAFETY: the region is this test's.
        let allocate = |size| unsafe { allocate(region, size, 8, Reuse::Late) }.unwrap();
        for size in [0, 1, 15, 16, 17, 24, 32, 100] {
            let block = allocate(size);
            for from in block - 16..block + size + 16 {
                for to in from + 1..=block + size + 16 {
                    let inside = from >= block && to <= block + size;
                    assert_eq!(validity::may_access(from, to - from), inside, "{size}");
                }
            }
            free(region, block, Reuse::Late).unwrap();
            assert!((block..block + size).all(|byte| !validity::may_access(byte, 1)));
        }
        // SAFETY: as above.
        unsafe { reset(region) };
        assert!(!validity::may_access(first(region) + HEADER, 1), "all is forgotten");
    }

    #[test]
    fn bad_frees_are_distinguished() {
        let region = region(1001);
        // SAFETY: the region is this test's.
        let block = unsafe { allocate(region, 40, 8, Reuse::Late) }.unwrap();
        assert_eq!(free(region, block + 16, Reuse::Late), Err(BadFree::Foreign));
        assert_eq!(free(region, 0x1234, Reuse::Late), Err(BadFree::Foreign));
        assert!(free(region, block, Reuse::Late).is_ok());
        assert_eq!(free(region, block, Reuse::Late), Err(BadFree::Twice));
    }
}
