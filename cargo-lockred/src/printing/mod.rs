//! How things are printed, whatever they say: the console, colours, words, lines of JSON, points in
//! time, and what all SARIF logs share.

pub mod console;
pub mod line;
pub mod sarif;
pub mod style;
pub mod utc;
pub mod words;
