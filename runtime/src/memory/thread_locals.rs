//! Thread-local variables of the program: a block a thread, made from the image that the shim
//! emits.

use crate::memory::arena::Region;
use crate::memory::heap::{self, Reuse};
use std::ptr;

/// Block of the running thread; the program adds constant offsets to it.
#[unsafe(no_mangle)]
pub static mut __lr_tls_base: *mut u8 = ptr::null_mut();

#[cfg(not(test))]
unsafe extern "C" {
    static __lr_tls_image: u8;
    static __lr_tls_size: u64;
    static __lr_tls_align: u64;
}

/// Address, size and alignment of the image.
#[cfg(not(test))]
fn image() -> (*const u8, usize, usize) {
    // SAFETY: the shim defines all three as constants.
    unsafe { (&raw const __lr_tls_image, __lr_tls_size as usize, __lr_tls_align as usize) }
}

/// Unit tests have no program, so no thread-local variables.
#[cfg(test)]
fn image() -> (*const u8, usize, usize) {
    (ptr::null(), 0, 1)
}

/// Makes a block for a thread in its own heap.
pub fn create(region: Region) -> *mut u8 {
    let (image, size, align) = image();
    // SAFETY: the caller has just made the region's heap; nobody else uses it yet.
    let block = unsafe { heap::allocate(region, size.max(1), align.max(1), Reuse::Late) };
    let block = block
        .unwrap_or_else(|| crate::session::files::fatal("no room for thread-local variables"))
        as *mut u8;
    if size > 0 {
        // SAFETY: the image has `size` bytes, and the block at least as many.
        unsafe { ptr::copy_nonoverlapping(image, block, size) };
    }
    block
}

/// Makes a thread's `errno`, in its own heap.
pub fn create_errno(region: Region) -> *mut i32 {
    // SAFETY: as in `create`.
    let word = unsafe { heap::allocate(region, size_of::<i32>(), 16, Reuse::Late) };
    let word =
        word.unwrap_or_else(|| crate::session::files::fatal("no room for errno")) as *mut i32;
    // SAFETY: a fresh block of at least four bytes.
    unsafe { *word = 0 };
    word
}

/// Makes a block the running thread's.
pub fn switch_to(block: *mut u8) {
    // SAFETY: one OS thread; the program reads the variable only while a coroutine runs.
    unsafe { __lr_tls_base = block }
}
