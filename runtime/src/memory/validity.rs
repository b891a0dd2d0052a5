//! Which bytes of the heap may be accessed: one byte of state for every sixteen, at the beginning
//! of their region.
//!
//! | state | of its sixteen bytes |
//! |---|---|
//! | 1 to 16 | so many, from the first, belong to a live block |
//! | 0 | none belongs to a block: padding, red zone, memory that was never given out |
//! | -1 to -16 | so many belonged to a block that was freed |
//! | [`HEADER`] | they are what precedes a block |
//!
//! What a region's heap holds is thereby known without a search, and is put back with the region's
//! memory. An access inside one granule, which nearly all are, is checked by one load and one
//! comparison.

use crate::memory::arena::{self, REGION_BYTES};

/// Bytes that one state stands for; blocks are aligned to it.
pub const GRANULE: usize = 16;
/// State of the sixteen bytes before a block.
const HEADER: i8 = i8::MIN;
/// Bytes of a region that may be its heap; its stack is after them.
pub const HEAP_BYTES: usize = REGION_BYTES - arena::MAX_STACK_BYTES - arena::GUARD_BYTES;
/// Bytes at the beginning of a region that hold the states.
pub const STATE_BYTES: usize = HEAP_BYTES / GRANULE;

/// Where the state of a granule is.
const fn state_of(address: usize) -> *mut i8 {
    let within = address % REGION_BYTES;
    (address - within + within / GRANULE) as *mut i8
}

/// The states of this part of a region's heap, as memory.
pub fn states(from: usize, to: usize) -> std::ops::Range<usize> {
    state_of(from) as usize..state_of(to.next_multiple_of(GRANULE)) as usize
}

/// Whether an address of the arena is in a heap rather than a stack.
#[inline]
pub const fn is_heap(address: usize) -> bool {
    address % REGION_BYTES < HEAP_BYTES
}

/// Whether all bytes of an access, which is to a heap, belong to live blocks.
#[inline]
pub fn may_access(address: usize, size: usize) -> bool {
    let offset = address % GRANULE;
    if offset + size <= GRANULE {
        // SAFETY: the region that the access goes to is mapped; if not, the signal is that of the
        // access, which would get it too.
        let state = unsafe { *state_of(address) };
        return offset as isize + size as isize <= state as isize;
    }
    may_access_long(address, size)
}

/// The same for an access to several granules. O(size / 16).
#[inline(never)]
fn may_access_long(address: usize, size: usize) -> bool {
    let last = address.saturating_add(size - 1);
    if last / REGION_BYTES != address / REGION_BYTES || !is_heap(last) {
        return false;
    }
    let (first, end) = (state_of(address), state_of(last));
    // SAFETY: as in `may_access`; both are in the states of one region.
    let whole = unsafe { std::slice::from_raw_parts(first, end.offset_from(first) as usize) };
    // SAFETY: as above.
    let rest = unsafe { *end };
    whole.iter().all(|&state| state == GRANULE as i8)
        && isize::from(rest) > (last % GRANULE) as isize
}

/// A block of `size` bytes is given out, in a place of `capacity` bytes (a multiple of sixteen).
/// O(capacity / 16).
///
/// # Safety
/// The place is the allocator's, in a mapped region.
pub unsafe fn give(block: usize, size: usize, capacity: usize) {
    // SAFETY: the states of a place are in its region, and only the allocator writes them.
    unsafe {
        *state_of(block - GRANULE) = HEADER;
        let states = std::slice::from_raw_parts_mut(state_of(block), capacity / GRANULE);
        let (whole, rest) = states.split_at_mut(size / GRANULE);
        whole.fill(GRANULE as i8);
        rest.fill(0);
        if let Some(first) = rest.first_mut() {
            *first = (size % GRANULE) as i8;
        }
    }
}

/// A block is taken back. O(size / 16).
///
/// # Safety
/// As for [`give`], which has been called for the block.
pub unsafe fn take(block: usize, size: usize) {
    // SAFETY: as in `give`.
    unsafe {
        let states = std::slice::from_raw_parts_mut(state_of(block), size.div_ceil(GRANULE));
        states.iter_mut().for_each(|state| *state = -*state);
    }
}

/// Nothing was ever given out in this part of a heap.
///
/// # Safety
/// The region is mapped, and no block is in use there.
pub unsafe fn forget(from: usize, to: usize) {
    if from >= to {
        return;
    }
    let states = states(from, to);
    // SAFETY: the states of a part of a heap are in its region.
    unsafe { std::ptr::write_bytes(states.start as *mut u8, 0, states.len()) };
}

/// Whether the sixteen bytes at an address are what precedes a block.
///
/// # Safety
/// The address is in the heap of a mapped region.
pub unsafe fn is_header(address: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { *state_of(address) == HEADER }
}

/// Where a header is at or below an address, in a heap that begins at `from`.
///
/// # Safety
/// The region is mapped.
pub unsafe fn header_before(address: usize, from: usize) -> Option<usize> {
    if address < from {
        return None;
    }
    let (begin, end) = (state_of(from), state_of(address));
    // SAFETY: by the caller's promise; both are in the states of one region. A large block has
    // many.
    let found = unsafe {
        let states = end.offset_from(begin) as usize + 1;
        libc::memrchr(begin.cast(), i32::from(HEADER as u8), states)
    };
    let granules = (found as usize).checked_sub(begin as usize)?;
    Some(from / GRANULE * GRANULE + granules * GRANULE)
}

/// Where the first header is above an address and below `to`.
///
/// # Safety
/// The region is mapped.
pub unsafe fn header_after(address: usize, to: usize) -> Option<usize> {
    let mut at = address / GRANULE * GRANULE + GRANULE;
    while at < to {
        // SAFETY: by the caller's promise.
        if unsafe { is_header(at) } {
            return Some(at);
        }
        at += GRANULE;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena::Region;

    #[test]
    fn there_is_room_for_the_states_of_a_whole_heap() {
        let region = Region(3);
        let states = states(region.base(), region.base() + HEAP_BYTES);
        assert_eq!(states, region.base()..region.base() + STATE_BYTES);
    }
}
