//! What is reported of executions: the record, and what is wrong with them.

pub mod debugger;
pub mod home;
pub mod objects;
pub mod record;
