//! What the program calls: the hooks of [`lockred_protocol::hooks`], and functions of libc that are
//! scheduling points or belong to the machine.

pub mod assumed;
pub mod atomics;
pub mod blocks;
pub mod channels;
pub mod choices;
pub mod futex;
pub mod libtest;
pub mod memory_safety;
pub mod other_allocators;
pub mod panics;
pub mod plain;
pub mod process;
pub mod pthread;
pub mod randomness;
pub mod rounds;
pub mod time;
