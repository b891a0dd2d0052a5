//! Models of libc functions that need no scheduling: the real function is called, and the machine
//! reports what it reads and writes of the program's memory and of the world.

mod changes;
pub mod descriptors;
mod directories;
mod environment;
pub mod file_times;
pub mod files;
pub mod identity;
pub mod paths;
pub mod processors;
mod signal_sets;
pub mod signals;
mod strings;
pub mod system_files;
pub mod usage;

pub use signals::nobody_reads;

/// Does what a system call does that asks for the process, or is about signals, if it is one that
/// is modelled.
pub fn system_call(number: i64, a: usize, b: usize, c: usize) -> Option<i64> {
    identity::system_call(number)
        .or_else(|| processors::system_call(number, a, b, c))
        .or_else(|| signals::system_call(number, a, b, c))
}
