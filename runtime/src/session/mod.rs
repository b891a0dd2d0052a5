//! What the process shares with the one that has started it.

pub mod cpu;
pub mod files;
