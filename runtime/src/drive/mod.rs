//! The machine as searches drive it: how a step is made, and how it goes back.

pub mod fingerprint;
pub mod native;
pub mod nondeterminism;
pub mod restore;
pub mod snapshot;
pub mod transactional;
