//! Who looks on while executions are made ([`crate::machine::event`]).

pub mod atomicity;
pub mod births;
pub mod exclusive;
pub mod gate;
pub mod holders;
pub mod home;
pub mod leaks;
pub mod lives;
pub mod misuse;
pub mod native;
pub mod nesting;
pub mod observed;
pub mod races;
pub mod reach;
pub mod targets;
