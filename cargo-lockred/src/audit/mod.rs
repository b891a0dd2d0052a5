//! `cargo lockred audit`.

pub mod source;
