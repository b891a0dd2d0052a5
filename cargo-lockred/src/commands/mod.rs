//! The subcommands that have no room of their own: each asks other rooms, and prints what they say.

mod accesses;
pub mod audit;
pub mod discipline;
pub mod explain;
pub mod setup;
