//! A library with a C part, bundled into its rlib, that calls back into Rust.
unsafe extern "C" {
    fn c_twice(number: u32) -> u32;
}

#[unsafe(no_mangle)]
extern "C" fn rust_increment(number: u32) -> u32 {
    number + 1
}

/// `(number + 1) * 2`, by way of C and back.
pub fn twice_of_next(number: u32) -> u32 {
    // SAFETY: the C function only computes.
    unsafe { c_twice(number) }
}
