//! Loops that wait for others, or may end early.

pub mod notice;
pub mod region;
pub mod rounds;
pub mod scaled;
pub mod spin;
pub mod spurious;
pub mod waiting;
