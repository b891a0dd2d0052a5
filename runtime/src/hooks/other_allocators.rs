//! Allocators that programs bring as native libraries: their calls are answered by our heap.
//!
//! Such a library keeps its books in memory that no restore puts back and in thread-locals of the
//! one OS thread. What it gives its callers is memory, and any memory of the right size and
//! alignment will do.

use crate::hooks::blocks::{
    __lr_libc_aligned_alloc as aligned_alloc, __lr_libc_calloc as calloc, __lr_libc_free as free,
    __lr_libc_malloc as malloc, __lr_libc_malloc_usable_size as usable_size,
    __lr_libc_realloc as realloc,
};
use crate::machine::hook;

/// What `malloc` aligns to.
const ALIGNED: usize = 16;

/// mi_malloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_malloc(size: usize) -> *mut u8 {
    malloc(size)
}

/// mi_zalloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_zalloc(size: usize) -> *mut u8 {
    calloc(1, size)
}

/// mi_calloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_calloc(count: usize, size: usize) -> *mut u8 {
    calloc(count, size)
}

/// mi_malloc_aligned.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_malloc_aligned(size: usize, align: usize) -> *mut u8 {
    aligned_alloc(align, size)
}

/// mi_zalloc_aligned.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_zalloc_aligned(size: usize, align: usize) -> *mut u8 {
    if align <= ALIGNED {
        return calloc(1, size);
    }
    let block = aligned_alloc(align, size);
    if !block.is_null() {
        hook::with(|state| crate::machine::root::clear(state, block as usize, size));
    }
    block
}

/// mi_realloc.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_realloc(block: *mut u8, size: usize) -> *mut u8 {
    realloc(block, size)
}

/// mi_realloc_aligned.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_realloc_aligned(
    block: *mut u8,
    size: usize,
    align: usize,
) -> *mut u8 {
    if align <= ALIGNED {
        return realloc(block, size);
    }
    let new = aligned_alloc(align, size);
    if !new.is_null() && !block.is_null() {
        let kept = usable_size(block).min(size);
        super::plain::reads(&mut hook::enter(), block as usize, kept);
        // SAFETY: both blocks are live, different, and at least that long.
        unsafe { std::ptr::copy_nonoverlapping(block, new, kept) };
        free(block);
    }
    new
}

/// mi_free.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_free(block: *mut u8) {
    free(block);
}

/// mi_usable_size.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_mi_usable_size(block: *mut u8) -> usize {
    usable_size(block)
}
