//! What the plan claims, compared with what happens: in builds with `--check-static`.

pub mod bytes;
pub mod locked;
pub mod nested;
pub mod proved;
pub mod shared;
