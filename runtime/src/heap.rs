//! The program's allocator: one heap a region, all of its state inside the arena so that a snapshot covers it.
//!
//! A block is a 16-byte header and its payload. Sizes are rounded to classes (four steps a power of two). A thread reuses only
//! blocks that it allocated and freed itself, first in first out and only behind a quarantine: so which address an allocation gets
//! depends on the thread's own history alone, and freed addresses stay dead for a while. Blocks freed by other threads are not reused
//! within the execution. All operations are O(1).

use crate::arena::{MAX_STACK_BYTES, REGION_BYTES, Region};

/// Bytes that are kept dead in a class before its oldest block is handed out again.
const QUARANTINE_BYTES: usize = 1 << 20;
const HEADER: usize = 16;
const CLASSES: usize = 128;
const ALIVE: u32 = 0x4c52_a11e;
const FREED: u32 = 0x4c52_f4ee;

/// Head of a region: its allocator.
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
    /// Bytes of the payload, as rounded to the class.
    size: usize,
    state: u32,
    /// Whether the block may be handed out again (over-aligned ones are not).
    reusable: u32,
}

/// Why a block cannot be freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadFree {
    /// It was freed before.
    Twice,
    /// It is no block of this allocator.
    Foreign,
}

/// Makes the heap of a region empty.
///
/// # Safety
/// The region must be mapped, and nothing in it be in use.
pub unsafe fn reset(region: Region) {
    let heap = region.base() as *mut Heap;
    // SAFETY: the region is mapped and large enough, and nobody uses it.
    unsafe {
        (*heap).next = (region.base() + size_of::<Heap>()).next_multiple_of(HEADER);
        (*heap).classes = [Class { oldest: 0, newest: 0, count: 0 }; CLASSES];
    }
}

/// The part of a region that the heap has used so far.
///
/// # Safety
/// The region's heap must have been reset once.
pub unsafe fn used(region: Region) -> std::ops::Range<usize> {
    // SAFETY: the caller promises that the heap exists.
    region.base()..unsafe { (*(region.base() as *const Heap)).next }
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
pub unsafe fn allocate(region: Region, size: usize, align: usize) -> Option<usize> {
    if size > REGION_BYTES / 2 || align > REGION_BYTES / 4 {
        return None;
    }
    let heap = region.base() as *mut Heap;
    let (class, rounded) = class_of(size);
    let reusable = align <= HEADER;
    // SAFETY: the heap and every linked block lie in the mapped region and were written by this module.
    unsafe {
        let dead = &raw mut (*heap).classes[class];
        if reusable && (*dead).count > 0 && (*dead).count * rounded > QUARANTINE_BYTES {
            let block = (*dead).oldest;
            (*dead).oldest = *(block as *const usize);
            (*dead).count -= 1;
            if (*dead).count == 0 {
                (*dead).newest = 0;
            }
            (*header(block)).state = ALIVE;
            return Some(block);
        }
        let block = ((*heap).next + HEADER).next_multiple_of(align.max(HEADER));
        let end = block.checked_add(rounded)?;
        if end > region.end() - 2 * MAX_STACK_BYTES {
            return None;
        }
        (*heap).next = end;
        header(block).write(Header { size: rounded, state: ALIVE, reusable: u32::from(reusable) });
        Some(block)
    }
}

/// Bytes that may be used at `block`, if it is a live block.
pub fn size(block: usize) -> Result<usize, BadFree> {
    let header = live(block)?;
    // SAFETY: `live` has checked that a header of ours lies there.
    Ok(unsafe { (*header).size })
}

/// Frees a block on behalf of the thread in `region`; returns its size.
pub fn free(region: Region, block: usize) -> Result<usize, BadFree> {
    let header = live(block)?;
    // SAFETY: `live` has checked the header; the payload of a block that is being freed is nobody's.
    unsafe {
        (*header).state = FREED;
        let size = (*header).size;
        if (*header).reusable != 0 && Region::of_address(block) == Some(region) {
            let heap = region.base() as *mut Heap;
            let dead = &raw mut (*heap).classes[class_of(size).0];
            *(block as *mut usize) = 0;
            if (*dead).count == 0 {
                (*dead).oldest = block;
            } else {
                *((*dead).newest as *mut usize) = block;
            }
            (*dead).newest = block;
            (*dead).count += 1;
        }
        Ok(size)
    }
}

fn header(block: usize) -> *mut Header {
    (block - HEADER) as *mut Header
}

/// The header of a live block.
fn live(block: usize) -> Result<*mut Header, BadFree> {
    let region = Region::of_address(block).ok_or(BadFree::Foreign)?;
    // SAFETY: `used` reads the head of a region; only threads' regions have addresses that programs know.
    let used = unsafe { used(region) };
    if !block.is_multiple_of(HEADER)
        || block < used.start + size_of::<Heap>() + HEADER
        || block >= used.end
    {
        return Err(BadFree::Foreign);
    }
    let header = header(block);
    // SAFETY: the header lies inside the used part of a mapped region.
    match unsafe { (*header).state } {
        ALIVE => Ok(header),
        FREED => Err(BadFree::Twice),
        _ => Err(BadFree::Foreign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Mapped;

    /// A region that no other test uses, mapped and empty.
    fn region(number: u32) -> Region {
        let region = Region(number);
        Mapped::default().ensure(region, 0);
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
    fn blocks_are_aligned_disjoint_and_reused_only_behind_the_quarantine() {
        let region = region(1000);
        // SAFETY: the region is this test's.
        let allocate = |size, align| unsafe { allocate(region, size, align) }.unwrap();
        let first = allocate(100, 1);
        let second = allocate(100, 256);
        assert!(first.is_multiple_of(16) && second.is_multiple_of(256));
        assert!(second >= first + size(first).unwrap());
        let big = QUARANTINE_BYTES / 2;
        let blocks = [allocate(big, 8), allocate(big, 8), allocate(big, 8)];
        for block in blocks {
            free(region, block).unwrap();
        }
        assert_eq!(allocate(big, 8), blocks[0], "the oldest dead block comes back first");
        assert!(!blocks.contains(&allocate(big, 8)), "the rest is in quarantine");
    }

    #[test]
    fn bad_frees_are_told_apart() {
        let region = region(1001);
        // SAFETY: the region is this test's.
        let block = unsafe { allocate(region, 40, 8) }.unwrap();
        assert_eq!(free(region, block + 16), Err(BadFree::Foreign));
        assert_eq!(free(region, 0x1234), Err(BadFree::Foreign));
        assert!(free(region, block).is_ok());
        assert_eq!(free(region, block), Err(BadFree::Twice));
    }
}
