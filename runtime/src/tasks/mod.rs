//! What the process is ordered to do, and `main`.

pub mod checkpoint;
#[cfg(not(test))]
pub mod entry;
pub mod harness;
pub mod minimal;
pub mod response;
