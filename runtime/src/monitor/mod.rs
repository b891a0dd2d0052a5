//! Who looks on while executions are made ([`crate::machine::event`]).

pub mod allocations;
pub mod atomicity;
pub mod births;
pub mod exclusive;
pub mod holders;
pub mod home;
pub mod leaks;
pub mod lock_order;
pub mod memory_safety;
pub mod native;
pub mod observed;
pub mod pointer_graph;
pub mod races;
pub mod targets;
pub mod transactions;
