//! The runtime that is linked into every checked program.
