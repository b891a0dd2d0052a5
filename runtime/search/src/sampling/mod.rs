//! Searches that draw executions at random.

pub mod priorities;
pub mod random;
pub mod targeted;
