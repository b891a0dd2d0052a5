//! Recognising synchronisation: which operation of which primitive an atomic instruction is, from
//! its inlining chain.
//!
//! The rules are data (`models/*.toml`, and files of the user's packages); [`file`] reads them,
//! [`choice`] says which a build uses, [`rule`] applies them, [`path`] makes names comparable,
//! [`types`] reads those of types, [`version`] and [`checked`] say for which versions they hold,
//! and [`parts`] which of them hold together ([`source`]: by which text a version is known).

mod checked;
mod choice;
mod file;
mod models;
mod outline;
mod parts;
mod path;
mod rule;
mod source;
mod types;
mod version;

pub use choice::{Choice, Package};
pub use file::Role;
pub use models::Models;
pub use path::{demangle, is_of_std, path_of};
pub use rule::{Await, Kind, Recognised, Rule};
pub use types::first_type;
