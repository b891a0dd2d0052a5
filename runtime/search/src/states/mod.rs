//! The searches over states.

mod counted;
pub mod selection;
pub mod stateful;
pub mod unified;
mod unordered;
