//! The memory of the program: where it is, who has which block, and what a restore has to put back.

pub mod arena;
pub mod births;
pub mod chunks;
pub mod heap;
pub mod image;
pub mod pages;
pub mod program;
pub mod thread_locals;
pub mod validity;
pub mod words;
