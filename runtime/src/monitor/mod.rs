//! Who looks on while executions are made ([`crate::scheduler::event`]).

pub mod allocations;
pub mod atomicity;
pub mod births;
pub mod claimed_locks;
pub mod claims;
pub mod exclusive;
pub mod holders;
pub mod leaks;
pub mod lock_order;
pub mod loops;
pub mod native;
pub mod observed;
pub mod pointer_graph;
pub mod race_report;
pub mod races;
pub mod targets;
pub mod transactions;
