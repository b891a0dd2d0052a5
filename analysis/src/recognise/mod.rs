//! Recognising synchronisation: which operation of which primitive an atomic instruction is, from its inlining chain.
//!
//! The rules are data (`models/*.toml`); [`models`] reads them, [`rule`] applies them, [`path`] makes names comparable.

mod models;
mod path;
mod rule;

pub use models::{Model, Models};
pub use path::{demangle, path_of};
pub use rule::{Await, Kind, Recognised, Rule};
