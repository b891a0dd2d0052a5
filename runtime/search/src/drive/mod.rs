//! Driving a machine through one execution, or one part of a path, after the other, for a caller
//! that observes it.

pub mod findings;
pub mod frontier;
pub(crate) mod node;
pub mod observer;
pub mod replay;
mod stepping;
pub mod transactional;

pub use stepping::{After, Drive, Run};
