//! Allocation is an access: whoever uses a block has to come after the thread that allocated it.
//!
//! A thread that was given the address of a block by something that orders nothing may find there
//! what was in the memory before, whatever the allocating thread (or `calloc`) has written. So
//! allocation conflicts with every use of the block by other threads, its deallocation included, as
//! a write to the whole of it. For that a block is reported as one object, by the first word of its
//! header, which no program has: allocation [creates](lockred_search::footprint::Access::Create)
//! it, and what other threads do to the block uses it. That is one access for each allocation,
//! whatever its size, and none for what a thread does to its own blocks.
//!
//! Blocks that were allocated before the root, or while nobody could race, are before everything:
//! their headers say so. A use that races with what the allocating thread did to the same bytes
//! after that is reported as that race alone.

use crate::detect::{AccessInfo, AccessKind, By, Race};
use crate::machine::state::State;
use crate::memory::arena::{self, REGION_BYTES, Region};
use crate::memory::heap::{self, Block, Reuse};
use crate::memory::validity;

/// Where allocations are, as reported to the search: they have no place in the program.
pub const SITE: u64 = 1 << 32;

/// The word that stands for a block.
const fn word(block: usize) -> usize {
    block - validity::GRANULE
}

/// The running thread has got a block.
pub fn begins(state: &mut State, by: By, block: usize) {
    heap::set_maker(block, by.thread);
    state.monitors.births.reborn |= is_from_before_root(state, block);
    crate::monitor::transactions::creates(state, word(block));
    if let Some(detector) = &mut state.monitors.detector {
        // What happened to the block that was there before is what races with its deallocation.
        detector.allocated(word(block), validity::GRANULE);
        detector.born(by, word(block));
    }
}

/// Whether an address is below what main's heap had used at the root.
fn is_from_before_root(state: &State, address: usize) -> bool {
    state.root.as_ref().is_some_and(|root| (Region::MAIN.base()..root.heap_end).contains(&address))
}

/// The running thread has accessed memory, or frees it; `raced`: the thread that it races with,
/// as the race detector reported. Answers a race with the allocation of the block.
#[inline]
pub fn used(state: &mut State, access: AccessInfo, raced: Option<u32>) -> Option<Race> {
    let address = access.addr;
    if !arena::range().contains(&address) || !validity::is_heap(address) {
        return None;
    }
    let own = state.execution.threads[access.thread as usize].region.base();
    // With reuse, a thread gets blocks of others' regions that it has freed.
    if state.config.reuse == Reuse::Late && address / REGION_BYTES == own / REGION_BYTES {
        return None;
    }
    if !state.monitors.births.reborn && is_from_before_root(state, address) {
        return None;
    }
    used_of_others(state, access, raced)
}

/// The same, of memory that another thread may have allocated below the root.
#[inline(never)]
fn used_of_others(state: &mut State, access: AccessInfo, raced: Option<u32>) -> Option<Race> {
    let hint = state.monitors.births.hint(access.addr);
    let block = heap::block_of(access.addr, *hint)?;
    *hint = block.start;
    if !heap::is_of_another(block.start, access.thread) {
        return None;
    }
    let frees = access.kind == AccessKind::Free;
    crate::monitor::transactions::uses_block(state, word(block.start), access.site, frees);
    let detector = state.monitors.detector.as_mut()?;
    let by = By { thread: access.thread, site: access.site, stack: access.stack };
    let race = detector.uses(by, word(block.start))?;
    let Block { start, size, .. } = block;
    let earlier = AccessInfo { addr: start, size, ..race.earlier };
    (raced != Some(earlier.thread)).then_some(Race { earlier, later: access })
}

/// What the running thread does to memory.
pub fn access(kind: AccessKind, by: By, (addr, size): (usize, usize)) -> AccessInfo {
    AccessInfo { thread: by.thread, site: by.site, kind, addr, size, stack: by.stack }
}
