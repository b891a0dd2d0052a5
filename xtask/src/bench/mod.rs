//! `cargo xtask bench`: the numbers that notes and documents quote, measured side by side in one
//! run; one file a bench.

pub mod check_times;
pub mod engine;
pub mod growth;
pub mod heaps;
pub mod hooks;
pub mod memory;
pub mod options;
pub mod papers;
pub mod peers;
pub mod search;
pub mod surroundings;
