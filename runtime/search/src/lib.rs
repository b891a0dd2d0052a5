//! Search strategies over the interleavings of a concurrent program, and the [`machine::Machine`] trait they run on.
//!
//! This crate knows neither native code nor unsafe code: the same search runs on the native machine (lockred-runtime) and
//! on the model machine ([`model`]), where it is tested against brute force.
#![forbid(unsafe_code)]

pub mod footprint;
pub mod machine;
