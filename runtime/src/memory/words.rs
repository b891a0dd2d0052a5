//! Words of the program's memory.

/// Reads a word of the program's memory.
pub fn load(address: usize, size: u32) -> u64 {
    // SAFETY: the program is about to access this very word; if it is not mapped, that access's
    // signal is the program's own (signals are attributed by the thread that is set as running).
    unsafe {
        match size {
            1 => u64::from((address as *const u8).read_volatile()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

/// Writes a word of the program's memory.
pub fn store(address: usize, size: u32, value: u64) {
    // SAFETY: the program executes a store to this very word.
    unsafe {
        match size {
            1 => (address as *mut u8).write_volatile(value as u8),
            2 => (address as *mut u16).write_unaligned(value as u16),
            4 => (address as *mut u32).write_unaligned(value as u32),
            _ => (address as *mut u64).write_unaligned(value),
        }
    }
}
