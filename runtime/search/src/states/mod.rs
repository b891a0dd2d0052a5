//! The searches over states.

pub mod selection;
pub mod stateful;
pub mod unified;
mod unordered;
