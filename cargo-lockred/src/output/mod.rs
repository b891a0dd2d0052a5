//! Everything that is printed: status lines and reports for people on stderr, JSON lines on stdout.

pub mod console;
pub mod human;
pub mod json;
pub mod progress;
pub mod style;
