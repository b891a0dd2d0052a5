//! Stacks of the program: switching between them, looking at them, and clearing what is dead on
//! them.

pub mod context;
pub mod frames;
pub mod scrub;
pub mod unwind;
