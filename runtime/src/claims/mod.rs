//! What the plan claims, compared with what happens: in builds with `--check-static`.

pub mod bytes;
pub mod nested;
pub mod proved;
pub mod shared;
