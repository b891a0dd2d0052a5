//! Loops that wait for others, or may end early.

pub mod notice;
pub mod read_only_spin;
pub mod region;
pub mod scaled;
pub mod spurious;
pub mod waiting;
pub mod writing_spin;
