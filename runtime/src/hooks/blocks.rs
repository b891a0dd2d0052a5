//! The program's heap functions, over [`crate::memory::heap`], and anonymous memory maps.

use crate::hooks::memory_safety::bad_free;
use crate::machine::event::Event;
use crate::machine::event::Freed;
use crate::machine::hook::{self, Entered};
use crate::machine::state::{State, set_errno};
use crate::memory::arena::Region;
use crate::memory::heap::{self, BadFree};
use crate::scheduler::event;
use std::ptr;

const PAGE: usize = 4096;

/// The running thread's region.
fn region(state: &State) -> Region {
    state.running_thread().region
}

/// Allocates for the running thread; null and `ENOMEM` when there is no room.
fn allocate(entered: &mut Entered, size: usize, align: usize) -> *mut u8 {
    // SAFETY: the running thread's own region, whose heap was made when the thread was.
    match unsafe { heap::allocate(region(entered), size, align, entered.config.reuse) } {
        Some(block) => {
            clear(entered, block);
            event::notify_inlined(entered, &Event::Allocated { block, size });
            block as *mut u8
        }
        None => {
            set_errno(libc::ENOMEM);
            ptr::null_mut()
        }
    }
}

/// Where states are compared, what was in a block before is nothing that tells them apart.
fn clear(state: &State, block: usize) {
    if state.config.compares
        && let Ok(size) = heap::size(block)
    {
        crate::machine::root::clear(state, block, size);
    }
}

/// Size of a live block, or the end of the execution.
fn size_of_live(state: &mut State, block: usize) -> usize {
    if !state.execution.maps(block) {
        bad_free(state, block, BadFree::Foreign);
    }
    heap::size(block).unwrap_or_else(|reason| bad_free(state, block, reason))
}

/// malloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_malloc(size: usize) -> *mut u8 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    allocate(entered, size, 16)
}

/// calloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_calloc(count: usize, size: usize) -> *mut u8 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    let Some(bytes) = count.checked_mul(size) else {
        set_errno(libc::ENOMEM);
        return ptr::null_mut();
    };
    let block = allocate(entered, bytes, 16);
    if !block.is_null() {
        crate::machine::root::clear(entered, block as usize, bytes);
    }
    block
}

/// realloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_realloc(block: *mut u8, size: usize) -> *mut u8 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if block.is_null() {
        return allocate(entered, size, 16);
    }
    let old = size_of_live(entered, block as usize);
    // Always another block: who goes on with the old one makes a mistake, also where an allocator
    // would have left it in its place.
    let new = allocate(entered, size, 16);
    if !new.is_null() {
        crate::hooks::plain::reads(entered, block as usize, old.min(size));
        // SAFETY: both blocks are live, different, and at least that long.
        unsafe { ptr::copy_nonoverlapping(block, new, old.min(size)) };
        free(entered, block as usize);
    }
    new
}

/// free.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_free(block: *mut u8) {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    if !block.is_null() {
        free(&mut hook::enter(), block as usize);
    }
}

/// The running thread frees a block.
fn free(entered: &mut Entered, block: usize) {
    let size = size_of_live(entered, block);
    let modelled = crate::machine::channels::freed(entered, block);
    event::notify_inlined(
        entered,
        &Event::Freed(Freed { address: block, size, block: true, modelled }),
    );
    clear(entered, block);
    if let Err(reason) = heap::free(region(entered), block, entered.config.reuse) {
        bad_free(entered, block, reason);
    }
}

/// posix_memalign.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_posix_memalign(out: *mut *mut u8, align: usize, size: usize) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if !align.is_power_of_two() || align < size_of::<usize>() {
        return libc::EINVAL;
    }
    let block = allocate(entered, size, align);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the program passes a place for the block.
    unsafe { *out = block };
    0
}

/// aligned_alloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_aligned_alloc(align: usize, size: usize) -> *mut u8 {
    let entered = &mut hook::enter();
    if !align.is_power_of_two() {
        set_errno(libc::EINVAL);
        return ptr::null_mut();
    }
    allocate(entered, size, align)
}

/// memalign.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_memalign(align: usize, size: usize) -> *mut u8 {
    __lr_libc_aligned_alloc(align, size)
}

/// malloc_usable_size.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_malloc_usable_size(block: *mut u8) -> usize {
    let entered = &mut hook::enter();
    if block.is_null() { 0 } else { size_of_live(entered, block as usize) }
}

/// mmap: private anonymous memory comes from the heap; files are mapped by [`crate::models`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mmap(
    address: *mut u8,
    length: usize,
    protection: i32,
    flags: i32,
    fd: i32,
    offset: i64,
) -> *mut u8 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if flags & libc::MAP_ANONYMOUS == 0 || flags & libc::MAP_FIXED != 0 {
        crate::machine::limits::assume(
            entered,
            lockred_protocol::codes::AssumptionKind::NativeCode,
            "maps a file or a fixed address (mmap)",
        );
        // SAFETY: the program's own call, passed on.
        return unsafe { libc::mmap(address.cast(), length, protection, flags, fd, offset).cast() };
    }
    let block = allocate(entered, length.next_multiple_of(PAGE), PAGE);
    if block.is_null() {
        return libc::MAP_FAILED.cast();
    }
    crate::machine::root::clear(entered, block as usize, length.next_multiple_of(PAGE));
    block
}

/// mmap64: the same on 64-bit machines.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mmap64(
    address: *mut u8,
    length: usize,
    protection: i32,
    flags: i32,
    fd: i32,
    offset: i64,
) -> *mut u8 {
    __lr_libc_mmap(address, length, protection, flags, fd, offset)
}

/// munmap: of the arena, whole blocks are freed and parts stay mapped; the rest is unmapped.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_munmap(address: *mut u8, length: usize) -> i32 {
    let _leftovers = crate::coroutine::scrub::Leftovers;
    let entered = &mut hook::enter();
    if !crate::memory::arena::range().contains(&(address as usize)) {
        // SAFETY: the program's own call on its own mapping, passed on.
        return unsafe { libc::munmap(address.cast(), length) };
    }
    if entered.execution.maps(address as usize)
        && heap::size(address as usize).is_ok_and(|size| size <= length.next_multiple_of(PAGE))
    {
        free(entered, address as usize);
    }
    0
}

/// mprotect: of the arena, ignored (guard pages of the program's own); the rest is passed on.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mprotect(address: *mut u8, length: usize, protection: i32) -> i32 {
    if crate::memory::arena::range().contains(&(address as usize)) {
        return 0;
    }
    // SAFETY: the program's own call on its own mapping, passed on.
    unsafe { libc::mprotect(address.cast(), length, protection) }
}

/// madvise: advice that drops contents is followed by clearing them in the arena; other advice does
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_madvise(address: *mut u8, length: usize, advice: i32) -> i32 {
    let entered = &mut hook::enter();
    if crate::memory::arena::range().contains(&(address as usize)) {
        if advice == libc::MADV_DONTNEED {
            crate::machine::root::clear(entered, address as usize, length);
        }
        return 0;
    }
    // SAFETY: the program's own call on its own mapping, passed on.
    unsafe { libc::madvise(address.cast(), length, advice) }
}
