//! What a replay records of an execution, and how reports call it.

pub mod debugger;
pub mod home;
pub mod objects;
pub mod record;
