//! What the end-to-end tests share: the corpus and its directives, running cargo-lockred, fixture
//! crates, random programs.

pub mod compare;
pub mod directive;
pub mod emit;
pub mod fixture;
pub mod generate;
pub mod load;
pub mod mount;
pub mod outcome;
pub mod program;
pub mod safe;
pub mod shapes;
pub mod tool;
