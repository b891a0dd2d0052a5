//! The order in which locks are acquired under each other, whoever executes the program.

pub mod met;
pub mod order;
