//! Where the program's code and its writable globals are.

use std::ops::Range;

#[cfg(not(test))]
unsafe extern "C" {
    static __start_lockred_data: u8;
    static __stop_lockred_data: u8;
    static __start_lockred_text: u8;
    static __stop_lockred_text: u8;
}

/// The program's writable globals.
#[cfg(not(test))]
pub fn globals() -> Range<usize> {
    (&raw const __start_lockred_data) as usize..(&raw const __stop_lockred_data) as usize
}

/// Unit tests have no program.
#[cfg(test)]
pub fn globals() -> Range<usize> {
    16..16
}

/// The program's code.
#[cfg(not(test))]
pub fn text() -> Range<usize> {
    (&raw const __start_lockred_text) as usize..(&raw const __stop_lockred_text) as usize
}

/// The programs of unit tests are where the runtime is.
#[cfg(test)]
pub const fn text() -> Range<usize> {
    0..usize::MAX
}
