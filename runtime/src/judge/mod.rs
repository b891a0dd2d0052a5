//! What a finished execution amounts to.

pub mod execution;
pub mod left_out;
pub mod stuck;
