//! Searches of every interleaving, within a bound or without one, and what they and the minimiser
//! have in common.

pub mod bounded;
pub(crate) mod branch;
mod causes;
pub(crate) mod cheapest;
mod depth_first;
pub mod naive;
