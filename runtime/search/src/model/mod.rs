//! The model machine: small concurrent programs as data, under sequential consistency, to test searches on.
//!
//! | module | what |
//! |---|---|
//! | [`program`] | programs as statements |
//! | [`text`] | their text form |
//! | `code` | the flat code that the machine runs |
//! | [`state`] | its states |
//! | [`machine`] | the machine |

mod code;
pub mod machine;
mod print;
pub mod program;
pub mod state;
pub mod text;

pub use machine::{Failure, ModelMachine};
pub use program::Program;
