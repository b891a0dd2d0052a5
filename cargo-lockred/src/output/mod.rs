//! Everything that is printed: status lines and reports for people on stderr, and what machines
//! read, on stdout or in files.

pub mod console;
mod estimate;
mod github;
pub mod human;
mod json;
mod junit;
pub mod line;
pub mod outputs;
mod progress;
mod run;
pub mod sarif;
pub mod style;
pub mod utc;
pub mod words;
