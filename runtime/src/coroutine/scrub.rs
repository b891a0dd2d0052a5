//! Leftovers of the runtime on the program's stacks: cleared in a search over states, which they
//! would tell apart.
//!
//! Hooks run on the stack of the thread that calls them. What they leave below it shows in frames
//! that the program pushes there later and does not fill at once: addresses of ours, counters,
//! hashes. So a hook clears what is below it before it returns, and whoever puts a stack back
//! clears what is below that.

use std::arch::asm;

/// Whether the search is one over states.
static mut SCRUBS: bool = false;

/// Bytes that a hook which does not stop may have used.
const HOOK: usize = 2 << 10;
/// Bytes that stopping may have used: the unwinder is what needs most.
const STOP: usize = 16 << 10;

/// From now on, stacks are scrubbed.
pub fn begin() {
    // SAFETY: one OS thread.
    unsafe { SCRUBS = true };
}

fn scrubs() -> bool {
    // SAFETY: one OS thread.
    unsafe { SCRUBS }
}

/// Clears `N` bytes below the caller's frame.
#[inline(always)]
fn clear<const N: usize>() {
    // SAFETY: memory below the stack pointer is nobody's (the compiler keeps nothing there across
    // an assembly block that may push), and stacks have more room below a hook than this.
    unsafe {
        asm!(
            "lea rdi, [rsp - {n}]",
            "rep stosq",
            n = const N,
            inout("rcx") N / 8 => _,
            in("rax") 0,
            out("rdi") _,
        );
    }
}

/// What a hook leaves below its frame: cleared when it returns.
pub struct Leftovers;

impl Drop for Leftovers {
    #[inline(always)]
    fn drop(&mut self) {
        if scrubs() {
            clear::<HOOK>();
        }
    }
}

/// The running thread goes on after a stop.
#[inline(always)]
pub fn after_stop() {
    if scrubs() {
        clear::<STOP>();
    }
}

/// Clears what is below a stack that is not in use.
///
/// # Safety
/// `bottom` is the lowest address in use of a mapped stack of the program that is not running, with
/// as many bytes below it as threads are given for leftovers.
pub unsafe fn below(bottom: usize) {
    if scrubs() {
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::write_bytes((bottom - STOP) as *mut u8, 0, STOP) };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_below_is_cleared() {
        #[inline(never)]
        fn leave(value: u64) -> usize {
            let mut words = [0_u64; 64];
            for word in &mut words {
                // SAFETY: a local.
                unsafe { std::ptr::from_mut(word).write_volatile(value) };
            }
            words.as_ptr() as usize
        }
        #[inline(never)]
        fn look() -> (u64, u64) {
            let left = leave(0x1234_5678) as *const u64;
            // SAFETY: memory below this frame, which is mapped, read as it is.
            unsafe {
                let before = left.add(32).read_volatile();
                super::clear::<{ super::HOOK }>();
                (before, left.add(32).read_volatile())
            }
        }
        assert_eq!(look(), (0x1234_5678, 0));
    }
}
