//! The locking discipline: which lock protects which field, as a few executions of each test show
//! it.

pub mod annotated;
pub mod exclusive;
pub mod facts;
pub mod pinned;
pub mod protection;
pub mod warning;
