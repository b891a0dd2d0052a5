//! What is recorded of executions for reports, whoever records it.

pub mod allocations;
pub mod captures;
pub mod failure;
pub mod held;
pub mod native_calls;
pub mod recorder;
