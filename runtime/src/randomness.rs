//! Randomness from the system: one seeded stream a thread, the same in every execution.

use crate::state::state;
use lockred_trace::codes::AssumptionKind;

/// splitmix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills a buffer of the program from the running thread's stream.
fn fill(buffer: usize, length: usize) {
    let state = state();
    let seed = state.order.as_ref().map_or(0, |order| order.random_seed);
    let thread = state.thread();
    let stream = mix(seed ^ mix(u64::from(thread.region.0)));
    for offset in (0..length).step_by(8) {
        let word = mix(stream ^ mix(thread.random_words)).to_le_bytes();
        thread.random_words += 1;
        let bytes = word.len().min(length - offset);
        // SAFETY: the program passes a buffer of `length` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(word.as_ptr(), (buffer + offset) as *mut u8, bytes)
        };
    }
    crate::host::write(buffer, length);
}

/// getrandom. Hash maps of std are seeded by it before anything is random about the test; only draws below the root count.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    fill(buffer as usize, length);
    crate::host::assume(AssumptionKind::RandomnessFixed, "");
    length as isize
}

/// getentropy.
#[unsafe(no_mangle)]
pub extern "C" fn __lr_libc_getentropy(buffer: *mut u8, length: usize) -> i32 {
    fill(buffer as usize, length);
    crate::host::assume(AssumptionKind::RandomnessFixed, "");
    0
}
