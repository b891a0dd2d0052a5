//! A tiny bank with two bugs that ordinary tests do not find: `cargo test` passes, `cargo lockred check` does not.

pub mod account;
pub mod rate;
