//! What a check prints: progress, reports and a summary for people on stderr, and what machines
//! read, on stdout or in files.

mod covered;
mod estimate;
mod github;
pub mod human;
mod json;
mod junit;
pub mod outputs;
mod progress;
mod run;
mod sarif;
