//! What is reported of executions: the record, and what is wrong with them.

pub mod debugger;
pub mod home;
pub mod judge;
pub mod left_out;
pub mod objects;
pub mod race_report;
pub mod record;
pub mod stuck;
