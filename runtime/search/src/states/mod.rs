//! The search over states.

pub mod selection;
pub mod stateful;
mod unordered;
