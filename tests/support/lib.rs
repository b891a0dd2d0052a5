//! What the end-to-end tests share: the corpus and its directives, running cargo-lockred, fixture crates.

pub mod compare;
pub mod directive;
pub mod fixture;
pub mod mount;
pub mod outcome;
pub mod program;
pub mod tool;
