//! Loops that wait for others, as far as one thread shows them.

pub mod read_only_spin;
pub mod spurious;
pub mod writing_spin;
