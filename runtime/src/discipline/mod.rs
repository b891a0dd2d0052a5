//! The discipline that the program's threads keep, and what they promise of it, whoever executes
//! them.

pub mod atomicity;
pub mod exclusive;
pub mod observed;
